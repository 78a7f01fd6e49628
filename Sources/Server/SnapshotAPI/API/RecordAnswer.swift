import Observability
import SnapshotFormat
import SnapshotStore

/// A record without its identifiers, which are for the catalogue, and where its bundle is.
struct RecordAnswer: Encodable {
  private let record: SnapshotRecord

  init(_ record: SnapshotRecord) {
    var record = record
    record.identifiers = nil
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

/// One page of records, the cursor of the next one, and how many there are, where that was asked.
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
