import HTTPEngine
import HTTPSemantics
import HTTPTypes

extension HTTPServerResponse {
  /// A page.
  static func page(_ html: [UInt8], status: HTTPResponse.Status = .ok) -> HTTPServerResponse {
    HTTPServerResponse(
      status: status, headerFields: [.contentType: "text/html; charset=utf-8"], body: .bytes(html))
  }

  /// Has the browser go on to another page, whatever it sent (RFC 9110 §15.4.4).
  static func seeOther(_ path: String) -> HTTPServerResponse {
    HTTPServerResponse(status: .seeOther, headerFields: [.location: path])
  }

  /// Adds the fields that every page comes with, unless it has them. Everything in a page that comes from a snapshot is
  /// text; should any of it be more for a browser after all, nothing runs, and nothing is fetched from elsewhere.
  mutating func addPageFields() {
    for (name, value) in Self.pageFields where headerFields[name] == nil { headerFields[name] = value }
    // Nothing that users saw stays behind in a browser.
    headerFields[.cacheControl] = "no-store"
  }

  private static let pageFields: [(HTTPField.Name, String)] = [
    (
      "Content-Security-Policy",
      """
      default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; \
      base-uri 'none'; frame-ancestors 'none'
      """
    ),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    // Other sites get nothing of it. Under ‘no-referrer’ browsers send forms with an ‘Origin’ of ‘null’.
    ("Referrer-Policy", "same-origin"),
  ].compactMap { name, value in HTTPField.Name(name).map { ($0, value) } }
}

extension HTTPServerRequest {
  /// Whether a link on another site led here, with which browsers send no cookie, whoever has signed in.
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
