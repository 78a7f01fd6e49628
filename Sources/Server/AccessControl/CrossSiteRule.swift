package import HTTPEngine
import HTTPSemantics
package import HTTPTypes
import SystemIO

/// Keeps pages of other sites from using a browser's way to a store that asks for no token.
///
/// A form that is posted, or a body sent as plain text, reaches a server without a preflight. With a token none of
/// this is needed: no page can make a browser send a field that it does not know.
package enum CrossSiteRule {
  /// Whether `request` changes something.
  package static func changesState(_ method: HTTPRequest.Method) -> Bool {
    ![.get, .head, .options].contains(method)
  }

  /// Whether a page of another site sent `request` (Fetch Metadata §2.3, Fetch §3.2).
  static func comesFromAnotherSite(_ request: HTTPServerRequest) -> Bool {
    if let site = request.headerFields[.secFetchSite] { return !["same-origin", "none"].contains(site) }
    guard let origin = request.headerFields[.origin]?.lowercased() else { return false }
    return !["http://", "https://"].contains { origin == $0 + request.authority.lowercased() }
  }

  /// Whether the browser says that a page of this very server sent `request`; one that says nothing of where it comes
  /// from does not.
  package static func comesFromOwnPage(_ request: HTTPServerRequest) -> Bool {
    let fields = request.headerFields
    guard fields[.secFetchSite] != nil || fields[.origin] != nil else { return false }
    return !comesFromAnotherSite(request)
  }

  /// Whether `authority` is an address, `localhost`, or a name without a dot, which only the local network gives. Any
  /// other name could be one that its owner has pointed here, so that a page of theirs counts as one of ours.
  package static func isLocal(_ authority: String) -> Bool {
    if authority.utf8.first == UInt8(ascii: "[") { return true }
    let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
    let host = String(authority[..<colon])
    return !host.utf8.contains(UInt8(ascii: ".")) || IPAddress(host) != nil
      || host.lowercased().hasSuffix(".localhost")
  }
}
