import AccessControl
import HTTPEngine
import HTTPTypes

/// Where an upload is, as its client is told.
///
/// Either form is allowed (RFC 9110 §10.2.2, tus 1.0.0), but some clients take the field for a whole address without
/// resolving it. They get one where it can only be right: where the request names an address of the local network and a
/// port, and nothing says that it came by way of another server. Any other name may be one of a server in front, whose
/// scheme nobody here knows; then the path alone is right.
enum UploadLocation {
  private static let tracesOfProxies = [
    "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Via",
  ]
  .compactMap { HTTPField.Name($0) }

  /// What tells the client that sent `request` of the upload under `path`.
  static func value(of path: String, for request: HTTPServerRequest) -> String {
    let authority = request.authority
    let port = authority.utf8.reversed().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
    let isDirect =
      port > 0 && authority.utf8.dropLast(port).last == UInt8(ascii: ":") && CrossSiteRule.isLocal(authority)
      && !tracesOfProxies.contains { request.headerFields.contains($0) }
    return isDirect ? "http://\(authority)\(path)" : path
  }
}
