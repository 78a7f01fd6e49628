#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Finds and judges a request's head in the bytes that have come so far (RFC 9112 §2.2, read strictly).
///
/// A value without I/O: give it all bytes since the head's beginning, again with more behind them while it answers
/// ``Outcome/incomplete``. It remembers what it has judged, so no byte is looked at twice. Nothing is copied.
///
/// Here the head is cut into lines and its size is bounded; ``RequestLine`` judges the first line, ``FieldFacts`` the
/// others, each by itself, and what they say together at the end.
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
  /// The authority of a target in absolute form.
  private var targetAuthority: RequestHead.Span?
  /// Where the line that is looked for begins, and how far it was searched for its end.
  private var lineStart = 0
  private var searched = 0

  init(limits: HTTPLimits) {
    requestLineBytes = limits.requestLineBytes
    headBytes = limits.headBytes
    fieldCount = limits.fieldCount
    requestIDBytes = limits.requestIDBytes
  }

  mutating func parse(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    do throws(Refusal) {
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

  /// Where the next line is, without its end; `nil` until it has come. Only CR LF ends a line (§2.2): a line feed
  /// alone is refused here, a carriage return alone by whoever judges the line, as no line may hold one.
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
    // One empty line before a request is passed over (§2.2).
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

  /// Bounds what is kept of a line that has not ended, and refuses what can't become a request at its first byte.
  private func checkUnfinished(_ bytes: UnsafeRawBufferPointer) throws(Refusal) {
    if !hasRequestLine, bytes.count - lineStart >= requestLineBytes + 2 { throw .targetTooLong }
    if bytes.count >= headBytes { throw .headTooLarge }
    guard !hasRequestLine, bytes.count > lineStart else { return }
    let first = bytes[lineStart]
    // A carriage return may be the beginning of the empty line.
    guard CharacterClass.token.contains(first) || first == .carriageReturn else {
      throw .malformed("The request line does not begin with a method.")
    }
  }

  /// What the lines say together.
  private mutating func finish() throws(Refusal) -> RequestHead {
    if lineStart > headBytes { throw .headTooLarge }
    let isCurrent = head.minorVersion > 0
    // Host has to be there even where the target's authority replaces it (§3.2, §3.2.2).
    if isCurrent, fields.host == nil { throw .malformed("The field Host is missing.") }
    head.length = lineStart
    head.framing = try fields.framing(isCurrent: isCurrent)
    head.authority = targetAuthority ?? fields.host ?? RequestHead.Span()
    if let id = fields.requestID, id.range.count <= requestIDBytes { head.requestID = id }
    head.keepsAlive = !fields.saysClose && (isCurrent || fields.saysKeepAlive)
    // An old client can't have meant what its version doesn't have (RFC 9110 §10.1.1).
    head.expectsContinue = fields.expectsContinue && isCurrent
    head.hasUnknownExpectation = fields.hasUnknownExpectation && isCurrent
    return head
  }
}
