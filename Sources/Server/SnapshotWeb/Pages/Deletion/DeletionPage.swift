import SnapshotAPI
import SnapshotFormat

/// The page `/delete`: the snapshots that a search finds, and a form that deletes exactly these.
struct DeletionPage: Sendable {
  /// The maximum number of snapshots that one form deletes.
  static let maximum = 500
  /// The maximum size of the form, in bytes: the UUIDs, and the path of the search.
  static let formBytes: Int64 = 32 << 10

  /// The search.
  var search: SearchForm
  /// The snapshots, newest first; at most ``maximum``.
  var records: [SnapshotRecord]
  /// Whether the search finds more.
  var hasMore: Bool

  /// The value of ``PageField/snapshots``.
  static func text(of ids: [SnapshotID]) -> String { ids.map(\.description).joined(separator: " ") }

  /// Parses a value of ``PageField/snapshots``, without duplicates; `nil` if it is malformed, or has no UUID or more than
  /// ``maximum``.
  static func ids(_ text: String) -> [SnapshotID]? {
    let parts = text.split(separator: " ")
    guard (1...maximum).contains(parts.count) else { return nil }
    var ids: [SnapshotID] = []
    var known: Set<SnapshotID> = []
    for part in parts {
      guard let id = SnapshotID(String(part)) else { return nil }
      if known.insert(id).inserted { ids.append(id) }
    }
    return ids
  }
}

extension DeletionPage: Page {
  var template: PageTemplates.Name { .deletion }
  var title: String { "Delete \(count)" }

  private var count: String { Measures.count(records.count, "snapshot") }

  func fields(in _: PageFrame) -> Fields {
    [
      "count": count,
      "size": Measures.size(records.reduce(0) { $0.addingReportingOverflow($1.size).partialValue }),
      "hasMore": hasMore,
      "isEmpty": records.isEmpty,
      "rows": records.map(row),
      "action": PagePath.deletion().description,
      "back": PagePath.home(search).description,
      "nextField": PageField.next.rawValue,
      "snapshotsField": PageField.snapshots.rawValue,
      "snapshots": Self.text(of: records.map(\.id)),
    ]
  }

  private func row(_ record: SnapshotRecord) -> Fields {
    var budget = PageBudget(160)
    return [
      "href": PagePath.snapshot(record.id).description,
      "short": record.shortID,
      "application": budget.name(record.applicationName, most: 60),
      "report": budget.name(record.report.description, most: 60),
      "received": Measures.timeFields(record.receivedAt),
      "size": Measures.size(record.size),
      "isPinned": record.isPinned,
    ]
  }
}
