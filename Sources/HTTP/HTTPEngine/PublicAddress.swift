import HTTPSemantics
package import HTTPTypes

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
      !segment.isEmpty && segment != "." && segment != ".." && segment.utf8.allSatisfy(isUnreserved)
    }
  }

  /// Whether `text` is a valid host, with or without a port.
  static func isAuthority(_ text: String) -> Bool { Array(text.utf8).withUnsafeBytes(Authority.isValid) }

  /// RFC 3986 §2.3.
  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }
}

/// What the client of a proxy sees of a request, where it differs from what the server received.
struct PublicView: Sendable {
  let path: String
  let basePath: String
  let authority: String
  let isSecure: Bool
  /// Whether the client uses the server's public address.
  let isPublicAddress: Bool
  /// Whether the proxy passed on the authority that the client sent.
  let keepsAuthority: Bool
}

extension HTTPServerRequest {
  /// The path below which the client sees this server: empty, or such as `/snapshots`. ``path`` does not include it.
  public var basePath: String { view?.basePath ?? "" }

  /// The URL of this server that the client uses, without `/` at its end; `nil` if the server does not know it.
  public var publicURL: String? {
    view.flatMap { view in
      guard view.isPublicAddress else { return nil }
      return "\(view.isSecure ? "https" : "http")://\(view.authority)\(view.basePath)"
    }
  }

  /// Returns the request as the client of a trusted proxy sees it, at the path `path` below that of `view`.
  package func seen(at path: String, of view: ForwardedView) -> HTTPServerRequest {
    seen(
      as: PublicView(
        path: path, basePath: view.basePath ?? "", authority: view.authority ?? authority,
        isSecure: view.isSecure ?? isSecure, isPublicAddress: false, keepsAuthority: true))
  }

  private func seen(as view: PublicView) -> HTTPServerRequest {
    var request = self
    request.view = view
    return request
  }

  /// ``publicURL``, if the client itself has stated its authority; `nil` if the server has assumed it.
  package var statedURL: String? { view?.keepsAuthority == true ? publicURL : nil }

  /// Returns the request as the client of a proxy sees it. ``publicURL`` is known if there is an `address`.
  ///
  /// - Parameters:
  ///   - path: the path below `basePath`.
  ///   - basePath: the path below which the client sees this server.
  ///   - address: the address that the client uses; `nil` if it is that of the received request.
  public func seen(at path: String, below basePath: String, of address: PublicAddress?) -> HTTPServerRequest {
    seen(
      as: PublicView(
        path: path, basePath: basePath, authority: address?.authority ?? authority,
        isSecure: address?.isSecure ?? isSecure, isPublicAddress: address != nil,
        keepsAuthority: address.map { $0.authority == authority.lowercased() } ?? true))
  }
}

extension HTTPFields {
  /// Returns the fields of a response with `basePath` before the paths in `Location` and `Link`. Complete URLs are kept.
  package func below(_ basePath: String) -> HTTPFields {
    guard !basePath.isEmpty else { return self }
    var fields = self
    if let location = fields[.location], location.hasPrefix("/"), !location.hasPrefix("//") {
      fields[.location] = basePath + location
    }
    if let link = fields[.link], link.hasPrefix("</"), !link.hasPrefix("<//") {
      fields[.link] = "<" + basePath + link.dropFirst()
    }
    return fields
  }
}
