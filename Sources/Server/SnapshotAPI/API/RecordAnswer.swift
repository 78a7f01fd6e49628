import HTTPEngine
import Observability
import SnapshotFormat
import SnapshotStore
import SystemIO

/// A record with the path of its bundle, and without its identifiers and revision, which only the catalogue needs.
struct RecordAnswer: Encodable {
  private let record: SnapshotRecord
  private let basePath: String

  /// - Parameter basePath: the path below which the client sees the server.
  init(_ record: SnapshotRecord, below basePath: String) {
    self.basePath = basePath
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
    try container.encode(basePath + SnapshotRoutes.path(of: record.id) + ".zip", forKey: .bundle)
  }
}

/// A page of records, the cursor of the next page, and the total number if it was requested.
struct PageAnswer: Encodable {
  let snapshots: [RecordAnswer]
  let next: String?
  let total: Int?
  let totalIsExact: Bool?

  init(_ page: Page, total: CatalogTotal?, below basePath: String) {
    snapshots = page.records.map { RecordAnswer($0, below: basePath) }
    next = page.next?.description
    self.total = total?.count
    totalIsExact = total?.isExact
  }
}

/// A cache of records as JSON: encoding one takes several times as long as the rest of its request. Safe to use from any
/// thread.
final class RecordAnswers: Sendable {
  /// A class, because a record is expensive to copy.
  private final class Answer: Sendable {
    let record: SnapshotRecord
    let basePath: String
    let representation: Representation

    init(_ record: SnapshotRecord, below basePath: String) throws {
      self.record = record
      self.basePath = basePath
      representation = try JSONBody(RecordAnswer(record, below: basePath)).representation
    }
  }

  /// The approximate maximum size of the cache, in bytes of responses and identifiers.
  static let byteLimit = 4 << 20
  /// The approximate size of an entry besides its bytes.
  private static let overhead = 1024

  private let answers: Lock<LRUCache<SnapshotID, Answer>>

  /// Creates an empty cache.
  init(byteLimit: Int = RecordAnswers.byteLimit) { answers = Lock(LRUCache(limit: byteLimit)) }

  /// Returns the response to a `GET` of `record`, for a client that sees the server below `basePath`.
  func representation(of record: SnapshotRecord, below basePath: String = "") throws -> Representation {
    if let known = answers.withLock({ [id = record.id] in $0.value(of: id) }), known.record == record,
      known.basePath == basePath
    {
      return known.representation
    }
    let answer = try Answer(record, below: basePath)
    // Identifiers are not part of the response, and can be long.
    let identifiers = record.identifiers?.reduce(0) { $0 + $1.utf8.count } ?? 0
    let cost = Int(answer.representation.content.size) + identifiers + Self.overhead
    answers.withLock { $0.keep(answer, under: answer.record.id, cost: cost) }
    return answer.representation
  }
}
