import CZlib

/// The CRC-32 of `bytes`. Pass the CRC-32 of the preceding bytes as `previous` to continue it.
package func checksum(of bytes: UnsafeRawBufferPointer, after previous: UInt32 = 0) -> UInt32 {
  UInt32(
    truncatingIfNeeded: crc32_z(
      UInt(previous), bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count))
}

/// The CRC-32 of `bytes`.
package func checksum(of bytes: [UInt8]) -> UInt32 {
  bytes.withUnsafeBytes { checksum(of: $0) }
}
