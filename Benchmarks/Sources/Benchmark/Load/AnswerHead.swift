import Glibc

/// The head of a response.
struct AnswerHead {
  let status: Int
  /// The length of the body.
  let contentLength: Int
  /// The length of the head, including the empty line.
  let length: Int

  /// Parses the head at the start of `bytes`; `nil` if it is incomplete.
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
    guard length >= 16, memcmp(base, "HTTP/1.1 ", 9) == 0 else { throw Failure("not an HTTP/1.1 response") }
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
