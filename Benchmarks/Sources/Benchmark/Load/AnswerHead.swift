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
    guard let base = bytes.baseAddress, let end = memmem(base, bytes.count, "\r\n\r\n", 4) else { return nil }
    length = UnsafeRawPointer(end) - base + 4
    guard length >= 16, memcmp(base, "HTTP/1.1 ", 9) == 0 else { throw Failure("no HTTP/1.1 answer") }
    status = bytes[9..<12].reduce(0) { $0 * 10 + Int($1) - 48 }
    var contentLength: Int?
    var line = 0
    while line < length - 2 {
      guard let found = memchr(base + line, 0x0A, length - line) else { break }
      if bytes[line] | 0x20 == UInt8(ascii: "c"), strncasecmp(base + line, "Content-Length:", 15) == 0 {
        var value = line + 15
        while bytes[value] == 0x20 { value += 1 }
        var number = 0
        while bytes[value] >= 48, bytes[value] <= 57 {
          number = number * 10 + Int(bytes[value]) - 48
          value += 1
        }
        contentLength = number
      }
      line = UnsafeRawPointer(found) - base + 1
    }
    if contentLength == nil, status == 204 { contentLength = 0 }
    guard let contentLength else { throw Failure("status \(status) without a length") }
    self.contentLength = contentLength
  }
}

private func strncasecmp(_ bytes: UnsafeRawPointer, _ text: StaticString, _ count: Int) -> Int32 {
  Glibc.strncasecmp(
    bytes.assumingMemoryBound(to: CChar.self),
    UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self), count)
}
