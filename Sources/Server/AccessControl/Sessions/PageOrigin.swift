package import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SystemIO

/// The server as the browser that made a request reaches it: scheme and authority (RFC 6454).
package struct PageOrigin: Sendable, CustomStringConvertible {
  /// Whether it is reached by TLS, which may end at a proxy.
  let isSecure: Bool
  private let authority: String

  /// Reads it off what only the browser itself can say: `Origin`, which has the scheme, or else that there is any
  /// `Sec-Fetch-Site`, for browsers send that by TLS and to loopback only (Fetch Metadata §2).
  package init(_ request: HTTPServerRequest) {
    authority = request.authority.lowercased()
    let origin = request.headerFields[.origin]?.lowercased()
    switch origin?.prefix(while: { $0 != ":" }) {
    case "https": isSecure = true
    case "http": isSecure = false
    default:
      isSecure = request.headerFields[.secFetchSite] != nil && !Self.isLoopback(authority)
    }
  }

  /// `https://snapshots.example.com`.
  package var description: String { "\(isSecure ? "https" : "http")://\(authority)" }

  /// Whether `authority` can't be reached but from this machine.
  package static func isLoopback(_ authority: String) -> Bool {
    var host = authority[...]
    if host.first == "[" {
      host = host.dropFirst().prefix { $0 != "]" }
    } else if let colon = host.lastIndex(of: ":") {
      host = host[..<colon]
    }
    return host == "localhost" || host.hasSuffix(".localhost")
      || IPAddress(String(host))?.isLoopback == true
  }
}
