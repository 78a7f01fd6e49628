import SnapshotFormat
import Synchronization

/// Records that were read a short while ago: what is asked for again and again is read and decoded once.
///
/// Only what stands in a file is ever kept, so nothing is lost with the cache; whoever changes a record's file, or takes
/// it away, calls ``forget(_:)`` afterwards. Safe to use from any thread.
final class RecordCache: Sendable {
  private typealias Entry = (record: SnapshotRecord, cost: Int)

  private struct State {
    /// Used since the last turn, and used in the turn before: what two turns don't ask for is dropped.
    var recent: [SnapshotID: Entry] = [:]
    var former: [SnapshotID: Entry] = [:]
    var recentCost = 0
    var changes = 0
  }

  /// About how much both halves hold at most, in bytes of the records' files.
  static let byteLimit = 8 << 20

  private let limit: Int
  private let state = Mutex(State())

  init(byteLimit: Int = RecordCache.byteLimit) { limit = byteLimit / 2 }

  /// To be asked before a record is read, for ``keep(_:cost:readAt:)``.
  var changes: Int { state.withLock { $0.changes } }

  /// The record, if it is kept.
  func record(_ id: SnapshotID) -> SnapshotRecord? {
    state.withLock { state in
      if let entry = state.recent[id] { return entry.record }
      guard let entry = state.former.removeValue(forKey: id) else { return nil }
      add(entry, to: &state)
      return entry.record
    }
  }

  /// Keeps a record as it was read from its file, unless any has changed since `changes`.
  /// - Parameter cost: the length of the file.
  func keep(_ record: SnapshotRecord, cost: Int, readAt changes: Int) {
    state.withLock { state in
      guard state.changes == changes, state.recent[record.id] == nil else { return }
      add((record, cost), to: &state)
    }
  }

  /// Drops a record whose file has just been changed or removed.
  func forget(_ id: SnapshotID) {
    state.withLock { state in
      state.changes &+= 1
      if let entry = state.recent.removeValue(forKey: id) { state.recentCost -= entry.cost }
      state.former[id] = nil
    }
  }

  private func add(_ entry: Entry, to state: inout State) {
    guard entry.cost <= limit else { return }
    if state.recentCost + entry.cost > limit {
      state.former = state.recent
      state.recent = [:]
      state.recentCost = 0
    }
    state.recent[entry.record.id] = entry
    state.recentCost += entry.cost
  }
}
