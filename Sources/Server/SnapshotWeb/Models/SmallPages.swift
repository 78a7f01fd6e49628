package import Foundation
package import Observability
import SnapshotAPI
package import SnapshotFormat

/// The page after a link to a bundle was created.
package struct LinkPage: Sendable, Hashable {
  /// The snapshot.
  package var record: SnapshotRecord
  /// The link, including the server's origin.
  package var link: String
  /// The time at which the link expires.
  package var expiresAt: Date

  /// Creates a page.
  package init(record: SnapshotRecord, link: String, expiresAt: Date) {
    self.record = record
    self.link = link
    self.expiresAt = expiresAt
  }
}

/// The page about a problem.
package struct ProblemPage: Sendable, Hashable {
  /// The status of the response.
  package var status: Int
  /// The problem's title.
  package var title: String
  /// A description in one or two sentences.
  package var detail: String
  /// The request's id, as in the server's log.
  package var requestID: String?

  /// Creates a page.
  package init(status: Int, title: String, detail: String, requestID: String? = nil) {
    self.status = status
    self.title = title
    self.detail = detail
    self.requestID = requestID
  }
}

/// The page `/sign-in`, with a form for a token.
package struct SignInPage: Sendable, Hashable {
  /// The destination after signing in: a path on this server.
  package var next: String
  /// A sentence about why signing in is necessary, or why the token was rejected.
  package var reason: String?
  /// Whether ``reason`` is about a rejected token.
  package var isMistake: Bool

  /// Creates a page.
  package init(next: String = "/", reason: String? = nil, isMistake: Bool = false) {
    self.next = next
    self.reason = reason
    self.isMistake = isMistake
  }
}

/// The page after signing out.
package struct SignedOutPage: Sendable, Hashable {
  /// Creates a page.
  package init() {}
}

/// The page `/snapshots/{id}/history`: who attached, read and changed a snapshot, for administrators.
package struct HistoryPage: Sendable {
  /// The snapshot.
  package var record: SnapshotRecord
  /// The actions on it.
  package var trail: AuditTrail
  /// The names of the tokens in the actions, by their ids.
  package var tokenNames: [String: String]

  /// Creates a page.
  package init(record: SnapshotRecord, trail: AuditTrail, tokenNames: [String: String] = [:]) {
    self.record = record
    self.trail = trail
    self.tokenNames = tokenNames
  }
}
