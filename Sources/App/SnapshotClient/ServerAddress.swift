public import Foundation
import HTTPSemantics
import HTTPClient
import HTTPTypes

/// The base address of a server's API.
struct ServerAddress: Sendable, Hashable {
  private let scheme: String
  private let authority: Authority
  private let prefix: String

  /// Creates an address from an `http` or `https` URL with a host, and optionally the path of the API. Throws if the
  /// URL has user information, a query or a fragment.
  init(_ url: URL) throws(SnapshotClientError) {
    guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
      let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https"
    else { throw SnapshotClientError(.invalidServer, "its address does not start with http:// or https://") }
    guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil else {
      throw SnapshotClientError(.invalidServer, "its address contains a user, a query or a fragment")
    }
    let port = parts.port.map { ":\($0)" } ?? ""
    guard var host = parts.encodedHost, !host.isEmpty else {
      throw SnapshotClientError(.invalidServer, "its address has no host")
    }
    // Resolvers know this machine under the name without a dot; the other one could be asked of a name server.
    if host.lowercased() == "localhost." { host.removeLast() }
    guard let authority = Authority(host + port) else {
      throw SnapshotClientError(.invalidServer, "its address has no valid host and port")
    }
    let path = parts.percentEncodedPath.split(separator: "/")
    guard path.last != "v1" else {
      throw SnapshotClientError(
        .invalidServer, "its address ends in /v1, which is a part of every request", mend: "leave out /v1")
    }
    self.scheme = scheme
    self.authority = authority
    prefix = String(parts.percentEncodedPath.reversed().drop { $0 == "/" }.reversed())
  }

  /// Whether requests are sent unencrypted to another machine.
  var isInsecure: Bool { scheme == "http" && !authority.isLoopback }

  /// The address as text.
  var description: String { "\(scheme)://\(authority.text)\(prefix)" }

  /// Whether `other` is the same server and path. Different spellings of the host and all loopback hosts are equal.
  func isSame(as other: ServerAddress) -> Bool {
    let isOneHost =
      authority.name == other.authority.name || authority.isLoopback && other.authority.isLoopback
    return isOneHost && scheme == other.scheme && port == other.port && prefix == other.prefix
  }

  /// The path and query of `location`, a reference in a response to `request`; `nil` if it points to another host or is
  /// invalid. Scheme and port are ignored, because a server behind a proxy can have different ones.
  func target(of location: String, from request: HTTPRequest, limit: Int) -> String? {
    guard !location.isEmpty, location.utf8.count <= limit,
      location.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      let base = URL(string: "\(scheme)://\(authority.text)\(request.path ?? "/")"),
      let url = URL(string: location, relativeTo: base),
      let parts = URLComponents(url: url.absoluteURL, resolvingAgainstBaseURL: true),
      parts.user == nil, parts.password == nil, parts.fragment == nil,
      let host = parts.encodedHost, let other = Authority(host),
      other.name == authority.name || other.isLoopback && authority.isLoopback
    else { return nil }
    var target = parts.percentEncodedPath
    guard target.first == "/" else { return nil }
    // A proxy that serves the API under a path does not always rewrite the responses.
    if target.hasPrefix("/v1/"), !target.hasPrefix(prefix + "/") { target = prefix + target }
    if let query = parts.percentEncodedQuery { target += "?" + query }
    return target
  }

  /// The URL of `target`, a path and query in a response; `nil` unless it begins with `path`, or with the server's base
  /// path and `path`. The base path can differ from that of this address: a proxy can add one that the server does not
  /// know, and this client can reach the server without the proxy.
  ///
  /// If the server has a public URL, it states the whole as `stated`, which must end in `target`; `nil` otherwise.
  func url(of target: String, stated: String?, at path: String) -> URL? {
    guard let found = target.range(of: path) else { return nil }
    let base = target[..<found.lowerBound]
    guard base.isEmpty || base.hasPrefix("/"), !base.contains(where: { $0 == "?" || $0 == "#" }) else {
      return nil
    }
    if let stated {
      guard stated.hasSuffix(target), let url = URL(string: stated), url.host != nil,
        ["http", "https"].contains(url.scheme)
      else { return nil }
      return url
    }
    return URL(string: base.isEmpty ? description + target : "\(scheme)://\(authority.text)\(target)")
  }

  /// The address to which `head` redirects, for people; `nil` if it does not redirect. `isServer` is true if the same host
  /// offers this API there.
  func redirection(to head: HTTPResponse) -> (text: String, isServer: Bool)? {
    guard head.status.kind == .redirection, let location = head.headerFields[.location], !location.isEmpty
    else { return nil }
    if let parts = URLComponents(string: location), parts.scheme?.lowercased() == "https", parts.user == nil,
      let host = parts.encodedHost, Authority(host)?.name == authority.name,
      let api = parts.percentEncodedPath.range(of: "/v1/")
    {
      let port = parts.port.map { ":\($0)" } ?? ""
      let text = "https://\(host)\(port)\(parts.percentEncodedPath[..<api.lowerBound])".shown(limit: 200)
      if text != description { return (text, true) }
    }
    // A query can contain secrets.
    return (String(location.prefix { $0 != "?" }).shown(limit: 200), false)
  }

  /// A request for `target`, which the server provided.
  func request(_ method: HTTPRequest.Method, target: String) -> HTTPRequest {
    HTTPRequest(method: method, scheme: scheme, authority: authority.text, path: target)
  }

  private var port: UInt16 { authority.port ?? (scheme == "https" ? 443 : 80) }

  /// A request for the API's `path`; each component is percent-encoded here.
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

/// The sources of time and randomness.
public struct ClientEnvironment: Sendable {
  /// Returns the current time. An ``UploadQueue`` calls it with its lock held, so it must not use the queue.
  public var now: @Sendable () -> Date
  /// Waits, and throws if the task is cancelled.
  public var sleep: @Sendable (Duration) async throws -> Void
  /// Returns a random number from 0 up to, but not including, 1.
  public var random: @Sendable () -> Double

  /// Creates an environment; by default, with the system's clock and random numbers.
  public init(
    now: @escaping @Sendable () -> Date = { Date() },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
  ) {
    self.now = now
    self.sleep = sleep
    self.random = random
  }
}

/// A bearer token (RFC 6750). Its text never appears in descriptions, dumps or mirrors.
struct BearerToken: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private let text: String

  /// Creates a token from 1 to `limit` visible ASCII characters.
  init(_ text: String, limit: Int) throws(SnapshotClientError) {
    guard !text.isEmpty, text.utf8.count <= limit, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw SnapshotClientError(
        .invalidToken, "a token is 1 to \(limit) visible ASCII characters, without spaces or line breaks")
    }
    self.text = text
  }

  /// The `Authorization` field.
  var field: HTTPField {
    var field = HTTPField(name: .authorization, value: "Bearer \(text)")
    field.indexingStrategy = .disallow
    return field
  }

  var description: String { "(token)" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
