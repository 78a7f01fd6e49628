public import Foundation
public import SnapshotFormat

/// A snapshot, identified by a text that a person pastes or clicks.
///
/// The text can be a UUID, also with the ending `.zip` of a downloaded bundle, the address of a snapshot on a server (of
/// its bundle, record or page, or of a page below it), or a link that an app opens: `snapshots://activate/UUID`,
/// optionally with the server's address in the query parameter `server`. White space, invisible characters, letter case, surrounding quotes and brackets, and typographic dashes are ignored.
public struct SnapshotReference: Sendable, Hashable {
  /// The maximum length of a text in UTF-8 bytes.
  public static let maximumLength = 2048

  /// The snapshot's UUID.
  public let id: SnapshotID
  /// The `http` or `https` address of the server, without the API's path; `nil` if the text contains no server.
  public let server: URL?
  /// The expiry time and signature of a link that works without a token; `nil` if the text is not such a link. They
  /// give access to the bundle, so they must not be logged.
  public let link: Link?

  /// The parameters that authorize a link.
  public struct Link: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    let expires: String
    let signature: String

    /// `(link)`, so that the signature is never printed.
    public var description: String { "(link)" }
    /// An empty mirror.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
  }

  /// The reason why a text does not identify a snapshot.
  public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text is empty.
    case empty
    /// The text is longer than ``SnapshotReference/maximumLength``.
    case tooLong
    /// The text is neither a UUID nor an address that contains one.
    case unreadable(String)
    /// The link's server is not an `http` or `https` address.
    case malformedServer(String)

    /// A sentence that describes the problem and the expected form.
    public var description: String {
      switch self {
      case .empty: "The text is empty. \(Self.example)"
      case .tooLong: "The text is too long to be a UUID or an address. \(Self.example)"
      case .unreadable(let text):
        "‘\(abridged(text))’ is neither a UUID nor the address of a snapshot. \(Self.example)"
      case .malformedServer(let text):
        "The link names the server ‘\(abridged(text))’, which is not an http or https address."
      }
    }

    private static let example = "A UUID looks like 3f2b6c1e-8d4a-4b5f-9c0d-1e2f3a4b5c6d."

    private func abridged(_ text: String) -> String { text.count > 100 ? text.prefix(100) + "…" : text }
  }

  /// Creates a reference to the snapshot `id`, without a server by default.
  public init(_ id: SnapshotID, server: URL? = nil) { self.init(id, server: server, link: nil) }

  private init(_ id: SnapshotID, server: URL?, link: Link?) {
    self.id = id
    self.server = server
    self.link = link
  }

  /// Parses a text, for example from the clipboard.
  public init(_ text: String) throws(Refusal) {
    guard text.utf8.count <= Self.maximumLength else { throw .tooLong }
    let visible = String(String.UnicodeScalarView(text.unicodeScalars.filter(Self.isVisible)))
    let bare = visible.trimming { "<>\"'`‘’‚“”„«»()[]{}.,;".contains($0) }
    guard !bare.isEmpty else { throw .empty }
    if let id = Self.id(file: bare) {
      self.init(id)
    } else if let parts = URLComponents(string: bare), let scheme = parts.scheme?.lowercased() {
      switch scheme {
      case "http", "https": try self.init(address: parts, bare)
      case "snapshots": try self.init(link: parts, bare)
      default: throw .unreadable(bare)
      }
    } else {
      throw .unreadable(bare)
    }
  }

  /// Parses `https://host/prefix/v1/snapshots/UUID.zip` and the similar addresses of records and pages. What follows the
  /// UUID can be the path of a file in the bundle, which can look like an address itself.
  private init(address: URLComponents, _ text: String) throws(Refusal) {
    var path = address.percentEncodedPath.split(separator: "/").map(String.init)
    guard address.host?.isEmpty == false, address.user == nil, address.password == nil,
      let place = path.indices.dropFirst().first(where: {
        path[$0 - 1] == "snapshots" && Self.id(file: path[$0]) != nil
      }),
      let id = Self.id(file: path[place])
    else { throw .unreadable(text) }
    path.removeSubrange((place - 1)...)
    if path.count >= 2, path[path.count - 2] == "reports" { path.removeLast(2) }
    if path.last == "v1" { path.removeLast() }
    var server = address
    (server.query, server.fragment) = (nil, nil)
    server.scheme = address.scheme?.lowercased()
    server.percentEncodedPath = path.map { "/" + $0 }.joined()
    guard let url = server.url else { throw .unreadable(text) }
    self.init(id, server: url, link: Self.link(address.queryItems))
  }

  private static func link(_ query: [URLQueryItem]?) -> Link? {
    func value(_ name: String) -> String? { query?.first { $0.name == name }?.value }
    guard let expires = value("expires"), let signature = value("signature") else { return nil }
    return Link(expires: expires, signature: signature)
  }

  /// Parses `snapshots://activate/UUID?server=…`.
  private init(link: URLComponents, _ text: String) throws(Refusal) {
    let path = link.path.split(separator: "/")
    guard link.host?.lowercased() == "activate", path.count == 1, let id = Self.id(String(path[0])) else {
      throw .unreadable(text)
    }
    guard let server = link.queryItems?.first(where: { $0.name == "server" })?.value else {
      self.init(id)
      return
    }
    guard let url = URL(string: server), ["http", "https"].contains(url.scheme?.lowercased()),
      url.host()?.isEmpty == false
    else { throw .malformedServer(server) }
    self.init(id, server: url)
  }

  private static func id(file name: String) -> SnapshotID? {
    id(name.lowercased().hasSuffix(".zip") ? String(name.dropLast(4)) : name)
  }

  private static func id(_ text: String) -> SnapshotID? {
    var text = text.lowercased()
    if text.hasPrefix("urn:uuid:") { text.removeFirst("urn:uuid:".count) }
    text = String(
      text.map { "\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2212}".contains($0) ? "-" : $0 })
    if let id = SnapshotID(text) { return id }
    guard text.utf8.count == 32, !text.contains("-") else { return nil }
    var groups: [Substring] = []
    var rest = Substring(text)
    for length in [8, 4, 4, 4, 12] {
      groups.append(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return SnapshotID(groups.joined(separator: "-"))
  }

  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    return !properties.isWhitespace && properties.generalCategory != .format
      && properties.generalCategory != .control
  }
}

extension String {
  fileprivate func trimming(while isTrimmed: (Character) -> Bool) -> String {
    let head = drop(while: isTrimmed)
    guard let last = head.lastIndex(where: { !isTrimmed($0) }) else { return "" }
    return String(head[...last])
  }
}

extension SnapshotAPIClient {
  /// The address of the server's API as text.
  public var server: String { address.description }

  /// Whether `reference` is on this client's server, or has no server. All loopback hosts count as the same server.
  public func serves(_ reference: SnapshotReference) -> Bool {
    guard let server = reference.server else { return true }
    do { return try ServerAddress(server).isSame(as: address) } catch { return false }
  }
}
