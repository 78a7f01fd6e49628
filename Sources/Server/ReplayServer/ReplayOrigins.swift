import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SystemIO

/// Which pages can read the answers (CORS), and by which names the server can be addressed.
///
/// Any page in a browser can send requests to the loopback address. Only pages that come from this machine can read the
/// answers, unless others are allowed, so that no web site reads a snapshot. A page whose own name resolves to this
/// machine (DNS rebinding) needs no CORS: the name is refused.
package struct ReplayOrigins: Sendable {
  /// Further names that nobody can register.
  private static let localEndings = [".internal", ".test"]

  private let allowed: Set<String>

  /// Creates the rules.
  /// - Parameter allowed: further origins, such as `https://app.example.com` or `null`; `*` allows all.
  package init(allowed: [String] = []) { self.allowed = Set(allowed.map { $0.lowercased() }) }

  /// Whether a page of `origin` can read the answers.
  func allows(_ origin: String) -> Bool {
    if allowed.contains("*") || allowed.contains(origin.lowercased()) { return true }
    guard let host = URLComponents(string: origin)?.host else { return false }
    return Self.isLoopback(host)
  }

  /// Whether requests with this `Host` are answered.
  func serves(_ authority: String, _ table: ReplayTable) -> Bool {
    guard !authority.isEmpty, let host = URLComponents(string: "http://" + authority)?.host?.lowercased()
    else {
      return authority.isEmpty
    }
    return allowed.contains("*") || CrossSiteRule.isLocal(authority)
      || Self.localEndings.contains(where: host.hasSuffix)
      || table.isRecorded(authority) || table.isRecorded(host)
      || allowed.contains { URLComponents(string: $0)?.host == host }
  }

  private static func isLoopback(_ host: String) -> Bool {
    let name = host.lowercased()
    return name == "localhost" || name.hasSuffix(".localhost")
      || IPAddress(name.trimmingCharacters(in: ["[", "]"]))?.isLoopback == true
  }

  // MARK: - CORS

  /// Returns the answer to a preflight; `nil` if the request is none. Throws 403 if the origin is not allowed.
  func preflight(_ request: HTTPServerRequest) throws(HTTPProblem) -> HTTPServerResponse? {
    let fields = request.headerFields
    guard request.method == .options, let origin = fields[.origin],
      let method = fields[.accessControlRequestMethod]
    else { return nil }
    guard allows(origin) else {
      throw HTTPProblem(
        .forbidden, kind: "origin-not-allowed", title: "Pages of this origin can't read the answers",
        detail:
          "\(origin.prefix(200)) is not a page of this machine. Pass --allow-origin \(origin.prefix(200)).")
    }
    var answer: HTTPFields = [.accessControlAllowMethods: method, .accessControlMaxAge: "5"]
    answer[.accessControlAllowHeaders] = fields[.accessControlRequestHeaders]
    if fields[Self.privateNetworkRequest] != nil { answer[Self.privateNetworkAllowed] = "true" }
    return HTTPServerResponse(status: .noContent, headerFields: answer)
  }

  /// Adds the fields with which a page of another origin can read the response, if it is allowed.
  func open(_ response: inout HTTPServerResponse, to request: HTTPServerRequest) {
    guard let origin = request.headerFields[.origin] else { return }
    response.headerFields.append(HTTPField(name: .vary, value: "Origin"))
    guard allows(origin) else { return }
    // With credentials, `*` is no name.
    let names = Set(response.headerFields.map(\.name.rawName)).sorted()
    response.headerFields[.accessControlAllowOrigin] = origin
    response.headerFields[.accessControlAllowCredentials] = "true"
    response.headerFields[.accessControlExposeHeaders] = names.joined(separator: ", ")
  }

  /// Why the page that sent the request can't read the answer; `nil` if it can, or no page sent it.
  func obstacle(for request: HTTPServerRequest) -> String? {
    guard let origin = request.headerFields[.origin], !allows(origin) else { return nil }
    return "its page can't read the answer without --allow-origin \(origin.prefix(200))"
  }

  private static let privateNetworkRequest = HTTPField.Name.constant("Access-Control-Request-Private-Network")
  private static let privateNetworkAllowed = HTTPField.Name.constant("Access-Control-Allow-Private-Network")
}
