package import HTTPEngine
package import HTTPTypes
package import Observability
package import SnapshotFormat

/// Who makes a call, and what it may see and do.
///
/// ``Permission`` decides whether a call is admitted at all, before anything is looked up. What it is about is
/// asked here then: an action answers with a record, or does anything to it, only where the caller may, and else
/// as if there were none.
package struct Caller: Sendable {
  /// What the caller came in by.
  package enum Credential: Sendable, Hashable {
    /// Nothing: the store has no tokens yet, or the call is open to all.
    case none
    /// The token of this id.
    case token(String)
    /// A link to the bundle of this snapshot.
    case link(SnapshotID)
  }

  /// What the caller came in by.
  package let credential: Credential
  /// What it may be used for.
  package let scopes: Set<Scope>
  /// What it is limited to.
  package let limits: CallerLimits
  /// The address that the request came from, without its port.
  package let address: String
  /// What every answer to the caller carries.
  package var answerFields: HTTPFields = [:]
  /// Counts what the caller uploads.
  package var meter = UploadMeter.none
  /// Throws the problem that says why the caller's token is no longer valid: a call may last longer than its token, and
  /// asks before it changes anything.
  package var requireValid: @Sendable () async throws(HTTPProblem) -> Void = {}

  /// A caller by its parts.
  package init(
    _ credential: Credential, scopes: Set<Scope>, limits: CallerLimits = CallerLimits(), address: String
  ) {
    self.credential = credential
    self.scopes = scopes
    self.limits = limits
    self.address = address
  }

  /// Who comes where everybody may do everything.
  package static func anybody(at address: ClientAddress) -> Caller {
    Caller(.none, scopes: everything, address: address.description)
  }

  private static let everything = Set(Scope.allCases)

  /// What counts as one address with the caller's.
  package var countedAddress: String { ClientAddress(peer: address).counted }

  /// The id of the caller's token; `nil` for one that came without.
  package var token: String? {
    if case .token(let id) = credential { id } else { nil }
  }

  /// Whether the caller may make a call that needs `permission`.
  package func may(_ permission: Permission) -> Bool {
    if case .link = credential, permission == .bundle { return true }
    return permission == .open || scopes.contains { $0.allows(permission) }
  }

  /// Throws where the caller may see only some snapshots, for calls that are about all of them.
  package func requireUnlimited() throws(HTTPProblem) {
    guard limits.areNone else { throw HTTPProblem.limitedCaller }
  }

  /// Whether the caller may attach to `report`.
  package func mayAttach(to report: ReportID) -> Bool { may(.attach) && limits.include(report) }

  /// Whether the caller may read the snapshot of `record`.
  package func mayRead(_ record: SnapshotRecord) -> Bool {
    if case .link(let id) = credential { return id == record.id }
    return may(.read) && limits.include(record)
  }

  /// Whether the caller may know how the snapshot of `record` fares.
  package func maySeeStatus(of record: SnapshotRecord) -> Bool {
    if let token, record.attachedBy == token { return may(.status) }
    return mayRead(record)
  }

  /// Whether the caller may delete the snapshot of `record`.
  package func mayDelete(_ record: SnapshotRecord) -> Bool { may(.delete) && limits.include(record) }

  /// Whether the caller may be told that a snapshot was there and was deleted: nobody knows any more whose it was,
  /// so only those are told who are limited to nothing.
  package var mayKnowDeleted: Bool {
    if case .link = credential { return true }
    return (may(.read) || may(.delete)) && limits.areNone
  }
}

/// What a caller is limited to: `nil` is no limit.
package struct CallerLimits: Sendable, Hashable, Codable {
  /// Beginnings of the ids of reports: only those of which one begins with one of them.
  package var reportPrefixes: Set<String>?
  /// Identifiers of applications: only snapshots of these.
  package var applications: Set<String>?

  /// Limits; none unless told otherwise.
  package init(reportPrefixes: Set<String>? = nil, applications: Set<String>? = nil) {
    self.reportPrefixes = reportPrefixes
    self.applications = applications
  }

  /// Whether nothing is limited.
  package var areNone: Bool { reportPrefixes == nil && applications == nil }

  /// Whether `report` is within the limits.
  package func include(_ report: ReportID) -> Bool {
    reportPrefixes.map { $0.contains { report.description.hasPrefix($0) } } ?? true
  }

  /// Whether the snapshot of `record` is within the limits.
  package func include(_ record: SnapshotRecord) -> Bool {
    include(record.report) && (applications?.contains(record.application.identifier) ?? true)
  }
}
