import HTTPEngine
import Observability
import SnapshotFormat
import SnapshotStore
import Synchronization

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

/// A cache of encoded records, so that a record that is requested repeatedly is encoded and hashed once. Safe to use
/// from any thread.
final class RecordAnswers: Sendable {
  private typealias Answer = (record: SnapshotRecord, representation: Representation)

  /// The approximate maximum size of the cache, in bytes of responses.
  static let byteLimit = 4 << 20
  /// The approximate size of an entry besides its bytes.
  private static let overhead = 1024

  private let answers: Mutex<LRUCache<SnapshotID, Answer>>

  init(byteLimit: Int = RecordAnswers.byteLimit) { answers = Mutex(LRUCache(limit: byteLimit)) }

  /// Returns the response to a `GET` of `record`.
  func representation(of record: SnapshotRecord) throws -> Representation {
    var record = record
    // Identifiers are not part of the response, and can be long.
    record.identifiers = nil
    let known = answers.withLock { [record] answers -> Representation? in
      guard let known = answers.value(of: record.id), known.record == record else { return nil }
      return known.representation
    }
    if let known { return known }
    let representation = try JSONBody(RecordAnswer(record)).representation
    answers.withLock { [record] answers in
      let cost = Int(representation.content.size) + Self.overhead
      answers.keep((record, representation), under: record.id, cost: cost)
    }
    return representation
  }
}
