#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Parses a request's head from the bytes received so far (RFC 9112 §2.2) with strict validation.
///
/// Performs no I/O: the caller passes all bytes since the start of the head, and calls again with more bytes as long as
/// the result is ``Outcome/incomplete``. The parser stores its progress, so it processes no byte twice, and copies
/// nothing.
///
/// This type splits the head into lines and enforces its size limits. ``RequestLine`` validates the first line,
/// ``FieldFacts`` each of the other lines, and then their combination.
struct RequestParser {
  enum Outcome: Hashable {
    case incomplete
    case complete(RequestHead)
    case refused(Refusal)
  }

  private let requestLineBytes: Int
  private let headBytes: Int
  private let fieldCount: Int
  private let requestIDBytes: Int

  private var head = RequestHead()
  private var fields = FieldFacts()
  private var fieldsSeen = 0
  private var hasRequestLine = false
  /// The authority, if the target is in absolute form.
  private var targetAuthority: RequestHead.Span?
  /// The start of the line to find, and the offset up to which its end was searched.
  private var lineStart = 0
  private var searched = 0

  init(limits: HTTPLimits) {
    requestLineBytes = limits.requestLineBytes
    headBytes = limits.headBytes
    fieldCount = limits.fieldCount
    requestIDBytes = limits.requestIDBytes
  }

  mutating func parse(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    do {
      while let line = try nextLine(in: bytes) {
        let text = UnsafeRawBufferPointer(rebasing: bytes[line])
        if !hasRequestLine {
          try readFirstLine(text, at: line.lowerBound)
        } else if text.isEmpty {
          return .complete(try finish())
        } else {
          try readField(text, at: line.lowerBound)
        }
      }
      try checkUnfinished(bytes)
      return .incomplete
    } catch {
      return .refused(error)
    }
  }

  /// Returns the range of the next line without its end, or `nil` if its end was not received yet. Only CR LF ends a
  /// line (§2.2). A single line feed is rejected here. A single carriage return is rejected when the line is validated,
  /// because no line can contain one.
  @inline(__always)
  private mutating func nextLine(in bytes: UnsafeRawBufferPointer) throws(Refusal) -> Range<Int>? {
    guard searched < bytes.count, let base = bytes.baseAddress,
      let found = memchr(base + searched, Int32(UInt8.lineFeed), bytes.count - searched)
    else {
      searched = bytes.count
      return nil
    }
    let lineFeed = UnsafeRawPointer(found) - base
    guard lineFeed > lineStart, bytes[lineFeed - 1] == .carriageReturn else {
      throw .malformed("A line ends without a carriage return.")
    }
    let line = lineStart..<lineFeed - 1
    lineStart = lineFeed + 1
    searched = lineStart
    return line
  }

  private mutating func readFirstLine(_ line: UnsafeRawBufferPointer, at start: Int) throws(Refusal) {
    // One empty line before a request is ignored (§2.2).
    if line.isEmpty, start == 0 { return }
    if line.count > requestLineBytes { throw .targetTooLong }
    if lineStart > headBytes { throw .headTooLarge }
    let requestLine = try RequestLine(line, at: start)
    head.method = requestLine.method
    head.path = requestLine.path
    head.query = requestLine.query
    head.minorVersion = requestLine.minorVersion
    head.fieldsStart = lineStart
    targetAuthority = requestLine.authority
    hasRequestLine = true
  }

  private mutating func readField(_ line: UnsafeRawBufferPointer, at start: Int) throws(Refusal) {
    fieldsSeen += 1
    if lineStart > headBytes || fieldsSeen > fieldCount { throw .headTooLarge }
    try fields.read(line, at: start)
  }

  /// Enforces the limits for a line that has not ended, and rejects a first byte that can't start a request.
  private func checkUnfinished(_ bytes: UnsafeRawBufferPointer) throws(Refusal) {
    if !hasRequestLine, bytes.count - lineStart >= requestLineBytes + 2 { throw .targetTooLong }
    if bytes.count >= headBytes { throw .headTooLarge }
    guard !hasRequestLine, bytes.count > lineStart else { return }
    let first = bytes[lineStart]
    // A carriage return can be the start of the empty line.
    guard CharacterClass.token.contains(first) || first == .carriageReturn else {
      throw .malformed("The request line does not start with a method.")
    }
  }

  /// Validates the combination of all lines and returns the head.
  private mutating func finish() throws(Refusal) -> RequestHead {
    if lineStart > headBytes { throw .headTooLarge }
    let isCurrent = head.minorVersion > 0
    // Host is required even if the target's authority takes precedence (§3.2, §3.2.2).
    if isCurrent, fields.host == nil { throw .malformed("The field Host is missing.") }
    head.length = lineStart
    head.framing = try fields.framing(isCurrent: isCurrent)
    head.authority = targetAuthority ?? fields.host ?? RequestHead.Span()
    if let id = fields.requestID, id.range.count <= requestIDBytes { head.requestID = id }
    head.keepsAlive = !fields.saysClose && (isCurrent || fields.saysKeepAlive)
    // An HTTP/1.0 client can't mean a feature that its version does not have (RFC 9110 §10.1.1).
    head.expectsContinue = fields.expectsContinue && isCurrent
    head.hasUnknownExpectation = fields.hasUnknownExpectation && isCurrent
    return head
  }
}
