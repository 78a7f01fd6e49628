package import HTTPEngine
package import HTTPTypes
package import Observability
package import SnapshotFormat
package import SnapshotStore

/// The caller of a request, and its rights.
///
/// ``Permission`` decides whether a call is admitted, before anything is looked up. After the lookup, an action checks
/// the caller's rights for the record found. If the caller has none, the response is the same as if the record did not
/// exist.
package struct Caller: Sendable {
  /// How the caller was authenticated.
  package enum Credential: Sendable, Hashable {
    /// Not authenticated: the store has no tokens yet, or the call needs no permission.
    case none
    /// With the token of this id.
    case token(String)
    /// As the user of this name, whom a trusted proxy has named.
    case user(String)
    /// With a link to the bundle of this snapshot.
    case link(SnapshotID)

    /// What ``Caller/account`` begins with for a user.
    private static let userPrefix = "user:"

    /// The credential of the caller with this ``Caller/account``.
    package init(account: String?) {
      guard let account else {
        self = .none
        return
      }
      let isUser = account.hasPrefix(Self.userPrefix)
      self = isUser ? .user(String(account.dropFirst(Self.userPrefix.count))) : .token(account)
    }

    fileprivate var account: String? {
      switch self {
      case .token(let id): id
      case .user(let name): Self.userPrefix + name
      case .none, .link: nil
      }
    }
  }

  /// How the caller was authenticated.
  package let credential: Credential
  /// The calls that the caller is allowed to make.
  package let scopes: Set<Scope>
  /// The reports and applications to which the caller is limited.
  package let limits: CallerLimits
  /// The name of the caller's token or of the user, for people; `nil` for a token without name and other callers.
  package var name: String?
  /// The address of the client.
  package let address: ClientAddress
  /// The link to attach whose token the caller has; `nil` for another caller.
  package var link: LinkUse?
  /// Fields to add to every response to the caller.
  package var answerFields: HTTPFields = [:]
  /// Counts the bytes that the caller uploads.
  package var meter = UploadMeter.none
  /// Throws a problem if the caller's token is no longer valid. A call can outlive its token, so it checks this before
  /// it changes anything.
  package var requireValid: @Sendable () async throws(HTTPProblem) -> Void = {}

  /// Creates a caller from its parts.
  package init(
    _ credential: Credential, scopes: Set<Scope>, limits: CallerLimits = CallerLimits(),
    address: ClientAddress
  ) {
    self.credential = credential
    self.scopes = scopes
    self.limits = limits
    self.address = address
  }

  /// Returns a caller of an open store, which has all rights.
  package static func anybody(at address: ClientAddress) -> Caller {
    Caller(.none, scopes: everything, address: address)
  }

  private static let everything = Set(Scope.allCases)

  /// The caller's address as used for counting: addresses that share limits have the same text.
  package var countedAddress: String { address.counted }

  /// The id of the caller's token; `nil` for a caller without token.
  package var token: String? {
    if case .token(let id) = credential { id } else { nil }
  }

  /// The name of the user whom a trusted proxy has named; `nil` for other callers.
  package var user: String? {
    if case .user(let name) = credential { name } else { nil }
  }

  /// Whose snapshots, uploads, comments and quotas the caller's are: the id of the caller's token, or `user:` and the name
  /// of the user, which is no id of a token; `nil` for other callers. Records contain it.
  package var account: String? { credential.account }

  /// Whether the caller can make a call that needs `permission`.
  package func may(_ permission: Permission) -> Bool {
    if case .link = credential, permission == .bundle { return true }
    return permission == .open || scopes.contains { $0.allows(permission) }
  }

  /// Throws if the caller is limited to some snapshots. For calls that concern all snapshots.
  package func requireUnlimited() throws(HTTPProblem) {
    guard limits.isUnlimited else { throw HTTPProblem.limitedCaller }
  }

  /// Whether the caller can attach snapshots to `report`.
  package func mayAttach(to report: ReportID) -> Bool {
    may(.attach) && limits.include(report) && (link.map { $0.report == report } ?? true)
  }

  /// Whether the caller can read the snapshot of `record`.
  package func mayRead(_ record: SnapshotRecord) -> Bool {
    if case .link(let id) = credential { return id == record.id }
    return may(.read) && limits.include(record)
  }

  /// Whether the caller can see the status of the snapshot of `record`.
  package func maySeeStatus(of record: SnapshotRecord) -> Bool {
    if let account, record.attachedBy == account { return may(.status) }
    return mayRead(record)
  }

  /// Whether the caller can comment on the snapshot of `record`.
  package func mayComment(on record: SnapshotRecord) -> Bool { may(.comment) && limits.include(record) }

  /// Whether the caller can delete the snapshot of `record`.
  package func mayDelete(_ record: SnapshotRecord) -> Bool { may(.delete) && limits.include(record) }

  /// Whether the caller can learn that a snapshot was deleted. The report and application of a deleted snapshot are not
  /// known any more, so only callers without limits can, and those with a link to it.
  package var mayKnowDeleted: Bool {
    if case .link = credential { return true }
    return (may(.read) || may(.delete)) && limits.isUnlimited
  }
}

/// The limits of a caller; `nil` means no limit.
package struct CallerLimits: Sendable, Hashable, Codable {
  /// Only reports whose id starts with one of these prefixes.
  package var reportPrefixes: Set<String>?
  /// Only snapshots of the applications with these identifiers.
  package var applications: Set<String>?

  /// Creates limits; by default there are none.
  package init(reportPrefixes: Set<String>? = nil, applications: Set<String>? = nil) {
    self.reportPrefixes = reportPrefixes
    self.applications = applications
  }

  /// Whether there are no limits.
  package var isUnlimited: Bool { reportPrefixes == nil && applications == nil }

  /// Whether `report` is within the limits.
  package func include(_ report: ReportID) -> Bool {
    reportPrefixes.map { $0.contains { report.description.hasPrefix($0) } } ?? true
  }

  /// Whether the snapshot of `record` is within the limits.
  package func include(_ record: SnapshotRecord) -> Bool {
    include(record.report) && (applications?.contains(record.application.identifier) ?? true)
  }
}

extension Caller {
  /// Returns the result of `find` if it is `visible`. Otherwise throws ``StoreError/notFound``, as for a snapshot that
  /// does not exist.
  package func lookUp<Found>(
    _ find: () async throws(StoreError) -> Found, visible: (Found) -> Bool = { _ in true }
  ) async throws(StoreError) -> Found {
    let found: Found
    do {
      found = try await find()
    } catch {
      if case .deleted = error, !mayKnowDeleted { throw .notFound }
      throw error
    }
    guard visible(found) else { throw .notFound }
    return found
  }

  /// Returns `attachment` with the caller's current rights. Throws ``UploadError/forbidden`` if the caller can't attach
  /// it.
  package func authorize(_ attachment: Attachment) throws(UploadError) -> Attachment {
    guard mayAttach(to: attachment.report) else {
      throw link == nil ? .forbidden : .body(HTTPProblem.tokenRefused)
    }
    var attachment = attachment
    attachment.attachedBy = account
    attachment.applications = limits.applications
    return attachment
  }

  /// Returns the record that already has the UUID of `attachment`, or `nil`.
  ///
  /// If the caller is not allowed to know about the snapshot, throws an error that says that the UUID is taken. The
  /// error is the same whether the snapshot exists or was deleted, and does not depend on the conditions of the
  /// request.
  package func existing(
    under attachment: Attachment, _ find: () async throws(StoreError) -> SnapshotRecord?
  ) async throws(StoreError) -> SnapshotRecord? {
    let found: SnapshotRecord?
    do {
      found = try await find()
    } catch {
      throw concealing(error, attachment)
    }
    guard let found else { return nil }
    let isOwn = link == nil && found.report == attachment.report && limits.include(found)
    guard isOwn || maySeeStatus(of: found) else { throw attachment.taken }
    return found
  }

  /// Returns the error to send instead of `error`. A caller that can't learn by reading that a snapshot was deleted
  /// must not learn it by attaching.
  package func concealing(_ error: StoreError, _ attachment: Attachment) -> StoreError {
    guard case .deleted = error, !mayKnowDeleted else { return error }
    return attachment.taken
  }

  /// Returns the part of `record` that the caller is allowed to see. A caller that can only see a snapshot's status
  /// does not see its metadata and comments, nor the token and the manifest's UUID of what others attached.
  package func view(of record: SnapshotRecord) -> SnapshotRecord {
    guard !mayRead(record) else { return record }
    var record = record
    record.metadata = [:]
    record.comments = nil
    if record.attachedBy != account { (record.attachedBy, record.manifestID) = (nil, nil) }
    return record
  }
}

extension Page {
  /// Returns the page with only the `visible` records. The position of the next page does not change.
  package func filtered(_ visible: (SnapshotRecord) -> Bool) -> Page {
    Page(records: records.filter(visible), next: next)
  }
}
