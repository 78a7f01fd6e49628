import CZlib

/// Creates raw deflate streams (RFC 1951), one after the other.
final class Deflater {
  /// How thoroughly to search for repetitions.
  enum Effort: Hashable {
    /// A compression level of zlib, 1 to 9.
    case level(Int32)
    /// No search: only Huffman coding of single bytes. One compressed byte inflates to at most eight.
    case lettersOnly
  }

  private let effort: Effort
  // zlib's state contains a pointer back to the stream, so the stream must not move.
  private let stream: UnsafeMutablePointer<z_stream>
  private let input: UnsafeMutableRawBufferPointer
  private let output: UnsafeMutableRawBufferPointer

  init(_ effort: Effort) throws(ZipError) {
    self.effort = effort
    let (level, strategy) =
      switch effort {
      case .level(let level): (level, Z_DEFAULT_STRATEGY)
      case .lettersOnly: (1, Z_HUFFMAN_ONLY)
      }
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    input = .allocate(byteCount: 1 << 18, alignment: 16)
    output = .allocate(byteCount: 1 << 16, alignment: 16)
    let size = Int32(MemoryLayout<z_stream>.size)
    // The hash tables of memory level 8 fit into the L2 cache. Those of level 9 do not, which takes 20 % more time.
    let result = deflateInit2_(stream, level, Z_DEFLATED, -MAX_WBITS, 8, strategy, ZLIB_VERSION, size)
    guard result == Z_OK else { throw ZipError(.outOfMemory) }
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
    input.deallocate()
    output.deallocate()
  }

  /// Deflates `source` into `sink`, and stops if the result is not shorter than `source`.
  ///
  /// Reads all kinds of sources in pieces of the same length, so that the same bytes give the same result.
  /// - Returns: The CRC-32 of the source, or `nil` if the result is not shorter. `sink` then contains a part of the
  ///   result.
  func deflate(_ source: EntrySource, into sink: inout some EntrySink) throws(ZipError) -> UInt32? {
    guard deflateReset(stream) == Z_OK else { throw ZipError(.outOfMemory) }
    // zlib's level 6 is 8, 16, 128, 128. The higher limit for lazy matching compensates in size for the shorter hash
    // chains, and JSON takes 10 % less time.
    if effort == .level(6) { deflateTune(stream, 8, 20, 128, 100) }
    var crc: UInt32 = 0
    var consumed: Int64 = 0
    var produced: Int64 = 0
    repeat {
      let piece = try source.read(into: input, at: consumed)
      crc = checksum(of: piece, after: crc)
      consumed += Int64(piece.count)
      stream.pointee.next_in = UnsafeMutablePointer(
        mutating: piece.baseAddress?.assumingMemoryBound(to: UInt8.self))
      stream.pointee.avail_in = UInt32(piece.count)
      repeat {
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(output.count)
        guard CZlib.deflate(stream, consumed == source.size ? Z_FINISH : Z_NO_FLUSH) >= Z_OK else {
          throw ZipError(.outOfMemory)
        }
        let made = output.count - Int(stream.pointee.avail_out)
        produced += Int64(made)
        guard produced < source.size else { return nil }
        try sink.write(UnsafeRawBufferPointer(rebasing: output[..<made]))
      } while stream.pointee.avail_out == 0
    } while consumed < source.size
    return crc
  }

  /// Copies `source` into `sink`.
  /// - Returns: The CRC-32 of the source.
  func store(_ source: EntrySource, into sink: inout some EntrySink) throws(ZipError) -> UInt32 {
    var crc: UInt32 = 0
    var consumed: Int64 = 0
    while consumed < source.size {
      let piece = try source.read(into: input, at: consumed)
      crc = checksum(of: piece, after: crc)
      consumed += Int64(piece.count)
      try sink.write(piece)
    }
    return crc
  }
}
