package import HTTPEngine
import HTTPSemantics
package import HTTPTypes
import SystemIO

/// Prevents pages of other sites from using a browser's access to a store that requires no token.
///
/// Browsers send posted forms and plain-text bodies without a preflight. With tokens this check is not needed: no page
/// of another site can make a browser send a header field that it does not know.
package enum CrossSiteRule {
  /// Whether requests with `method` change state.
  package static func changesState(_ method: HTTPRequest.Method) -> Bool {
    ![.get, .head, .options].contains(method)
  }

  /// Whether a page of another site sent `request` (Fetch Metadata §2.3, Fetch §3.2).
  package static func comesFromAnotherSite(_ request: HTTPServerRequest) -> Bool {
    if let site = request.headerFields[.secFetchSite] { return !["same-origin", "none"].contains(site) }
    guard let origin = request.headerFields[.origin]?.lowercased() else { return false }
    return !["http://", "https://"].contains { origin == $0 + request.authority.lowercased() }
  }

  /// Whether the browser states that a page of this server sent `request`. `false` if the request does not state its
  /// origin.
  package static func comesFromOwnPage(_ request: HTTPServerRequest) -> Bool {
    let fields = request.headerFields
    guard fields[.secFetchSite] != nil || fields[.origin] != nil else { return false }
    return !comesFromAnotherSite(request)
  }

  /// Whether `authority` is an IP address, `localhost` or below it, or a name that only a local network can resolve: one
  /// without a dot, or below `.local` (RFC 6762 §3). The owner of any other name could have pointed it to this server, so
  /// that the owner's pages would be of the same origin (DNS rebinding).
  package static func isLocal(_ authority: String) -> Bool {
    if authority.utf8.first == UInt8(ascii: "[") { return true }
    let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
    var host = authority[..<colon].lowercased()
    // A dot at the end says only that the name is complete.
    if host.utf8.last == UInt8(ascii: ".") { host.removeLast() }
    return !host.utf8.contains(UInt8(ascii: ".")) || IPAddress(host) != nil
      || host.hasSuffix(".localhost") || host.hasSuffix(".local")
  }
}
