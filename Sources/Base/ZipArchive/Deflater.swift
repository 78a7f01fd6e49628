import CZlib

/// Makes raw deflate streams (RFC 1951), one after the other.
final class Deflater {
  /// How hard to look for repetitions.
  enum Effort: Hashable {
    /// zlib's level, 1 to 9.
    case level(Int32)
    /// Not at all: letters are only coded by their frequency. Makes at most eight bytes of one.
    case lettersOnly
  }

  private let effort: Effort
  // zlib's state points back at the stream, which therefore must not move.
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
    // Hash tables of memory level 8 stay in the second-level cache; those of 9 don't, which costs a fifth.
    let result = deflateInit2_(stream, level, Z_DEFLATED, -MAX_WBITS, 8, strategy, ZLIB_VERSION, size)
    guard result == Z_OK else { throw ZipError(.outOfMemory) }
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
    input.deallocate()
    output.deallocate()
  }

  /// Deflates all of `source` into `sink`, as long as that is shorter than `source`.
  ///
  /// Pieces always have the same lengths, whatever the source, so that the same bytes are deflated alike.
  /// - Returns: the CRC-32 of the source, or `nil` where it doesn't shrink; `sink` has got a part of it then.
  func deflate(_ source: EntrySource, into sink: inout some EntrySink) throws(ZipError) -> UInt32? {
    guard deflateReset(stream) == Z_OK else { throw ZipError(.outOfMemory) }
    // Level 6 is 8, 16, 128, 128. A more patient lazy match makes up for a shorter chain in size, and on JSON takes
    // a tenth less time.
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

  /// Copies all of `source` into `sink`.
  /// - Returns: the CRC-32 of the source.
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
