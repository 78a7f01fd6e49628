import AccessControl
import HTTPEngine
import HTTPTypes

/// Builds the `Location` of an upload.
///
/// Absolute URLs and paths are both allowed (RFC 9110 §10.2.2, tus 1.0.0), but some clients use the field as a URL
/// without resolving it. They get an absolute URL only if it is certain to be correct: the request names a local
/// address and a port, and no field of a proxy; or it names the public address in the settings. Any other name can be that of a proxy whose scheme is unknown to this
/// server. Then only the path is correct.
enum UploadLocation {
  private static let tracesOfProxies = [
    "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Prefix", "Via",
  ]
  .compactMap { HTTPField.Name($0) }

  /// Returns the value of `Location` for the upload at `path`, in the response to `request`.
  static func value(of path: String, for request: HTTPServerRequest) -> String {
    if let url = request.statedURL { return url + path }
    if request.publicURL != nil { return path }
    let authority = request.authority
    let port = authority.utf8.reversed().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
    let isDirect =
      port > 0 && authority.utf8.dropLast(port).last == UInt8(ascii: ":") && CrossSiteRule.isLocal(authority)
      && !tracesOfProxies.contains { request.headerFields.contains($0) }
    return isDirect ? "http://\(authority)\(path)" : path
  }
}
