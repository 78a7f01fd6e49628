import Observability
import SnapshotAPI
import SnapshotFormat

/// The page `/snapshots/{id}/history`: who attached, read and changed a snapshot, for administrators.
struct HistoryPage: Sendable {
  /// The snapshot.
  var record: SnapshotRecord
  /// The actions on it.
  var trail: AuditTrail
  /// The names of the tokens in the actions, by their ids.
  var tokenNames: [String: String] = [:]
}

extension HistoryPage: Page {
  var template: PageTemplates.Name { .history }
  var title: String { "Access history of \(record.shortID)" }

  func fields(in _: PageFrame) -> Fields {
    var budget = PageBudget()
    var fields: Fields = [
      "short": record.shortID,
      "snapshot": PagePath.snapshot(record.id).description,
      "applicationName": budget.name(record.applicationName, most: 300),
      "report": budget.part(800) { record.reportFields(&$0) },
    ]
    let rows = trail.events.compactMap { row($0, &budget) }
    fields["rows"] = rows
    fields["hasRows"] = !rows.isEmpty
    fields["isIncomplete"] = trail.isIncomplete
    fields["isCut"] = trail.isCut || rows.count < trail.events.count
    return fields
  }

  private func row(_ event: AuditTrail.Event, _ budget: inout PageBudget) -> Fields? {
    guard budget.take(260) else { return nil }
    return [
      "time": Measures.timeFields(event.time),
      "action": budget.name(AuditAction(rawValue: event.action)?.words ?? event.action, most: 60),
      "name": event.token.flatMap { tokenNames[$0] }.map { budget.name($0, most: 80) },
      "user": event.user.map { budget.name($0, most: 128) },
      "token": event.token.map { budget.name($0, most: 40) },
      "isLink": event.usesLink,
      "address": event.address.map { budget.name($0, most: 64) },
      "isFailure": event.result != AuditEvent.Result.done.rawValue,
    ]
  }
}

extension AuditAction {
  /// The action for people.
  fileprivate var words: String {
    switch self {
    case .attachSnapshot, .attachSnapshotAs: "Uploaded"
    case .openUpload: "Started an upload"
    case .readUpload, .readResumableUpload: "Read the state of an upload"
    case .useUpload: "Changed an upload"
    case .appendToUpload, .appendToResumableUpload: "Uploaded a part"
    case .endUpload, .endResumableUpload: "Deleted an upload"
    case .listSnapshots, .listReport: "Listed snapshots"
    case .readSnapshot: "Viewed"
    case .fetchBundle: "Downloaded the bundle"
    case .listFiles: "Listed the files"
    case .fetchFile: "Opened a file"
    case .fetchFolder: "Downloaded a folder"
    case .changeSnapshot: "Changed the pin or expiry date"
    case .commentOnSnapshot: "Commented"
    case .createLink: "Created a download link"
    case .createAttachLink: "Created a link to attach"
    case .listAttachLinks: "Listed the links to attach"
    case .revokeAttachLink: "Revoked a link to attach"
    case .openAttachLink: "Opened a link to attach"
    case .deleteSnapshot: "Deleted"
    case .planExpirations, .expire: "Applied the retention rules"
    case .readScrub, .scrub: "Verified all bundles"
    case .readReindex, .reindex: "Rebuilt the catalogue"
    case .readMetrics: "Read the metrics"
    case .listWebhooks, .listDeliveries: "Read the state of the webhooks"
    case .testWebhook: "Sent a test event"
    case .redeliver: "Sent events again"
    case .signIn: "Signed in"
    case .signOut: "Signed out"
    case .compareSnapshots: "Compared"
    case .searchContents: "Searched the contents"
    case .readHistory: "Viewed this history"
    case .stateUser: "Stated a user"
    case .expireByRule: "Deleted by a retention rule"
    }
  }
}
