/// A queue of received bytes that were not consumed yet.
struct ByteQueue {
  private var bytes: [UInt8] = []
  private var start = 0

  var count: Int { bytes.count - start }
  var isEmpty: Bool { start == bytes.count }

  mutating func append(_ more: UnsafeRawBufferPointer) {
    // Consumed bytes are removed when they are the larger part, so that a queue that is never empty does not grow
    // without bound.
    if start > bytes.count / 2 {
      bytes.removeSubrange(..<start)
      start = 0
    }
    bytes.append(contentsOf: more)
  }

  /// The size of the allocated memory, in bytes.
  var capacity: Int { bytes.capacity }

  mutating func removeFirst(_ count: Int) {
    start += count
    // Releases the memory, so that idle connections hold none.
    if isEmpty { (bytes, start) = ([], 0) }
  }

  func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let start = start
    let outcome: Swift.Result<Result, Failure> = bytes.withUnsafeBytes { all in
      Swift.Result { () throws(Failure) -> Result in try body(UnsafeRawBufferPointer(rebasing: all[start...]))
      }
    }
    return try outcome.get()
  }
}
