/// The first line of a request (RFC 9112 §3): a method, a target and a version, separated by single spaces.
struct RequestLine {
  var method = RequestHead.Span()
  var path = RequestHead.Span()
  var query: RequestHead.Span?
  /// The authority of an absolute form, which takes precedence over `Host` (RFC 9112 §3.2.2).
  var authority: RequestHead.Span?
  var minorVersion = 1

  /// - Parameter offset: the line's offset from the head's first byte.
  init(_ line: UnsafeRawBufferPointer, at offset: Int) throws(Refusal) {
    let methodEnd = line.end(of: .token)
    guard methodEnd > 0, methodEnd < line.count, line[methodEnd] == .space else {
      throw .malformed("The request line does not start with a method and a space.")
    }
    method = .init(offset, offset + methodEnd)

    // The version has eight bytes. The target is between method and version, separated by one space each.
    let target = methodEnd + 1..<max(methodEnd + 1, line.count - 9)
    guard !target.isEmpty, line[target.upperBound] == .space else { throw .malformed(Self.noVersion) }
    minorVersion = try Self.minorVersion(UnsafeRawBufferPointer(rebasing: line[(target.upperBound + 1)...]))
    try readTarget(line, target, method: UnsafeRawBufferPointer(rebasing: line[..<methodEnd]), at: offset)
  }

  private static let noVersion: Refusal.StaticReason =
    "The request line does not end with a space and a version."

  /// Parses `"HTTP/" DIGIT "." DIGIT`, case-sensitively (RFC 9112 §2.3). Higher minor versions are treated as the
  /// highest known one (RFC 9110 §6.2).
  private static func minorVersion(_ version: UnsafeRawBufferPointer) throws(Refusal) -> Int {
    guard UnsafeRawBufferPointer(rebasing: version[..<5]).equals("HTTP/"),
      CharacterClass.digit.contains(version[5]), version[6] == UInt8(ascii: "."),
      CharacterClass.digit.contains(version[7])
    else { throw .malformed(noVersion) }
    guard version[5] == UInt8(ascii: "1") else { throw .unsupportedVersion }
    return version[7] == UInt8(ascii: "0") ? 0 : 1
  }

  /// Parses one of the forms of RFC 9112 §3.2. Only the first is common.
  private mutating func readTarget(
    _ line: UnsafeRawBufferPointer, _ range: Range<Int>, method: UnsafeRawBufferPointer, at offset: Int
  ) throws(Refusal) {
    if method.equals("CONNECT") { throw .noProxy }
    switch line[range.lowerBound] {
    case UInt8(ascii: "/"):
      try readPath(line, range, at: offset)
    case UInt8(ascii: "*"):
      guard range.count == 1, method.equals("OPTIONS") else {
        throw .malformed("Only OPTIONS can have the target *.")
      }
      path = .init(offset + range.lowerBound, offset + range.upperBound)
    default:
      try readAbsolute(line, range, at: offset)
    }
  }

  /// Parses `http://authority/path?query` (RFC 9112 §3.2.2).
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

  /// Parses `absolute-path [ "?" query ]`: no fragment, only ASCII, and complete escapes. Escapes are not decoded here,
  /// because they must be decoded exactly once.
  private mutating func readPath(
    _ line: UnsafeRawBufferPointer, _ range: Range<Int>, at offset: Int
  ) throws(Refusal) {
    let target = UnsafeRawBufferPointer(rebasing: line[..<range.upperBound])
    var end = target.end(of: .path, from: range.lowerBound)
    while end + 2 < target.count, target[end] == UInt8(ascii: "%"),
      CharacterClass.hexDigit.contains(target[end + 1]),
      CharacterClass.hexDigit.contains(target[end + 2])
    {
      end = target.end(of: .path, from: end + 3)
    }
    path = .init(offset + range.lowerBound, offset + end)
    if end == target.count { return }
    guard target[end] == UInt8(ascii: "?") else {
      throw .malformed("The path of the request target contains an invalid character.")
    }
    guard target.end(of: .query, from: end + 1) == target.count else {
      throw .malformed("The query of the request target contains an invalid character.")
    }
    query = .init(offset + end + 1, offset + target.count)
  }
}
