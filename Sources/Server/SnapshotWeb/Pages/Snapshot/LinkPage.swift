import Foundation
import SnapshotFormat

/// The page after a link to a bundle was created.
struct LinkPage: Sendable, Hashable {
  /// The snapshot.
  var record: SnapshotRecord
  /// The link, including the server's origin.
  var link: String
  /// The time at which the link expires.
  var expiresAt: Date
}

extension LinkPage: Page {
  var template: PageTemplates.Name { .link }
  var title: String { "Link to \(record.shortID)" }

  func fields(in _: PageFrame) -> Fields {
    var budget = PageBudget(1200)
    return [
      "applicationName": budget.name(record.applicationName, most: 300),
      "short": record.shortID,
      "snapshot": PagePath.snapshot(record.id).description,
      "report": record.reportFields(&budget),
      "link": link,
      "expires": Measures.timeFields(expiresAt),
    ]
  }
}
