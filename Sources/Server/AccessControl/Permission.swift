/// What a call of the API needs; every route has one.
package enum Permission: String, Sendable, Hashable, CaseIterable {
  /// Nothing: anybody may ask.
  case open
  /// To attach snapshots.
  case attach
  /// To read a snapshot's status: what reads or administers may, and what attached it.
  case status
  /// To download a snapshot's bundle: what may read, and who has a link to it.
  case bundle
  /// To read snapshots and lists of them.
  case read
  /// To delete snapshots.
  case delete
  /// To look after the server.
  case admin
}

/// What a token may be used for.
package enum Scope: String, Sendable, Hashable, Codable, CaseIterable {
  /// To attach snapshots and to see the status of those: what ships inside an app.
  case attach
  /// To read snapshots and lists of them.
  case read
  /// To delete snapshots.
  case delete
  /// Everything.
  case admin

  /// Whether a token of this scope may make a call that needs `permission`.
  package func allows(_ permission: Permission) -> Bool {
    switch (self, permission) {
    case (_, .open), (.admin, _): true
    case (.attach, .attach), (.attach, .status): true
    case (.read, .read), (.read, .bundle), (.read, .status): true
    case (.delete, .delete): true
    case (.attach, _), (.read, _), (.delete, _): false
    }
  }
}
