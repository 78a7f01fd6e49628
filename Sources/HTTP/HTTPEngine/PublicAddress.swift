import HTTPSemantics

/// The URL at which clients reach a server behind a proxy, such as `https://tools.example/snapshots`.
public struct PublicAddress: Sendable, Hashable, CustomStringConvertible {
  /// The maximum length of ``basePath``, which is part of every address on a page, in bytes.
  public static let maximumPathLength = 100

  /// Whether the scheme is `https`.
  public let isSecure: Bool
  /// The host in lower case, with a port unless it is the scheme's own.
  public let authority: String
  /// The path below which the server is available, without `/` at its end: empty, or such as `/snapshots`.
  public let basePath: String

  /// Parses an `http` or `https` URL. Returns `nil` if it has user information, a query or a fragment, an invalid host,
  /// or a path that ``isBasePath(_:)`` refuses. `/` at the end is ignored.
  public init?(_ text: String) {
    let lowercased = text.lowercased()
    guard let scheme = ["https://", "http://"].first(where: lowercased.hasPrefix) else { return nil }
    let rest = text.dropFirst(scheme.count)
    let authority = rest.prefix { $0 != "/" }.lowercased()
    var path = rest[rest.index(rest.startIndex, offsetBy: authority.count)...]
    if path.last == "/" { path.removeLast() }
    isSecure = scheme == "https://"
    guard Self.isAuthority(authority), Self.isBasePath(path) else { return nil }
    let ownPort = isSecure ? ":443" : ":80"
    let name = authority.hasSuffix(ownPort) ? String(authority.dropLast(ownPort.count)) : authority
    guard name.last != ":" else { return nil }
    self.authority = name
    basePath = String(path)
  }

  /// The URL, without `/` at its end.
  public var description: String { "\(isSecure ? "https" : "http")://\(authority)\(basePath)" }

  /// Whether `path` is empty, or consists of segments of letters, digits and `- . _ ~`, each after a `/` and none of them
  /// `.` or `..`, and is not longer than ``maximumPathLength``.
  public static func isBasePath(_ path: some StringProtocol) -> Bool {
    guard !path.isEmpty else { return true }
    guard path.utf8.count <= maximumPathLength, path.utf8.first == UInt8(ascii: "/") else { return false }
    return path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).allSatisfy { segment in
      !segment.isEmpty && segment != "." && segment != ".."
        && segment.utf8.allSatisfy(PercentCoding.isUnreserved)
    }
  }

  /// Whether `text` is a valid host, with or without a port.
  static func isAuthority(_ text: String) -> Bool { Array(text.utf8).withUnsafeBytes(Authority.isValid) }
}
