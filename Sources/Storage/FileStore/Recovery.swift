import Dispatch
import Logging
import SnapshotFormat
import SnapshotStore
import SystemIO

/// Repairs the storage after a crash, part by part, while the store is in use.
///
/// Every operation calls ``require(_:)`` for the parts that it uses, and so finds them repaired and durable: clients
/// are sent nothing that a power cut could still revert. The parts that no operation needs are repaired in the
/// background.
final class Recovery: Sendable {
  /// A part that is repaired in one step.
  enum Part: Hashable, Sendable {
    /// The folder in `bundles/` of one shard.
    case shard(SnapshotShard)
    /// The folder `uploads/`.
    case uploads
  }

  private struct State {
    /// The parts that are not repaired, with the operations that wait for them. The first of these begins the repair.
    var pending: [Part: [CheckedContinuation<SystemError?, Never>]]
    var isClosed = false
  }

  private let folder: StorageFolder
  private let restoreUploads: RestoreUploads
  /// Repairs the parts that an operation waits for.
  private let queue: DispatchQueue
  /// Repairs the other parts, which no client waits for.
  private let background: BackgroundQueue
  private let state: Lock<State>
  private let isOver: Lock<Bool>

  /// Repairs ``Part/uploads``. Blocks. Calls `requireOpen` between its steps, which throws once the store is closing:
  /// thousands of uploads take longer than a stop should.
  typealias RestoreUploads =
    @Sendable (_ requireOpen: () throws(SystemError) -> Void) throws(SystemError) -> Void

  /// - Parameters:
  ///   - parts: the parts to repair.
  ///   - restoreUploads: repairs ``Part/uploads``.
  init(
    _ parts: [Part], of folder: StorageFolder, on queues: ServerQueues,
    restoreUploads: @escaping RestoreUploads
  ) {
    queue = queues.background.next
    background = BackgroundQueue()
    self.folder = folder
    self.restoreUploads = restoreUploads
    state = Lock(State(pending: Dictionary(parts.map { ($0, []) }) { first, _ in first }))
    isOver = Lock(parts.isEmpty)
  }

  private var layout: StorageLayout { folder.layout }
  private var faults: FaultInjection { folder.faults }
  private var logger: Logger { folder.logger }

  /// The number of shards that are not repaired yet.
  var remainingShards: Int { state.withLock { $0.pending.keys.count { $0 != .uploads } } }

  /// Returns when the shard of `id` is repaired.
  func require(_ id: SnapshotID) async throws(StoreError) {
    guard !isOver.value else { return }
    try await require(.shard(SnapshotShard(of: id)))
  }

  /// Returns when the shards of `ids` are repaired.
  func require(_ ids: [SnapshotID]) async throws(StoreError) {
    guard !isOver.value else { return }
    for shard in Set(ids.map(SnapshotShard.init(of:))) { try await require(.shard(shard)) }
  }

  /// Returns when a part is repaired. Throws if it can't be repaired; the next call tries again.
  func require(_ part: Part) async throws(StoreError) {
    if let failure = await repair(part, isUrgent: true) { throw StoreError(failure) }
  }

  /// Returns when all parts are repaired.
  func requireAll() async throws(StoreError) {
    for part in state.withLock(\.pending).keys { try await require(part) }
  }

  /// Repairs a part that no operation waits for, unless that is done.
  func repairInBackground(_ part: Part) async -> SystemError? {
    do {
      try faults.before(.repairInBackground)
    } catch {
      return error
    }
    return await repair(part, isUrgent: false)
  }

  /// Repairs a part, unless that is done.
  /// - Parameter isUrgent: whether an operation waits for it.
  private func repair(_ part: Part, isUrgent: Bool) async -> SystemError? {
    guard !isOver.value else { return nil }
    return await withCheckedContinuation { continuation in
      let others = state.withLock { state -> Int? in
        guard let others = state.pending[part]?.count else { return nil }
        state.pending[part]?.append(continuation)
        return others
      }
      switch others {
      case nil: continuation.resume(returning: nil)
      case 0 where isUrgent: queue.async { self.repairNow(part) }
      case 0: background.async { self.repairNow(part) }
      default: break
      }
    }
  }

  /// Refuses to repair any more parts; returns when no repair is running.
  /// - Parameter task: the task that repairs parts in the background. It is cancelled.
  func close(ending task: Task<Void, Never>?) async {
    task?.cancel()
    state.withLock { $0.isClosed = true }
    await task?.value
    await queue.perform {}
    await background.perform {}
  }

  private func requireOpen() throws(SystemError) {
    if state.withLock(\.isClosed) { throw .closed(layout) }
  }

  private func repairNow(_ part: Part) {
    let failure: SystemError?
    do {
      try requireOpen()
      switch part {
      case .shard(let shard):
        try faults.before(.repairShard)
        try repair(layout.folder(of: shard))
      case .uploads:
        try faults.before(.repairUploads)
        try restoreUploads(requireOpen)
      }
      failure = nil
    } catch {
      failure = error
    }
    let waiting = state.withLock { state in
      let waiting = state.pending.updateValue([], forKey: part) ?? []
      if failure == nil { state.pending[part] = nil }
      isOver.set(state.pending.isEmpty)
      return waiting
    }
    for continuation in waiting { continuation.resume(returning: failure) }
  }

  /// Completes deletions and publications, removes records of bundles that were never published, counts the bundles,
  /// and synchronizes the folder, since a crash can come between a publication and the flush of its folder.
  private func repair(_ path: String) throws(SystemError) {
    let usage = try tidy(path)
    try Folder.synchronize(path)
    folder.quotaTracker.add(usage)
  }

  private func tidy(_ path: String) throws(SystemError) -> StoreUsage {
    var found: [SnapshotID: Set<StorageLayout.Kind>] = [:]
    for name in try Folder.entries(path) {
      if let (id, kind) = StorageLayout.parse(name, in: path) {
        found[id, default: []].insert(kind)
      } else {
        logger.warning(
          "There is a file in the storage that the server did not create",
          metadata: ["path": "\(path)/\(name)"])
      }
    }
    var usage = StoreUsage()
    var lost: [SnapshotID] = []
    for (id, var kinds) in found {
      let bundles: [StorageLayout.Kind] = [.bundle, .damaged].filter(kinds.contains)
      if kinds.isSuperset(of: [.unpublished, .bundle]), kinds.isDisjoint(with: [.record, .tombstone]) {
        // Both were flushed before they got these names.
        try layout.endPublication(of: id)
        kinds.insert(.record)
      }
      if kinds.contains(.tombstone) {
        if kinds.count > 1 { try endDeletion(of: id) }
        // The bundle is deleted, whether or not this succeeds.
        folder.attempt("remove the record of a deleted bundle") { try layout.emptyTombstone(of: id) }
      } else if !kinds.contains(.record) {
        for kind in bundles { try setAside(id, kind) }
        try Folder.removeIfPresent(layout.path(.unpublished, of: id))
        if bundles.isEmpty {
          logger.info("Removed the record of a bundle that was never published", metadata: ["id": "\(id)"])
        }
      } else if let bundle = bundles.first {
        // The damaged bundle was uploaded again, and a crash came before the damaged file was removed.
        if bundles.count > 1 { try Folder.removeIfPresent(layout.path(.damaged, of: id)) }
        usage.bundles += 1
        usage.bytes += try Folder.size(of: layout.path(bundle, of: id))
      } else {
        lost.append(id)
      }
    }
    folder.recordLosses(lost.sorted())
    return usage
  }

  private func endDeletion(of id: SnapshotID) throws(SystemError) {
    for kind in [StorageLayout.Kind.bundle, .damaged, .unpublished, .record] {
      try Folder.removeIfPresent(layout.path(kind, of: id))
    }
    logger.info("Completed a deletion", metadata: ["id": "\(id)"])
  }

  /// The report of a bundle without a record is unknown, so no client may fetch it. But the store must not delete it
  /// either.
  private func setAside(_ id: SnapshotID, _ kind: StorageLayout.Kind) throws(SystemError) {
    try Folder.create(layout.setAside)
    let place = "\(layout.setAside)/\(SnapshotID())-\(id).\(kind.rawValue)"
    try Folder.publish(layout.path(kind, of: id), as: place)
    logger.error("Set aside a bundle that has no record", metadata: ["id": "\(id)", "path": "\(place)"])
  }
}
