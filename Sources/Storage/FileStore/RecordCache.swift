import SnapshotFormat
import SnapshotStore
import SystemIO

/// Caches records that were read recently, so that popular ones are read and decoded once.
///
/// Only records that are in a file are cached, so nothing is lost with the cache. After changing or removing a record's
/// file, call ``forget(_:)``. Thread-safe.
final class RecordCache: Sendable {
  /// A class, because a record is expensive to copy.
  final class Entry: Sendable {
    let record: SnapshotRecord
    /// The path of the bundle's file.
    let bundle: String

    fileprivate init(_ record: SnapshotRecord, bundle: String) {
      (self.record, self.bundle) = (record, bundle)
    }
  }

  private struct State {
    var entries: LRUCache<SnapshotID, Entry>
    var changes = 0
  }

  /// The most bytes held, measured by the size of the records' files.
  static let byteLimit = 8 << 20

  private let state: Lock<State>

  init(byteLimit: Int = RecordCache.byteLimit) {
    state = Lock(State(entries: LRUCache(limit: byteLimit)))
  }

  /// The number of changes so far. Callers read it before they read a record, for
  /// ``keep(_:bundle:cost:readAt:)``.
  var changes: Int { state.withLock { $0.changes } }

  /// The record and its bundle's path, if they are cached.
  func entry(_ id: SnapshotID) -> Entry? { state.withLock { $0.entries.value(of: id) } }

  /// Caches a record that was read from its file, unless any record has changed since `changes`.
  /// - Parameters:
  ///   - bundle: the path of its bundle's file.
  ///   - cost: the length of the record's file.
  func keep(_ record: SnapshotRecord, bundle: String, cost: Int, readAt changes: Int) {
    state.withLock { state in
      guard state.changes == changes else { return }
      state.entries.keep(Entry(record, bundle: bundle), under: record.id, cost: cost)
    }
  }

  /// Removes a record whose file has just been changed or removed.
  func forget(_ id: SnapshotID) {
    state.withLock { state in
      state.changes &+= 1
      state.entries.remove(id)
    }
  }
}
