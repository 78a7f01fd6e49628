/// The parsed head of a request: the positions of its parts in the bytes, and how the body is framed.
struct RequestHead: Hashable {
  /// How the end of the body is determined (RFC 9112 §6.3).
  enum Framing: Hashable {
    case length(Int64)
    case chunked
  }

  /// The position of a part, relative to the head's first byte.
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

  /// The number of bytes, including the empty line.
  var length = 0
  var method = Span()
  /// The path. Empty for an absolute form without a path.
  var path = Span()
  /// The text after the first `?`.
  var query: Span?
  var authority = Span()
  /// The offset of the first field line.
  var fieldsStart = 0
  /// 0 or 1.
  var minorVersion = 1
  var keepsAlive = true
  var framing = Framing.length(0)
  var expectsContinue = false
  /// The value of `X-Request-Id`, if it occurs once and is a valid id.
  var requestID: Span?
  /// Whether `Expect` has another value than `100-continue` (RFC 9110 §10.1.1).
  var hasUnknownExpectation = false
}
