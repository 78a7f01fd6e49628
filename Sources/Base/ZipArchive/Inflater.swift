import CZlib

/// Inflates a deflate stream: raw (RFC 1951), or with the header of zlib or gzip (RFC 1950, 1952).
final class Inflater {
  // zlib's state contains a pointer back to the stream, so the stream must not move.
  private let stream: UnsafeMutablePointer<z_stream>

  /// - Parameter isRaw: whether the stream has no header.
  init(isRaw: Bool = true) throws(ZipError) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let size = Int32(MemoryLayout<z_stream>.size)
    guard inflateInit2_(stream, isRaw ? -MAX_WBITS : MAX_WBITS + 32, ZLIB_VERSION, size) == Z_OK else {
      throw ZipError(.outOfMemory)
    }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  /// Inflates from `input` into `output` until either is exhausted or the stream ends.
  /// - Returns: The number of bytes read from `input` and written to `output`, and whether the stream has ended.
  func inflate(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(ZipError) -> (consumed: Int, produced: Int, isAtEnd: Bool) {
    let next = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.next_in = UnsafeMutablePointer(mutating: next)
    stream.pointee.avail_in = UInt32(input.count)
    stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = UInt32(output.count)
    let result = CZlib.inflate(stream, Z_NO_FLUSH)
    switch result {
    case Z_OK, Z_STREAM_END, Z_BUF_ERROR: break
    case Z_MEM_ERROR: throw ZipError(.outOfMemory)
    default: throw ZipError(.corruptData)
    }
    return (
      input.count - Int(stream.pointee.avail_in), output.count - Int(stream.pointee.avail_out),
      result == Z_STREAM_END
    )
  }
}
