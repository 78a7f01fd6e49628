/// A request's first line (RFC 9112 §3): a method, a target and a version, with one space between them.
struct RequestLine {
  var method = RequestHead.Span()
  var path = RequestHead.Span()
  var query: RequestHead.Span?
  /// The authority of an absolute form, which replaces `Host` (RFC 9112 §3.2.2).
  var authority: RequestHead.Span?
  var minorVersion = 1

  /// - Parameter offset: where the line begins, counted from the head's first byte.
  init(_ line: UnsafeRawBufferPointer, at offset: Int) throws(Refusal) {
    var methodEnd = 0
    while methodEnd < line.count, CharacterClass.token.contains(line[methodEnd]) { methodEnd += 1 }
    guard methodEnd > 0, methodEnd < line.count, line[methodEnd] == .space else {
      throw .malformed("The request line does not begin with a method and a space.")
    }
    method = .init(offset, offset + methodEnd)

    let targetStart = methodEnd + 1
    guard let versionStart = try Self.versionStart(line), versionStart - 1 > targetStart else {
      throw .malformed("The request line does not end with a space and a version.")
    }
    let major = line[versionStart + 5]
    let minor = line[versionStart + 7]
    guard major == UInt8(ascii: "1") else { throw .unsupportedVersion }
    minorVersion = minor == UInt8(ascii: "0") ? 0 : 1

    let methodBytes = UnsafeRawBufferPointer(rebasing: line[..<methodEnd])
    try readTarget(line, targetStart..<versionStart - 1, method: methodBytes, at: offset)
  }

  /// Where `HTTP/d.d` begins, if the line ends with a space and that.
  private static func versionStart(_ line: UnsafeRawBufferPointer) throws(Refusal) -> Int? {
    let start = line.count - 8
    guard start > 0, line[start - 1] == .space,
      line[start] == UInt8(ascii: "H"), line[start + 1] == UInt8(ascii: "T"),
      line[start + 2] == UInt8(ascii: "T"), line[start + 3] == UInt8(ascii: "P"),
      line[start + 4] == UInt8(ascii: "/"), CharacterClass.digit.contains(line[start + 5]),
      line[start + 6] == UInt8(ascii: "."), CharacterClass.digit.contains(line[start + 7])
    else { return nil }
    return start
  }

  private mutating func readTarget(
    _ line: UnsafeRawBufferPointer, _ range: Range<Int>, method: UnsafeRawBufferPointer, at offset: Int
  ) throws(Refusal) {
    if method.elementsEqual("CONNECT".utf8) { throw .noProxy }
    switch line[range.lowerBound] {
    case UInt8(ascii: "/"):
      try readPath(line, range, at: offset)
    case UInt8(ascii: "*"):
      guard range.count == 1, method.elementsEqual("OPTIONS".utf8) else {
        throw .malformed("Only OPTIONS may ask for an asterisk.")
      }
      path = .init(offset + range.lowerBound, offset + range.upperBound)
    default:
      try readAbsolute(line, range, at: offset)
    }
  }

  /// `http://authority/path?query` (RFC 9112 §3.2.2).
  private mutating func readAbsolute(
    _ line: UnsafeRawBufferPointer, _ range: Range<Int>, at offset: Int
  ) throws(Refusal) {
    let target = UnsafeRawBufferPointer(rebasing: line[range])
    func begins(with scheme: StaticString) -> Bool {
      let count = scheme.utf8CodeUnitCount
      return target.count > count
        && UnsafeRawBufferPointer(rebasing: target[..<count]).equalsIgnoringCase(scheme)
    }
    let schemeCount = begins(with: "http://") ? 7 : begins(with: "https://") ? 8 : 0
    guard schemeCount > 0 else { throw .malformed("The request target is neither a path nor an http URI.") }
    let start = range.lowerBound + schemeCount
    var end = start
    while end < range.upperBound, line[end] != UInt8(ascii: "/"), line[end] != UInt8(ascii: "?") { end += 1 }
    guard Authority.isValid(UnsafeRawBufferPointer(rebasing: line[start..<end])) else {
      throw .malformed("The authority of the request target is malformed.")
    }
    authority = .init(offset + start, offset + end)
    try readPath(line, end..<range.upperBound, at: offset)
  }

  private mutating func readPath(
    _ line: UnsafeRawBufferPointer, _ range: Range<Int>, at offset: Int
  ) throws(Refusal) {
    var index = range.lowerBound
    while index < range.upperBound, line[index] != UInt8(ascii: "?") {
      if CharacterClass.path.contains(line[index]) {
        index += 1
      } else if line[index] == UInt8(ascii: "%"), index + 2 < range.upperBound,
        CharacterClass.hexDigit.contains(line[index + 1]), CharacterClass.hexDigit.contains(line[index + 2])
      {
        index += 3
      } else {
        throw .malformed("The request target holds a character that a path may not.")
      }
    }
    path = .init(offset + range.lowerBound, offset + index)
    guard index < range.upperBound else { return }
    for position in index + 1..<range.upperBound where !CharacterClass.query.contains(line[position]) {
      throw .malformed("The request target holds a character that a query may not.")
    }
    query = .init(offset + index + 1, offset + range.upperBound)
  }
}
