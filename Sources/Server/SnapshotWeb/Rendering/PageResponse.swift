import HTTPEngine
import HTTPSemantics
import HTTPTypes

extension HTTPServerResponse {
  /// Returns an HTML page.
  static func page(_ html: [UInt8], status: HTTPResponse.Status = .ok) -> HTTPServerResponse {
    HTTPServerResponse(
      status: status, headerFields: [.contentType: "text/html; charset=utf-8"], body: .bytes(html))
  }

  /// Redirects the browser to another page with a `GET` request, whatever the method was (RFC 9110 §15.4.4).
  static func seeOther(_ path: String) -> HTTPServerResponse {
    HTTPServerResponse(status: .seeOther, headerFields: [.location: path])
  }

  /// Adds the header fields of all pages, except those that are already set. Texts from snapshots are escaped. Should
  /// markup get through, these fields keep scripts from running and resources of other servers from loading.
  mutating func addPageFields() {
    for (name, value) in Self.pageFields where headerFields[name] == nil { headerFields[name] = value }
    // Pages must not remain in the browser's cache.
    headerFields[.cacheControl] = "no-store"
  }

  /// Allows the scripts of the page to send requests to this server.
  mutating func allowRequestsOfScripts() {
    headerFields[.contentSecurityPolicy] = Self.policy + "; connect-src 'self'"
  }

  private static let policy = """
    default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; \
    base-uri 'none'; frame-ancestors 'none'
    """

  private static let pageFields: [(HTTPField.Name, String)] = [
    ("Content-Security-Policy", policy),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    // Other sites get no referrer. With ‘no-referrer’, browsers would send forms with the ‘Origin’ ‘null’.
    ("Referrer-Policy", "same-origin"),
  ].compactMap { name, value in HTTPField.Name(name).map { ($0, value) } }
}

extension HTTPServerRequest {
  /// Whether the user followed a link on another site. Browsers then send no cookies, even if the user has signed in.
  var isFollowedFromAnotherSite: Bool {
    guard method == .get, let site = headerFields[.secFetchSite], site == "cross-site" || site == "same-site"
    else {
      return false
    }
    return headerFields[.cookie]?.contains("snapshot-") != true
      && Self.secFetchDest.flatMap { headerFields[$0] } == "document"
  }

  private static let secFetchDest = HTTPField.Name("Sec-Fetch-Dest")
}
