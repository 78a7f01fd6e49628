import Foundation
package import HTTPEngine
import HTTPTypes
import Observability
package import SystemIO

/// The users who have signed in at a proxy, which names them in a field of every request, such as `Remote-User`.
///
/// Nothing is kept between requests: each one has the scopes of the groups that it states. So a user who is
/// removed from a group, or signs out at the proxy, loses the scopes with the next request.
package struct TrustedUsers: Sendable, Hashable {
  /// The limits of what a request and the settings state.
  package enum Limits {
    /// The maximum length of a user's name, in bytes.
    package static let nameBytes = 128
    /// The maximum length of the field with the groups, in bytes.
    package static let groupsBytes = 16 << 10
    /// The maximum number of groups with scopes.
    package static let groups = 100
  }

  /// Where requests that state a user may come from.
  package enum Source: Sendable, Hashable {
    /// A Unix socket.
    case unixSocket
    /// A client with a verified certificate, of this common name unless that is `nil`.
    case certificate(commonName: String?)
    /// These addresses, at the other end of the connection.
    case network(AddressBlock)
  }

  /// The name of the field with the user.
  package var header = "Remote-User"
  /// The name of the field with the user's groups, separated by commas; `nil` if there is none.
  package var groupsHeader: String?
  /// Where the fields may come from. Without any, no user is trusted, and the fields have no meaning.
  package var sources: [Source] = []
  /// The scopes of groups. Other groups give none.
  package var scopes: [String: Set<Scope>] = [:]
  /// The scopes of every user.
  package var everybody: Set<Scope> = []

  /// Creates settings with which no user is trusted.
  package init() {}

  /// Whether a user can be trusted.
  package var isEnabled: Bool { !sources.isEmpty }

  /// Returns the user that `request` states; `nil` if it states none. Throws a problem if it does not come from one of
  /// the ``sources``, or states the user in another way than a proxy that is set up correctly.
  func user(of request: HTTPServerRequest) throws(HTTPProblem) -> TrustedUser? {
    guard isEnabled else { return nil }
    let (nameKey, groupsKey) = (header.lowercased(), groupsHeader?.lowercased())
    var (names, groups, isMisspelt) = ([String](), [String](), false)
    for field in request.headerFields {
      let key = field.name.canonicalName
      if key == nameKey {
        names.append(field.value)
      } else if key == groupsKey {
        groups.append(field.value)
      } else if key.utf8.contains(UInt8(ascii: "_")) {
        // Some proxies and servers take both for the same name, so a proxy may have removed only one of them.
        let dashed = key.replacing("_", with: "-")
        if dashed == nameKey || dashed == groupsKey { isMisspelt = true }
      }
    }
    guard !names.isEmpty || !groups.isEmpty || isMisspelt else { return nil }
    guard isFromSource(request) else { throw .userNotTrusted }
    guard !isMisspelt else { throw .malformedUser("A field of the user is there with _ in its name.") }
    guard names.count <= 1, groups.count <= 1 else {
      throw .malformedUser("A field of the user is there twice.")
    }
    guard let name = names.first else { return nil }
    guard Self.isName(name) else {
      throw .malformedUser(
        """
        A user's name has 1 to \(Limits.nameBytes) characters of ASCII, no comma and no control character, and is not \
        ‘(null)’.
        """)
    }
    return TrustedUser(name: name, scopes: try scopes(of: groups.first ?? ""))
  }

  private func isFromSource(_ request: HTTPServerRequest) -> Bool {
    sources.contains { source in
      switch source {
      case .unixSocket: request.connectedAddress == nil
      case .certificate(nil): request.clientCertificate != nil
      case .certificate(let name?): request.clientCertificate?.commonName == name
      case .network(let block): request.connectedAddress.map(block.contains) ?? false
      }
    }
  }

  private func scopes(of groups: String) throws(HTTPProblem) -> Set<Scope> {
    guard groups.utf8.count <= Limits.groupsBytes, groups.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw .malformedUser(
        "A user's groups have at most \(Limits.groupsBytes) bytes, and no control character.")
    }
    return groups.split(separator: ",").reduce(into: everybody) { all, group in
      all.formUnion(scopes[group.trimmingCharacters(in: .whitespaces)] ?? [])
    }
  }

  /// Whether `text` can be a user's name. Letters that look alike would make two users one for people who read logs, so
  /// only ASCII is accepted. A comma joins the values of a field that was there twice, and `(null)` is what Apache sends
  /// for a variable without value.
  private static func isName(_ text: String) -> Bool {
    let bytes = text.utf8
    return (1...Limits.nameBytes).contains(bytes.count) && text != "(null)"
      && bytes.first != UInt8(ascii: " ") && bytes.last != UInt8(ascii: " ")
      && bytes.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ",") }
  }
}

/// A user that a trusted proxy has named.
struct TrustedUser: Sendable, Hashable {
  let name: String
  /// The scopes of the user's groups, and of every user.
  let scopes: Set<Scope>
}

extension TrustedUsers {
  /// Whether a field of this name can state a user: it is a valid name, and no other meaning of it is known.
  package static func isUsable(_ name: String) -> Bool {
    guard let canonical = HTTPField.Name(name)?.canonicalName, !canonical.contains("_") else { return false }
    return !knownNames.contains(canonical) && !knownPrefixes.contains(where: canonical.hasPrefix)
  }

  /// The fields that this server, its protocols or proxies use.
  private static let knownNames: Set<String> = [
    "age", "allow", "alt-svc", "authentication-info", "authorization", "cache-control", "connection",
    "cookie", "date",
    "dnt", "early-data", "etag", "expect", "expires", "forwarded", "from", "host", "http2-settings",
    "idempotency-key",
    "keep-alive", "last-modified", "link", "location", "max-forwards", "origin", "pragma", "prefer",
    "priority", "range",
    "referer", "repr-digest", "digest", "retry-after", "server", "set-cookie", "te", "traceparent",
    "tracestate",
    "trailer", "transfer-encoding", "upgrade", "upgrade-insecure-requests", "user-agent", "vary", "via",
    "want-digest",
    "want-repr-digest", "want-content-digest", "warning", "www-authenticate", "x-http-method-override",
    "x-real-ip",
    "x-request-id", "x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-prefix",
    "x-forwarded-proto",
    "x-forwarded-server", "snapshot-form-token",
  ]
  private static let knownPrefixes = [
    "accept", "access-control-", "content-", "if-", "proxy-", "sec-", "tus-", "upload-",
  ]
}

extension AccessPolicy {
  /// Throws a problem if `request` states a user in a field that a proxy sets, and does not come from that proxy, or
  /// states it in another way than the proxy. Checked for every request, whatever it asks for: otherwise somebody who
  /// tries whether the field is believed would not be noticed.
  package func requireGenuineUser(_ request: HTTPServerRequest) async throws {
    guard let authenticator else { return }
    do {
      _ = try authenticator.user(of: request)
    } catch {
      if ProblemKind(error) == .userNotTrusted {
        try await authenticator.slow(ClientAddress(peer: request.peer))
      }
      throw error
    }
  }

  /// Trusts other users in the following requests.
  package func change(_ users: TrustedUsers) { authenticator?.change(users) }
}
