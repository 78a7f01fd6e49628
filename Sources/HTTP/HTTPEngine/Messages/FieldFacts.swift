/// Validates field lines one by one (RFC 9112 §5), and stores the values that determine how the connection and the body
/// are handled.
///
/// Rejects everything that two parsers could interpret differently, even if a rule resolves the ambiguity: correct
/// senders never produce it, but request smuggling depends on it (RFC 9112 §11.2).
struct FieldFacts {
  private(set) var host: RequestHead.Span?
  private(set) var requestID: RequestHead.Span?
  private var requestIDs = 0
  private(set) var saysClose = false
  private(set) var saysKeepAlive = false
  private(set) var expectsContinue = false
  private(set) var hasUnknownExpectation = false
  private var contentLength: Int64?
  private var transferCodings: TransferCodings?

  /// The codings listed by all `Transfer-Encoding` lines, in order (RFC 9110 §5.3).
  private struct TransferCodings {
    var count = 0
    var endsWithChunked = false
  }

  /// Validates a line: `field-name ":" OWS field-value OWS`, without white space before the colon and not folded (§5.1,
  /// §5.2). The value has no control characters except tabs (RFC 9110 §5.5).
  ///
  /// - Parameter offset: the line's offset from the head's first byte.
  mutating func read(_ line: UnsafeRawBufferPointer, at offset: Int) throws(Refusal) {
    let nameEnd = line.end(of: .token)
    guard nameEnd > 0, nameEnd < line.count, line[nameEnd] == .colon else {
      throw Self.badName(line, at: nameEnd)
    }
    let name = UnsafeRawBufferPointer(rebasing: line[..<nameEnd])
    let value = UnsafeRawBufferPointer(rebasing: line[(nameEnd + 1)...])
    guard value.isFieldValue else { throw .malformed("A field's value contains a control character.") }
    switch nameEnd {
    case 4 where name.equalsIgnoringCase("host"):
      let trimmed = value.trimmed
      guard host == nil else { throw .malformed("The field Host occurs twice.") }
      guard Authority.isValid(trimmed) else {
        // Some clients send the zone of the address to which they connect (RFC 4007 §11).
        if trimmed.first == UInt8(ascii: "["), trimmed.contains(UInt8(ascii: "%")) {
          throw .malformed("The field Host must not have the zone of an IPv6 address.")
        }
        throw .malformed("The field Host is malformed.")
      }
      let start = offset + nameEnd + 1 + Self.distance(from: value, to: trimmed)
      host = .init(start, start + trimmed.count)
    case 6 where name.equalsIgnoringCase("expect"):
      readExpect(value)
    case 10 where name.equalsIgnoringCase("connection"):
      readConnection(value)
    case 12 where name.equalsIgnoringCase("x-request-id"):
      readRequestID(value.trimmed, in: line, at: offset)
    case 14 where name.equalsIgnoringCase("content-length"):
      try readContentLength(value.trimmed)
    case 17 where name.equalsIgnoringCase("transfer-encoding"):
      try readTransferEncoding(value.trimmed)
    default:
      break
    }
  }

  /// Returns how the body is framed (§6.3).
  ///
  /// - Parameter isCurrent: whether the request's version is HTTP/1.1.
  func framing(isCurrent: Bool) throws(Refusal) -> RequestHead.Framing {
    guard let transferCodings else { return .length(contentLength ?? 0) }
    if contentLength != nil {
      throw .malformed("Content-Length and Transfer-Encoding exclude each other.")
    }
    // A proxy in between may have ignored the field (§6.1).
    if !isCurrent { throw .malformed("HTTP/1.0 has no Transfer-Encoding.") }
    // The end of the body is known only if `chunked` is the last coding (§6.3).
    guard transferCodings.endsWithChunked else { throw Self.malformedTransferEncoding }
    // Other codings are known, but not supported (§6.1).
    if transferCodings.count > 1 {
      throw .notImplemented("The server supports only the transfer coding chunked.")
    }
    return .chunked
  }

  /// Parses `Content-Length = 1*DIGIT` (RFC 9110 §8.6), which must occur once. The RFC permits accepting a list of
  /// equal numbers; this parser rejects it.
  private mutating func readContentLength(_ value: UnsafeRawBufferPointer) throws(Refusal) {
    guard contentLength == nil else { throw .malformed("The field Content-Length occurs twice.") }
    guard !value.isEmpty else { throw .malformed("The field Content-Length is empty.") }
    var length: Int64 = 0
    for byte in value {
      guard CharacterClass.digit.contains(byte) else {
        throw .malformed("The field Content-Length contains other characters than digits.")
      }
      let (tens, overflow) = length.multipliedReportingOverflow(by: 10)
      let (sum, carry) = tens.addingReportingOverflow(Int64(byte - 0x30))
      if overflow || carry { throw .malformed("The field Content-Length is out of range.") }
      length = sum
    }
    contentLength = length
  }

  /// Reads the request's id. It must occur once, and consist of characters without special meaning in logs, JSON and
  /// URLs. Other values are ignored.
  private mutating func readRequestID(
    _ value: UnsafeRawBufferPointer, in line: UnsafeRawBufferPointer, at offset: Int
  ) {
    requestIDs += 1
    guard requestIDs == 1, !value.isEmpty, value.end(of: .requestID) == value.count else {
      requestID = nil
      return
    }
    let start = offset + Self.distance(from: line, to: value)
    requestID = .init(start, start + value.count)
  }

  /// Parses one line of the list. It consists of tokens; `chunked` can occur only once, as the last one (§6.1).
  private mutating func readTransferEncoding(_ value: UnsafeRawBufferPointer) throws(Refusal) {
    if transferCodings == nil, value.equalsIgnoringCase("chunked") {
      transferCodings = TransferCodings(count: 1, endsWithChunked: true)
      return
    }
    var codings = transferCodings ?? TransferCodings()
    for element in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      let coding = UnsafeRawBufferPointer(rebasing: element).trimmed
      guard !codings.endsWithChunked, Self.isToken(coding) else { throw Self.malformedTransferEncoding }
      codings.count += 1
      codings.endsWithChunked = coding.equalsIgnoringCase("chunked")
    }
    transferCodings = codings
  }

  private static var malformedTransferEncoding: Refusal {
    .malformed("The field Transfer-Encoding is malformed.")
  }

  private static func isToken(_ bytes: UnsafeRawBufferPointer) -> Bool {
    !bytes.isEmpty && bytes.end(of: .token) == bytes.count
  }

  /// Parses the connection options in any case (RFC 9110 §7.6.1). Only the options about closing the connection matter
  /// to a server.
  private mutating func readConnection(_ value: UnsafeRawBufferPointer) {
    Self.forEachElement(of: value) { option in
      if option.equalsIgnoringCase("close") { saysClose = true }
      if option.equalsIgnoringCase("keep-alive") { saysKeepAlive = true }
    }
  }

  /// Parses one line of the list of expectations (RFC 9110 §10.1.1), which several lines continue (§5.3).
  private mutating func readExpect(_ value: UnsafeRawBufferPointer) {
    if value.trimmed.isEmpty { hasUnknownExpectation = true }
    Self.forEachElement(of: value) { expectation in
      if expectation.equalsIgnoringCase("100-continue") {
        expectsContinue = true
      } else if !expectation.isEmpty {
        hasUnknownExpectation = true
      }
    }
  }

  /// Calls `body` with each element of a list, without white space around it; it can be empty (RFC 9110 §5.6.1).
  @inline(__always)
  private static func forEachElement(
    of list: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    var start = 0
    while start < list.count {
      var end = start
      while end < list.count, list[end] != UInt8(ascii: ",") { end += 1 }
      body(UnsafeRawBufferPointer(rebasing: list[start..<end]).trimmed)
      start = end + 1
    }
  }

  private static func badName(_ line: UnsafeRawBufferPointer, at index: Int) -> Refusal {
    if index == 0, line[0] == .space || line[0] == .tab {
      return .malformed("A line starts with white space: folded fields are obsolete.")
    }
    if index < line.count, line[index] == .space || line[index] == .tab {
      return .malformed("There is white space before a field's colon.")
    }
    return .malformed("A field's name is malformed.")
  }

  private static func distance(from outer: UnsafeRawBufferPointer, to inner: UnsafeRawBufferPointer) -> Int {
    guard let outer = outer.baseAddress, let inner = inner.baseAddress else { return 0 }
    return inner - outer
  }
}
