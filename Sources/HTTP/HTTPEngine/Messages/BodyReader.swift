/// Decodes a request's body from the connection's bytes and enforces the body's limit. Performs no I/O.
struct BodyReader {
  private enum Coding {
    /// The number of remaining bytes.
    case plain(Int64)
    case chunked(ChunkedDecoder)
  }

  private var coding: Coding
  private let limit: Int64
  /// The number of decoded bytes so far.
  private(set) var received: Int64 = 0

  init(_ framing: RequestHead.Framing, limits: HTTPLimits) {
    limit = limits.bodyBytes
    switch framing {
    case .length(let length): coding = .plain(length)
    case .chunked: coding = .chunked(ChunkedDecoder(overheadLimit: limits.chunkOverheadBytes))
    }
  }

  /// Whether the whole body was read.
  var isComplete: Bool {
    switch coding {
    case .plain(let remaining): remaining == 0
    case .chunked(let decoder): decoder.isComplete
    }
  }

  /// The lines after the last chunk, each with its line end.
  var trailerLines: [UInt8] {
    if case .chunked(let decoder) = coding { decoder.trailerLines } else { [] }
  }

  /// The number of remaining bytes; `nil` if the body is chunked and not complete.
  var remaining: Int64? {
    if case .plain(let remaining) = coding { remaining } else { isComplete ? 0 : nil }
  }

  /// The number of remaining bytes known so far.
  private var announced: Int64 {
    switch coding {
    case .plain(let remaining): remaining
    case .chunked(let decoder): decoder.remaining
    }
  }

  /// Returns how many bytes to read from the connection at most, so that none of the next request's bytes are read. For
  /// a chunked body that is unknown.
  func take(atMost room: Int) -> Int {
    if case .plain(let remaining) = coding { Int(min(Int64(room), remaining)) } else { room }
  }

  /// Moves data from `input` to `output`, which can be the same memory.
  mutating func read(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(HTTPBodyError) -> (consumed: Int, produced: Int) {
    var result: (consumed: Int, produced: Int)
    switch coding {
    case .plain(let remaining):
      let count = Int(min(remaining, Int64(min(input.count, output.count))))
      if count > 0, let source = input.baseAddress, let target = output.baseAddress, target != source {
        target.copyMemory(from: source, byteCount: count)
      }
      coding = .plain(remaining - Int64(count))
      result = (count, count)
    case .chunked(var decoder):
      do {
        result = try decoder.decode(input, into: output)
      } catch {
        throw .malformed
      }
      coding = .chunked(decoder)
    }
    received += Int64(result.produced)
    // If a chunk's size exceeds the limit, the error is thrown before the chunk arrives.
    if announced > limit - received { throw .tooLarge(limit: limit) }
    return result
  }
}
