#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Numbers as ZIP writes them: least significant byte first (APPNOTE 4.4.1.1).
extension [UInt8] {
  /// The number in the two bytes at `index`, which must be there.
  func u16(_ index: Int) -> UInt16 { UInt16(self[index]) | UInt16(self[index + 1]) << 8 }

  /// The number in the four bytes at `index`, which must be there.
  func u32(_ index: Int) -> UInt32 { UInt32(u16(index)) | UInt32(u16(index + 2)) << 16 }

  /// The number in the eight bytes at `index`, which must be there.
  func u64(_ index: Int) -> UInt64 { UInt64(u32(index)) | UInt64(u32(index + 4)) << 32 }

  /// Appends `number`, least significant byte first.
  mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }

  /// Where `byte` first stands, at the index `start` or behind it.
  func index(of byte: UInt8, from start: Int) -> Int? {
    withUnsafeBytes { bytes in
      guard start < bytes.count, let base = bytes.baseAddress,
        let found = memchr(base + start, Int32(byte), bytes.count - start)
      else { return nil }
      return UnsafeRawPointer(found) - base
    }
  }
}
