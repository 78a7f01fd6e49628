import SnapshotFormat
import SnapshotStore
import Synchronization

/// Records that were read a short while ago: what is asked for again and again is read and decoded once.
///
/// Only what stands in a file is ever kept, so nothing is lost with the cache; whoever changes a record's file, or takes
/// it away, calls ``forget(_:)`` afterwards. Safe to use from any thread.
final class RecordCache: Sendable {
  private struct State {
    var records: LRUCache<SnapshotID, SnapshotRecord>
    var changes = 0
  }

  /// About how much is held at most, in bytes of the records' files.
  static let byteLimit = 8 << 20

  private let state: Mutex<State>

  init(byteLimit: Int = RecordCache.byteLimit) {
    state = Mutex(State(records: LRUCache(limit: byteLimit)))
  }

  /// To be asked before a record is read, for ``keep(_:cost:readAt:)``.
  var changes: Int { state.withLock { $0.changes } }

  /// The record, if it is kept.
  func record(_ id: SnapshotID) -> SnapshotRecord? { state.withLock { $0.records.value(of: id) } }

  /// Keeps a record as it was read from its file, unless any has changed since `changes`.
  /// - Parameter cost: the length of the file.
  func keep(_ record: SnapshotRecord, cost: Int, readAt changes: Int) {
    state.withLock { state in
      guard state.changes == changes else { return }
      state.records.keep(record, under: record.id, cost: cost)
    }
  }

  /// Drops a record whose file has just been changed or removed.
  func forget(_ id: SnapshotID) {
    state.withLock { state in
      state.changes &+= 1
      state.records.remove(id)
    }
  }
}
