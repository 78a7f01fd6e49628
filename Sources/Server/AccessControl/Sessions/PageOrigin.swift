package import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SystemIO

/// The origin of the server as seen by the browser that sent a request: scheme and authority (RFC 6454), and the path
/// below which the browser sees it.
package struct PageOrigin: Sendable, CustomStringConvertible {
  /// Whether the browser uses TLS, which can end at a proxy.
  let isSecure: Bool
  private let authority: String
  private let basePath: String

  /// Knows it from the connection, or reads the origin from fields that only the browser itself can set: `Origin`, which contains the scheme, or the
  /// presence of `Sec-Fetch-Site`, which browsers send only through TLS and to loopback (Fetch Metadata §2).
  package init(_ request: HTTPServerRequest) {
    authority = request.authority.lowercased()
    basePath = request.basePath
    if request.isSecure {
      isSecure = true
      return
    }
    let origin = request.headerFields[.origin]?.lowercased()
    switch origin?.prefix(while: { $0 != ":" }) {
    case "https": isSecure = true
    case "http": isSecure = false
    default:
      isSecure = request.headerFields[.secFetchSite] != nil && !Self.isLoopback(authority)
    }
  }

  /// The origin with the path, such as `https://snapshots.example.com` or `https://tools.example/snapshots`.
  package var description: String { "\(isSecure ? "https" : "http")://\(authority)\(basePath)" }

  /// Whether `authority` is reachable only from this machine.
  package static func isLoopback(_ authority: String) -> Bool {
    var host = authority[...]
    if host.first == "[" {
      host = host.dropFirst().prefix { $0 != "]" }
    } else if let colon = host.lastIndex(of: ":") {
      host = host[..<colon]
    }
    if host.last == "." { host.removeLast() }
    return host == "localhost" || host.hasSuffix(".localhost")
      || IPAddress(String(host))?.isLoopback == true
  }
}
