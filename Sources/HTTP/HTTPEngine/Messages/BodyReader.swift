/// Takes a request's body out of the connection's bytes, within the body's limit; a value without I/O.
struct BodyReader {
  private enum Coding {
    /// How many bytes are still to come.
    case plain(Int64)
    case chunked(ChunkedDecoder)
  }

  private var coding: Coding
  private let limit: Int64
  /// Bytes of data that have come.
  private(set) var received: Int64 = 0

  init(_ framing: RequestHead.Framing, limits: HTTPLimits) {
    limit = limits.bodyBytes
    switch framing {
    case .length(let length): coding = .plain(length)
    case .chunked: coding = .chunked(ChunkedDecoder(overheadLimit: limits.chunkOverheadBytes))
    }
  }

  /// Whether the whole body has come.
  var isComplete: Bool {
    switch coding {
    case .plain(let remaining): remaining == 0
    case .chunked(let decoder): decoder.isComplete
    }
  }

  /// The lines behind the last chunk, each with its end.
  var trailerLines: [UInt8] {
    if case .chunked(let decoder) = coding { decoder.trailerLines } else { [] }
  }

  /// How many bytes are still to come; `nil` where only the coding will tell.
  var remaining: Int64? {
    if case .plain(let remaining) = coding { remaining } else { isComplete ? 0 : nil }
  }

  /// How much is known to be still to come.
  private var announced: Int64 {
    switch coding {
    case .plain(let remaining): remaining
    case .chunked(let decoder): decoder.remaining
    }
  }

  /// The most bytes to take from the connection at once, so that none of the next request's are among them where
  /// that can be known.
  func take(atMost room: Int) -> Int {
    if case .plain(let remaining) = coding { Int(min(Int64(room), remaining)) } else { room }
  }

  /// Moves data from `input` to `output`, which may be the same memory.
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
      do throws(ChunkedDecoder.Malformed) {
        result = try decoder.decode(input, into: output)
      } catch {
        throw .malformed
      }
      coding = .chunked(decoder)
    }
    received += Int64(result.produced)
    // A chunk that says that it goes past the limit is not waited for.
    if announced > limit - received { throw .tooLarge(limit: limit) }
    return result
  }
}
