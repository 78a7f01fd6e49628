import Glibc

/// What the head of an answer says.
struct AnswerHead {
  let status: Int
  /// The body's length.
  let contentLength: Int
  /// The head's own length, the empty line included.
  let length: Int

  /// Reads the head at the start of `bytes`; `nil` while it isn't complete.
  init?(_ bytes: UnsafeRawBufferPointer) throws {
    guard let base = bytes.baseAddress else { return nil }
    var contentLength: Int?
    var line = 0
    while true {
      guard let found = memchr(base + line, 0x0A, bytes.count - line) else { return nil }
      let next = UnsafeRawPointer(found) - base + 1
      if next - line == 2 {
        line = next
        break
      }
      if Self.begins(bytes[line..<next], "content-length:") {
        contentLength = Self.number(bytes[(line + 15)..<next])
      }
      line = next
    }
    length = line
    guard length >= 16, memcmp(base, "HTTP/1.1 ", 9) == 0 else { throw Failure("no HTTP/1.1 answer") }
    status = Self.number(bytes[9..<12])
    if contentLength == nil, status == 204 { contentLength = 0 }
    guard let contentLength else { throw Failure("status \(status) without a length") }
    self.contentLength = contentLength
  }

  private static func begins(_ line: Slice<UnsafeRawBufferPointer>, _ text: StaticString) -> Bool {
    guard line.count > text.utf8CodeUnitCount else { return false }
    for index in 0..<text.utf8CodeUnitCount
    where line[line.startIndex + index] | 0x20 != text.utf8Start[index] | 0x20 { return false }
    return true
  }

  private static func number(_ text: Slice<UnsafeRawBufferPointer>) -> Int {
    var number = 0
    for byte in text where byte >= 48 && byte <= 57 { number = number * 10 + Int(byte) - 48 }
    return number
  }
}
