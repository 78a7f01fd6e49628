#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Finds and judges a request's head in the bytes that have come so far (RFC 9112, read strictly).
///
/// A value without I/O: give it all bytes since the head's beginning, again with more behind them while it answers
/// ``Outcome/incomplete``. It remembers what it has judged, so no byte is looked at twice. Nothing is copied.
struct RequestParser {
  enum Outcome: Hashable {
    case incomplete
    case complete(RequestHead)
    case refused(Refusal)
  }

  private let requestLineBytes: Int
  private let headBytes: Int
  private let fieldCount: Int

  private var head = RequestHead()
  /// Where the line that is looked for begins, and how far it was searched for its end.
  private var lineStart = 0
  private var searched = 0
  private var hasRequestLine = false
  private var fields = FieldFacts()
  private var lines = 0

  init(limits: HTTPLimits) {
    requestLineBytes = limits.requestLineBytes
    headBytes = limits.headBytes
    fieldCount = limits.fieldCount
  }

  mutating func parse(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    do throws(Refusal) {
      return try advance(bytes)
    } catch {
      return .refused(error)
    }
  }

  private mutating func advance(_ bytes: UnsafeRawBufferPointer) throws(Refusal) -> Outcome {
    guard let base = bytes.baseAddress else { return .incomplete }
    while true {
      guard searched < bytes.count,
        let found = memchr(base + searched, Int32(UInt8.lineFeed), bytes.count - searched)
      else {
        searched = bytes.count
        try checkUnfinished(bytes)
        return .incomplete
      }
      let lineFeed = UnsafeRawPointer(found) - base
      guard lineFeed > lineStart, bytes[lineFeed - 1] == .carriageReturn else {
        throw .malformed("A line ends without a carriage return.")
      }
      let line = UnsafeRawBufferPointer(rebasing: bytes[lineStart..<lineFeed - 1])
      let start = lineStart
      lineStart = lineFeed + 1
      searched = lineStart
      if hasRequestLine {
        if lineStart > headBytes { throw .headTooLarge }
        if line.isEmpty { return .complete(try finish()) }
        lines += 1
        if lines > fieldCount { throw .headTooLarge }
        try fields.read(line, at: start)
      } else if line.isEmpty, start == 0 {
        // One empty line before a request is passed over (RFC 9112 §2.2).
        continue
      } else {
        if line.count > requestLineBytes { throw .targetTooLong }
        if lineStart > headBytes { throw .headTooLarge }
        let requestLine = try RequestLine(line, at: start)
        head.method = requestLine.method
        head.path = requestLine.path
        head.query = requestLine.query
        head.minorVersion = requestLine.minorVersion
        fields.authority = requestLine.authority
        head.fieldsStart = lineStart
        hasRequestLine = true
      }
    }
  }

  /// Bounds what is kept of a line that has not ended, and refuses what can't become a request at its first byte.
  private func checkUnfinished(_ bytes: UnsafeRawBufferPointer) throws(Refusal) {
    if hasRequestLine {
      if bytes.count >= headBytes { throw .headTooLarge }
    } else {
      if bytes.count - lineStart >= requestLineBytes + 2 { throw .targetTooLong }
      if bytes.count >= headBytes { throw .headTooLarge }
      if bytes.count > lineStart, !CharacterClass.token.contains(bytes[lineStart]),
        bytes[lineStart] != .carriageReturn
      {
        throw .malformed("The request line does not begin with a method.")
      }
    }
  }

  private mutating func finish() throws(Refusal) -> RequestHead {
    head.length = lineStart
    head.framing = try fields.framing(minorVersion: head.minorVersion)
    guard let authority = fields.authority ?? fields.host else {
      if head.minorVersion == 0 { return finished() }
      throw .malformed("The field Host is missing.")
    }
    if head.minorVersion > 0, fields.host == nil { throw .malformed("The field Host is missing.") }
    head.authority = authority
    return finished()
  }

  private mutating func finished() -> RequestHead {
    head.keepsAlive = head.minorVersion > 0 ? !fields.saysClose : fields.saysKeepAlive && !fields.saysClose
    head.expectsContinue = fields.expectsContinue && head.minorVersion > 0
    head.hasUnknownExpectation = fields.hasUnknownExpectation && head.minorVersion > 0
    return head
  }
}
