import HTTPEngine
import Observability
import SnapshotFormat
import SnapshotStore
import SystemIO

/// A record with the path of its bundle, and without its identifiers and revision, which only the catalogue needs.
struct RecordAnswer: Encodable {
  private let record: SnapshotRecord

  init(_ record: SnapshotRecord) {
    var record = record
    (record.identifiers, record.revision) = (nil, nil)
    self.record = record
  }

  private enum CodingKeys: CodingKey {
    case bundle
  }

  func encode(to encoder: any Encoder) throws {
    try record.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(SnapshotRoutes.path(of: record.id) + ".zip", forKey: .bundle)
  }
}

/// A page of records, the cursor of the next page, and the total number if it was requested.
struct PageAnswer: Encodable {
  let snapshots: [RecordAnswer]
  let next: String?
  let total: Int?
  let totalIsExact: Bool?

  init(_ page: Page, total: CatalogTotal?) {
    snapshots = page.records.map(RecordAnswer.init)
    next = page.next?.description
    self.total = total?.count
    totalIsExact = total?.isExact
  }
}
