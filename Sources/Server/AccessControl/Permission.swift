import HTTPSemantics
import HTTPTypes

/// The permission that a call of the API needs. Every route has one.
package enum Permission: String, Sendable, Hashable, CaseIterable {
  /// No permission.
  case open
  /// To attach snapshots.
  case attach
  /// To read a snapshot's status. Allowed for the scopes read and admin, and for the token that attached the snapshot.
  case status
  /// To download a snapshot's bundle. Allowed with permission to read, and with a link to the bundle.
  case bundle
  /// To read snapshots and lists of them.
  case read
  /// To comment on snapshots.
  case comment
  /// To delete snapshots.
  case delete
  /// To administer the server.
  case admin
}

/// A scope of a token, which allows a set of calls.
package enum Scope: String, Sendable, Hashable, Codable, CaseIterable {
  /// To attach snapshots and see their status: for tokens in distributed apps.
  case attach
  /// To read snapshots and lists of them.
  case read
  /// To comment on snapshots.
  case comment
  /// To delete, pin and comment on snapshots.
  case delete
  /// To make every call.
  case admin

  /// Whether the scope allows calls that need `permission`.
  package func allows(_ permission: Permission) -> Bool {
    switch (self, permission) {
    case (_, .open), (.admin, _): true
    case (.attach, .attach), (.attach, .status): true
    case (.read, .read), (.read, .bundle), (.read, .status): true
    case (.comment, .comment): true
    case (.delete, .delete), (.delete, .comment): true
    case (.attach, _), (.read, _), (.comment, _), (.delete, _): false
    }
  }
}

/// The credentials in a request's `Authorization` field.
enum Authorization: Sendable {
  /// The field is missing.
  case none
  /// A token with the right format.
  case token(TokenSecret)
  /// The field has no token with the right format.
  case malformed

  /// Whether there is a token with the right format.
  var isToken: Bool { if case .token = self { true } else { false } }

  /// Reads `Authorization: Bearer TOKEN` (RFC 6750 §2.1), the scheme in any case (RFC 9110 §11.1).
  init(_ fields: HTTPFields) {
    guard let value = fields[.authorization] else {
      self = .none
      return
    }
    let parts = value.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer",
      let secret = TokenSecret(String(parts[1].drop { $0 == " " }))
    else {
      self = .malformed
      return
    }
    self = .token(secret)
  }

  /// Reads a token that a user pasted. Ignores white space, and quotes around it.
  init(pasted text: String) {
    let text = text.filter { !$0.isWhitespace }.trimmedSecret
    self = text.isEmpty ? .none : TokenSecret(text).map(Authorization.token) ?? .malformed
  }
}
