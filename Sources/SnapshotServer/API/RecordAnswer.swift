import SnapshotFormat
import SnapshotStore

/// A record, and where its bundle is.
struct RecordAnswer: Encodable {
  private let record: SnapshotRecord

  init(_ record: SnapshotRecord) { self.record = record }

  private enum CodingKeys: CodingKey {
    case bundle
  }

  func encode(to encoder: any Encoder) throws {
    try record.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(SnapshotRoutes.path(of: record.id) + ".zip", forKey: .bundle)
  }
}

/// One page of records, and the cursor of the next one.
struct PageAnswer: Encodable {
  let snapshots: [RecordAnswer]
  let next: String?

  init(_ page: Page) {
    snapshots = page.records.map(RecordAnswer.init)
    next = page.next?.description
  }
}
