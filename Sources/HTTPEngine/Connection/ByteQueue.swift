/// Bytes that came before anybody wanted them: appended behind, taken in front.
struct ByteQueue {
  private var bytes: [UInt8] = []
  private var start = 0

  var count: Int { bytes.count - start }
  var isEmpty: Bool { start == bytes.count }

  mutating func append(_ more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }

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
