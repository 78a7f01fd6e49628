public import Foundation
public import SnapshotFormat

/// The snapshot that a person means by what they paste or click.
///
/// Taken are a UUID, the address of a snapshot on a server (of its bundle, its record or its page), and a link that an
/// app opens, `snapshots://activate/UUID`, with the server's address as its query `server` where that matters. White
/// space anywhere, capitals, quotes and brackets around it, typographic dashes, and what mail programs put in
/// unseen, make no difference.
public struct SnapshotReference: Sendable, Hashable {
  /// The most UTF-8 bytes that a text may have.
  public static let maximumLength = 2048

  /// The snapshot.
  public let id: SnapshotID
  /// The server that the text names: an `http` or `https` address without the API's path; `nil` where it names none.
  public let server: URL?
  /// What makes the address a link that works without a token: its time and signature; `nil` for any other. Whoever
  /// has it has the bundle, so it belongs into no log.
  public let link: Link?

  /// The part of a link that opens it.
  public struct Link: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    let expires: String
    let signature: String

    /// `(link)`: the signature never shows itself in print.
    public var description: String { "(link)" }
    /// Empty.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
  }

  /// Why a text means no snapshot, in words for whoever gave it.
  public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is nothing to read.
    case empty
    /// It is longer than ``SnapshotReference/maximumLength``.
    case tooLong
    /// It is neither a UUID nor an address with one in its place.
    case unreadable(String)
    /// The link names a server by something else than an `http` or `https` address.
    case malformedServer(String)

    /// A sentence that says what is wrong, and what would be right.
    public var description: String {
      switch self {
      case .empty: "Nothing was given. \(Self.example)"
      case .tooLong: "That is too long to be a UUID or an address. \(Self.example)"
      case .unreadable(let text):
        "‘\(abridged(text))’ is neither a UUID nor the address of a snapshot. \(Self.example)"
      case .malformedServer(let text):
        "The link names the server ‘\(abridged(text))’, which is no http or https address."
      }
    }

    private static let example = "A UUID looks like 3f2b6c1e-8d4a-4b5f-9c0d-1e2f3a4b5c6d."

    private func abridged(_ text: String) -> String { text.count > 100 ? text.prefix(100) + "…" : text }
  }

  /// The snapshot `id`, on no server in particular unless one is given.
  public init(_ id: SnapshotID, server: URL? = nil) { self.init(id, server: server, link: nil) }

  private init(_ id: SnapshotID, server: URL?, link: Link?) {
    self.id = id
    self.server = server
    self.link = link
  }

  /// Reads what was pasted, or throws what is wrong with it.
  public init(_ text: String) throws(Refusal) {
    guard text.utf8.count <= Self.maximumLength else { throw .tooLong }
    let visible = String(String.UnicodeScalarView(text.unicodeScalars.filter(Self.isVisible)))
    let bare = visible.trimming { "<>\"'`‘’‚“”„«»()[]{}.,;".contains($0) }
    guard !bare.isEmpty else { throw .empty }
    if let id = Self.id(bare) {
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

  /// `https://host/prefix/v1/snapshots/UUID.zip` and its kin.
  private init(address: URLComponents, _ text: String) throws(Refusal) {
    var path = address.percentEncodedPath.split(separator: "/").map(String.init)
    guard address.host?.isEmpty == false, address.user == nil, address.password == nil,
      let place = path.indices.dropFirst().last(where: {
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

  /// `snapshots://activate/UUID?server=…`.
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
