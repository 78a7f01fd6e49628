import HTTPEngine
import Observability
import SnapshotFormat
import SnapshotStore
import Synchronization

/// Records in the words of the API, as they were put a short while ago: one that is asked for again and again is encoded
/// and hashed once. Safe to use from any thread.
final class RecordAnswers: Sendable {
  private typealias Answer = (record: SnapshotRecord, representation: Representation)

  /// About how much is held at most, in bytes of answers.
  static let byteLimit = 4 << 20
  /// What an answer takes besides its bytes, about.
  private static let overhead = 1024

  private let answers: Mutex<LRUCache<SnapshotID, Answer>>

  init(byteLimit: Int = RecordAnswers.byteLimit) { answers = Mutex(LRUCache(limit: byteLimit)) }

  /// What a `GET` of `record` is answered with.
  func representation(of record: SnapshotRecord) throws -> Representation {
    var record = record
    // They are not answered, and may be long.
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
