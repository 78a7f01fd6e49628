import SnapshotFormat
import SnapshotStore
import Synchronization

/// Caches records that were read recently, so that popular ones are read and decoded once.
///
/// Only records that are in a file are cached, so nothing is lost with the cache. After changing or removing a record's
/// file, call ``forget(_:)``. Thread-safe.
final class RecordCache: Sendable {
  private struct State {
    var records: LRUCache<SnapshotID, SnapshotRecord>
    var changes = 0
  }

  /// The most bytes held, measured by the size of the records' files.
  static let byteLimit = 8 << 20

  private let state: Mutex<State>

  init(byteLimit: Int = RecordCache.byteLimit) {
    state = Mutex(State(records: LRUCache(limit: byteLimit)))
  }

  /// The number of changes so far. Callers read it before they read a record, for ``keep(_:cost:readAt:)``.
  var changes: Int { state.withLock { $0.changes } }

  /// The record, if it is cached.
  func record(_ id: SnapshotID) -> SnapshotRecord? { state.withLock { $0.records.value(of: id) } }

  /// Caches a record that was read from its file, unless any record has changed since `changes`.
  /// - Parameter cost: the length of the file.
  func keep(_ record: SnapshotRecord, cost: Int, readAt changes: Int) {
    state.withLock { state in
      guard state.changes == changes else { return }
      state.records.keep(record, under: record.id, cost: cost)
    }
  }

  /// Removes a record whose file has just been changed or removed.
  func forget(_ id: SnapshotID) {
    state.withLock { state in
      state.changes &+= 1
      state.records.remove(id)
    }
  }
}
