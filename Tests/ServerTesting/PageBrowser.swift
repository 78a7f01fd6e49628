import HTTPEngine
import HTTPSemantics
package import HTTPTypes
import SnapshotFormat
import SystemIO
import Testing

/// A browser that visits pages: it keeps cookies, sends the origin of requests, and submits forms with their hidden
/// fields.
package final class PageBrowser: Sendable {
  /// The server of the pages.
  package let api: TestAPI
  /// The host and port in the address of the pages.
  package let authority: String
  private let scheme: String
  /// What a proxy makes of the authority and the path of a request.
  private let forward: @Sendable (_ authority: String, _ path: String) -> (String, String)
  private let jar = Lock<[String: String]>([:])
  private let received = Lock<[String]>([])
  private let ofProxy = Lock<HTTPFields>([:])

  /// Makes a browser without cookies. `forward` is the proxy in front of the server, if there is one.
  package init(
    _ api: TestAPI, authority: String = "localhost:8080", scheme: String = "http",
    forward: @escaping @Sendable (_ authority: String, _ path: String) -> (String, String) = { ($0, $1) }
  ) {
    self.forward = forward
    self.api = api
    self.authority = authority
    self.scheme = scheme
  }

  /// The fields that a proxy adds to every request.
  package var proxyFields: HTTPFields {
    get { ofProxy.withLock { $0 } }
    set { ofProxy.withLock { $0 = newValue } }
  }

  /// The stored cookies.
  package var cookies: [String: String] {
    get { jar.withLock { $0 } }
    set { jar.withLock { $0 = newValue } }
  }

  /// All received values of `Set-Cookie`.
  package var cookiesSet: [String] { received.withLock { $0 } }

  /// The fields that a browser sends with each request.
  package func fields(site: String? = "same-origin") -> HTTPFields {
    var fields: HTTPFields = [.accept: "text/html,application/xhtml+xml,*/*;q=0.8"]
    let isTrusted = scheme == "https" || authority.hasPrefix("localhost")
    if isTrusted { fields[.secFetchSite] = site }
    if !cookies.isEmpty { fields[.cookie] = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") }
    return fields
  }

  /// Opens a page. `more` replaces the fields of a browser.
  @discardableResult
  package func get(
    _ path: String, method: HTTPRequest.Method = .get, _ more: HTTPFields = [:], site: String? = "same-origin"
  ) async throws -> TestAPI.Answer {
    var fields = fields(site: site)
    for field in more { fields[field.name] = field.value }
    return try await send(method, path, fields)
  }

  /// Submits a form without the hidden fields of a page.
  @discardableResult
  package func post(
    _ path: String, _ values: KeyValuePairs<String, String> = [:], _ more: HTTPFields = [:],
    site: String? = "same-origin", method: HTTPRequest.Method = .post
  ) async throws -> TestAPI.Answer {
    var fields = fields(site: site)
    fields[.contentType] = "application/x-www-form-urlencoded"
    fields[.origin] = "\(scheme)://\(authority)"
    for field in more { fields[field.name] = field.value.isEmpty ? nil : field.value }
    let body = values.map { "\($0.key)=\(PercentCoding.encode($0.value))" }.joined(separator: "&")
    return try await send(method, path, fields, body: .pieces(of: Array(body.utf8)))
  }

  /// Returns the form token of the forms on the page at `path`.
  package func formToken(in path: String) async throws -> String {
    let text = try await get(path).text
    let match = text.firstMatch(of: /name="form-token" value="([^"]+)"/)
    return String(try #require(match, "\(path) has no form").1)
  }

  /// Signs in, and returns the response.
  @discardableResult
  package func signIn(_ secret: String, next: String = "/") async throws -> TestAPI.Answer {
    let token = try await formToken(in: "/sign-in")
    return try await post("/sign-in", ["form-token": token, "token": secret, "next": next])
  }

  /// Signs in with the token of a request with these fields.
  package func signIn(_ fields: HTTPFields) async throws {
    let secret = try #require(fields[.authorization]).dropFirst("Bearer ".count)
    let answer = try await signIn(String(secret))
    try #require(answer.status == 303, "\(answer.text)")
  }

  /// Submits a form with a file, as `multipart/form-data`, with its fields in this order.
  @discardableResult
  package func submit(
    _ path: String, _ parts: [(name: String, data: [UInt8])], site: String? = "same-origin"
  ) async throws -> TestAPI.Answer {
    var fields = fields(site: site)
    fields[.contentType] = "multipart/form-data; boundary=XX"
    fields[.origin] = "\(scheme)://\(authority)"
    let form = TestAPI.form(
      parts.map { (head: "Content-Disposition: form-data; name=\"\($0.name)\"", data: $0.data) })
    return try await send(.post, path, fields, body: .pieces(of: form))
  }

  /// Sends a request as a script of a page does.
  @discardableResult
  package func script(
    _ method: HTTPRequest.Method, _ path: String, _ more: HTTPFields, body: [UInt8] = [],
    site: String? = "same-origin"
  ) async throws -> TestAPI.Answer {
    var fields = fields(site: site)
    fields[.origin] = "\(scheme)://\(authority)"
    for field in more { fields[field.name] = field.value }
    return try await send(method, path, fields, body: .pieces(of: body))
  }

  private func send(
    _ method: HTTPRequest.Method, _ target: String, _ fields: HTTPFields, body: HTTPRequestBody = .empty
  ) async throws -> TestAPI.Answer {
    let fields = fields + proxyFields
    let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
    let (authority, path) = forward(authority, parts[0])
    let answer = try await api.send(
      method, path, query: parts.count > 1 ? parts[1] : nil, fields, body: body, authority: authority)
    for cookie in answer.fields[values: .setCookie] {
      received.withLock { $0.append(cookie) }
      let pair = cookie.prefix { $0 != ";" }.split(separator: "=", omittingEmptySubsequences: false)
      jar.withLock { $0[String(pair[0])] = pair[1].isEmpty ? nil : String(pair[1]) }
    }
    return answer
  }
}
