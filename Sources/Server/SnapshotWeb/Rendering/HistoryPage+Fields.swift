import Observability
import SnapshotAPI
import SnapshotFormat

extension HistoryPage {
  var title: String { "Access history of \(record.shortID)" }

  var fields: Fields {
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
      "action": budget.name(Self.words[event.action] ?? event.action, most: 60),
      "name": event.token.flatMap { tokenNames[$0] }.map { budget.name($0, most: 80) },
      "token": event.token.map { budget.name($0, most: 40) },
      "isLink": event.usesLink,
      "address": event.address.map { budget.name($0, most: 64) },
      "isFailure": event.result != AuditEvent.Result.done.rawValue,
    ]
  }

  /// The names of the actions in the audit log, for people.
  private static let words = [
    "attachSnapshot": "Uploaded", "attachSnapshotAs": "Uploaded", "openUpload": "Started an upload",
    "readUpload": "Read the state of an upload", "appendToUpload": "Uploaded a part",
    "endUpload": "Deleted an upload", "readSnapshot": "Viewed", "fetchBundle": "Downloaded the bundle",
    "listFiles": "Listed the files", "fetchFile": "Opened a file", "fetchFolder": "Downloaded a folder",
    "compareSnapshots": "Compared", "changeSnapshot": "Changed the pin or expiry date",
    "commentOnSnapshot": "Commented", "createLink": "Created a download link", "deleteSnapshot": "Deleted",
    "readHistory": "Viewed this history", "expireByRule": "Deleted by a retention rule",
  ]
}
