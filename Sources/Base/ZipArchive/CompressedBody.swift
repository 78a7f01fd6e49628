import CZlib

/// A body that is compressed as HTTP's content codings `gzip` and `deflate` are.
package enum CompressedBody {
  /// What surrounds the deflated bytes.
  package enum Format: Sendable {
    case gzip, zlib, raw

    fileprivate var windowBits: Int32 {
      switch self {
      case .gzip: MAX_WBITS + 16
      case .zlib: MAX_WBITS
      case .raw: -MAX_WBITS
      }
    }
  }

  /// The result of inflating a body.
  package enum Contents: Hashable, Sendable {
    case bytes([UInt8])
    /// There are more bytes than the limit.
    case tooLarge
    /// It is not complete and valid.
    case invalid
  }

  /// Inflates all of `bytes`: one or several members of gzip, a zlib stream, or a raw one.
  /// - Parameters:
  ///   - isRaw: whether the stream has no header.
  ///   - limit: the maximum number of inflated bytes.
  package static func inflate(_ bytes: [UInt8], isRaw: Bool = false, limit: Int) -> Contents {
    var output: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 << 10)
    var position = 0
    do {
      repeat {
        let inflater = try Inflater(isRaw: isRaw)
        var isAtEnd = false
        while !isAtEnd {
          let (input, place) = (bytes, position)
          var step = (consumed: 0, produced: 0, isAtEnd: false)
          do {
            step = try input.withUnsafeBytes { source in
              try piece.withUnsafeMutableBytes { target in
                try inflater.inflate(UnsafeRawBufferPointer(rebasing: source[place...]), into: target)
              }
            }
          } catch {
            return .invalid
          }
          position += step.consumed
          output += piece[..<step.produced]
          isAtEnd = step.isAtEnd
          if output.count > limit { return .tooLarge }
          if !isAtEnd, step.consumed == 0, step.produced == 0 { return .invalid }
        }
      } while position < bytes.count && !isRaw && bytes[position] == 0x1F
    } catch {
      return .invalid
    }
    // Zeros can follow a file in gzip.
    return bytes[position...].allSatisfy { $0 == 0 } ? .bytes(output) : .invalid
  }

  /// Compresses `bytes`. The same bytes give the same result.
  package static func deflate(_ bytes: [UInt8], as format: Format) throws(ZipError) -> [UInt8] {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    defer { stream.deallocate() }
    let size = Int32(MemoryLayout<z_stream>.size)
    guard
      deflateInit2_(
        stream, 6, Z_DEFLATED, format.windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
    else { throw ZipError(.outOfMemory) }
    defer { deflateEnd(stream) }
    var output = [UInt8](repeating: 0, count: Int(deflateBound(stream, UInt(bytes.count))))
    let result = bytes.withUnsafeBufferPointer { source in
      output.withUnsafeMutableBufferPointer { target in
        stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
        stream.pointee.avail_in = UInt32(source.count)
        stream.pointee.next_out = target.baseAddress
        stream.pointee.avail_out = UInt32(target.count)
        return CZlib.deflate(stream, Z_FINISH)
      }
    }
    guard result == Z_STREAM_END else { throw ZipError(.outOfMemory) }
    return Array(output.prefix(Int(stream.pointee.total_out)))
  }
}
