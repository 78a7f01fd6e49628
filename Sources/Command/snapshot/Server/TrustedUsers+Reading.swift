import AccessControl
import Foundation
import SnapshotServer
import SystemIO

extension TrustedUsers {
  /// Every setting below `server.trustedUser`.
  static let settings: [Setting<TrustedUsers>] = [
    .init(name: "header", wanted: "the name of a field without another meaning, such as Remote-User") {
      users, text in
      guard isUsable(text) else { return false }
      users.header = text
      return true
    },
    .init(name: "groups", wanted: "the name of a field without another meaning, such as Remote-Groups") {
      users, text in
      guard text.isEmpty || isUsable(text) else { return false }
      users.groupsHeader = text.isEmpty ? nil : text
      return true
    },
    .init(
      name: "from",
      wanted:
        "unix, mtls, mtls:NAME with the common name of a certificate, addresses and blocks like 10.0.0.0/8, "
        + "separated by commas"
    ) { users, text in
      guard let sources = all(list(text).map(source)) else { return false }
      users.sources = sources
      return true
    },
    .init(
      name: "scopes",
      wanted: "at most \(Limits.groups) entries like developers=read comment, separated by commas, each with "
        + "some of \(scopeNames)"
    ) { users, text in
      guard let scopes = groups(text) else { return false }
      users.scopes = scopes
      return true
    },
    .init(name: "everybody", wanted: "some of \(scopeNames), separated by commas") { users, text in
      guard let scopes = all(list(text).map(Scope.init(rawValue:))) else { return false }
      users.everybody = Set(scopes)
      return true
    },
  ]

  private static let scopeNames = Scope.allCases.map(\.rawValue).joined(separator: ", ")

  private static func list(_ text: String) -> [String] {
    guard !text.isEmpty else { return [] }
    return text.split(separator: ",", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }

  /// Returns the values; `nil` if one of them is `nil`.
  private static func all<Value>(_ values: [Value?]) -> [Value]? {
    let known = values.compactMap { $0 }
    return known.count == values.count ? known : nil
  }

  private static func source(_ text: String) -> Source? {
    switch text {
    case "unix": return .unixSocket
    case "mtls": return .certificate(commonName: nil)
    default:
      let prefix = "mtls:"
      if text.hasPrefix(prefix), text.count > prefix.count {
        return .certificate(commonName: String(text.dropFirst(prefix.count)))
      }
      // A block of all addresses would trust everybody.
      return text.hasSuffix("/0") ? nil : AddressBlock(text).map(Source.network)
    }
  }

  /// Parses `GROUP=SCOPE SCOPE, …`, each group at most once. The name of a group can contain `=`.
  private static func groups(_ text: String) -> [String: Set<Scope>]? {
    var groups: [String: Set<Scope>] = [:]
    for entry in list(text) {
      guard let sign = entry.lastIndex(of: "=") else { return nil }
      let group = entry[..<sign].trimmingCharacters(in: .whitespaces)
      let names = entry[entry.index(after: sign)...].split(separator: " ").map(String.init)
      guard !group.isEmpty, groups[group] == nil, !names.isEmpty, let scopes = all(names.map(Scope.init))
      else { return nil }
      groups[group] = Set(scopes)
    }
    return groups.count <= Limits.groups ? groups : nil
  }
}

extension ServerSettings {
  /// A sentence about settings of `server.trustedUser` that do not fit each other or others; `nil` if all do.
  var trustedUserProblem: String? {
    let users = trustedUser
    if users.header.lowercased() == users.groupsHeader?.lowercased() {
      return "The settings server.trustedUser.header and server.trustedUser.groups name the same field."
    }
    guard users.isEnabled else {
      guard users == TrustedUsers() else {
        return "The settings of server.trustedUser have no effect without server.trustedUser.from."
      }
      return nil
    }
    if users.scopes.isEmpty, users.everybody.isEmpty {
      return
        "The setting server.trustedUser.from lets nobody do anything without scopes or everybody beside it."
    }
    if !users.scopes.isEmpty, users.groupsHeader == nil {
      return
        "The setting server.trustedUser.scopes needs server.trustedUser.groups, the field with the groups."
    }
    if insecure {
      return "The settings server.insecure and server.trustedUser.from exclude each other."
    }
    if proxyProtocol, users.sources.contains(where: { !$0.isCertificate }) {
      return """
        The setting server.trustedUser.from can only have mtls with server.proxyProtocol: the other end of a connection \
        is then the client, and not the proxy.
        """
    }
    if tls.clientAuthorities == nil, users.sources.contains(where: \.isCertificate) {
      return "The setting server.trustedUser.from has mtls, which needs server.tls.clientAuthorities."
    }
    return nil
  }
}

extension TrustedUsers.Source {
  fileprivate var isCertificate: Bool { if case .certificate = self { true } else { false } }
}
