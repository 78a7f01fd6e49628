/// Bytes that came before anybody wanted them: appended behind, taken in front.
struct ByteQueue {
  private var bytes: [UInt8] = []
  private var start = 0

  var count: Int { bytes.count - start }
  var isEmpty: Bool { start == bytes.count }

  mutating func append(_ more: UnsafeRawBufferPointer) {
    // What was taken is dropped once it is the larger part: a queue that never gets empty doesn't grow for ever.
    if start > bytes.count / 2 {
      bytes.removeSubrange(..<start)
      start = 0
    }
    bytes.append(contentsOf: more)
  }

  /// The memory held, in bytes.
  var capacity: Int { bytes.capacity }

  mutating func removeFirst(_ count: Int) {
    start += count
    // The memory goes back: an idle connection holds none.
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
