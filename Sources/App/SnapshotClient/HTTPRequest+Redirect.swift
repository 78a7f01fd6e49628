import Foundation
import HTTPTypes

extension HTTPRequest {
  /// The request that a response with status 307 to this one asks for; `nil` for any other response, and if the address
  /// is not a complete one or would be read in clear text after HTTPS.
  func redirected(by response: HTTPResponse) -> HTTPRequest? {
    guard response.status == .temporaryRedirect, let text = response.headerFields[.location],
      // The address is signed, so it is sent as it was received, and only checked here.
      let url = URL(string: text), let host = url.host(), !host.isEmpty, url.user == nil, url.fragment == nil,
      let start = text.firstRange(of: "://")
    else { return nil }
    let scheme = text[..<start.lowerBound].lowercased()
    guard scheme == "https" || scheme == "http" && self.scheme == "http" else { return nil }
    let authority = text[start.upperBound...].prefix { $0 != "/" && $0 != "?" }
    let target = text[authority.endIndex...]
    var request = self
    request.scheme = scheme
    request.authority = String(authority)
    request.path = target.hasPrefix("/") ? String(target) : "/\(target)"
    return request
  }
}
