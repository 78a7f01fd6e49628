/// What a parser learnt of a request's head: where its parts lie in the bytes, and how the body is framed.
struct RequestHead: Hashable {
  /// How the body's end is found (RFC 9112 §6.3).
  enum Framing: Hashable {
    case length(Int64)
    case chunked
  }

  /// Where a part lies; counted from the head's first byte.
  struct Span: Hashable {
    var start: Int32 = 0
    var end: Int32 = 0

    init() {}

    init(_ start: Int, _ end: Int) {
      self.start = Int32(truncatingIfNeeded: start)
      self.end = Int32(truncatingIfNeeded: end)
    }

    var range: Range<Int> { Int(start)..<Int(end) }
    var isEmpty: Bool { start == end }
  }

  /// Bytes up to and with the empty line.
  var length = 0
  var method = Span()
  /// The path; empty for an absolute form without one.
  var path = Span()
  /// What follows the first `?`.
  var query: Span?
  var authority = Span()
  /// The first field line.
  var fieldsStart = 0
  /// 0 or 1.
  var minorVersion = 1
  var keepsAlive = true
  var framing = Framing.length(0)
  var expectsContinue = false
  /// The value of `X-Request-Id`, where it stands once and names a request well.
  var requestID: Span?
  /// `Expect` holds something else than `100-continue` (RFC 9110 §10.1.1).
  var hasUnknownExpectation = false
}
