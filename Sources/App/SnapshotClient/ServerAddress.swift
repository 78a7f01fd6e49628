import Foundation
import HTTPSemantics
import HTTPTransport
import HTTPTypes

/// Where a server's API is.
struct ServerAddress: Sendable, Hashable {
  private let scheme: String
  private let authority: Authority
  private let prefix: String

  /// Takes an `http` or `https` URL with a host and perhaps a path under which the API stands; user information,
  /// query and fragment are refused.
  init(_ url: URL) throws(SnapshotClientError) {
    guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
      let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https"
    else { throw SnapshotClientError(.invalidServer, "its address does not start with http:// or https://") }
    guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil else {
      throw SnapshotClientError(.invalidServer, "its address holds a user, a query or a fragment")
    }
    let port = parts.port.map { ":\($0)" } ?? ""
    guard let host = parts.encodedHost, let authority = Authority(host + port) else {
      throw SnapshotClientError(.invalidServer, "its address names no host")
    }
    self.scheme = scheme
    self.authority = authority
    prefix = String(parts.percentEncodedPath.reversed().drop { $0 == "/" }.reversed())
  }

  /// Whether what is sent can be read on the way.
  var isInsecure: Bool { scheme == "http" && !authority.isLoopback }

  /// The address as people write it.
  var description: String { "\(scheme)://\(authority.text)\(prefix)" }

  /// Whether `other` is the same server and path, however it is written.
  func isSame(as other: ServerAddress) -> Bool {
    let isOneHost =
      authority.host.lowercased() == other.authority.host.lowercased()
      || authority.isLoopback && other.authority.isLoopback
    return isOneHost && scheme == other.scheme && port == other.port && prefix == other.prefix
  }

  /// The path and query that `location`, out of an answer to `request`, leads to on this server; `nil` where it leads
  /// to another one, or can't be read. Scheme and port don't count: a server behind a proxy may know itself by others.
  func target(of location: String, from request: HTTPRequest, limit: Int) -> String? {
    guard !location.isEmpty, location.utf8.count <= limit,
      location.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      let base = URL(string: "\(scheme)://\(authority.text)\(request.path ?? "/")"),
      let url = URL(string: location, relativeTo: base),
      let parts = URLComponents(url: url.absoluteURL, resolvingAgainstBaseURL: true),
      parts.user == nil, parts.password == nil, parts.fragment == nil,
      let host = parts.encodedHost, let other = Authority(host),
      other.host.lowercased() == authority.host.lowercased() || other.isLoopback && authority.isLoopback
    else { return nil }
    var target = parts.percentEncodedPath
    guard target.first == "/" else { return nil }
    // A proxy that puts the API under a path does not always look into the answers.
    if target.hasPrefix("/v1/"), !target.hasPrefix(prefix + "/") { target = prefix + target }
    if let query = parts.percentEncodedQuery { target += "?" + query }
    return target
  }

  /// A request for `target`, which came from the server.
  func request(_ method: HTTPRequest.Method, target: String) -> HTTPRequest {
    HTTPRequest(method: method, scheme: scheme, authority: authority.text, path: target)
  }

  private var port: UInt16 { authority.port ?? (scheme == "https" ? 443 : 80) }

  /// A request for what stands under `path`, each part of which is percent-encoded here.
  func request(
    _ method: HTTPRequest.Method, _ path: [String], query: [(name: String, value: String)] = []
  ) -> HTTPRequest {
    var target = prefix + "/v1"
    for part in path { target += "/" + PercentCoding.encode(part) }
    let pairs = query.map { "\(PercentCoding.encode($0.name))=\(PercentCoding.encode($0.value))" }
    if !pairs.isEmpty { target += "?" + pairs.joined(separator: "&") }
    return HTTPRequest(method: method, scheme: scheme, authority: authority.text, path: target)
  }
}
