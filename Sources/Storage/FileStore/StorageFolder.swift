import Logging
import SnapshotFormat
import SnapshotStore
import SystemIO

/// The storage folder, as shared by all parts of a store: its layout, free space and quota, and flushing.
final class StorageFolder: Sendable {
  let layout: StorageLayout
  let faults: FaultInjection
  let logger: Logger
  /// Makes arriving uploads durable.
  let flusher: Flusher
  let quotaTracker: QuotaTracker
  /// The number of bytes of the disk that are left free.
  let reserve: Int64
  private let onShortage: @Sendable () -> Void
  private struct State {
    var needsRepair = false
    /// The number of deleted bundles whose files are not removed yet.
    var removals = 0
    var unflushed: Set<String> = []
    /// The published bundles whose files are gone.
    var lost: Set<SnapshotID> = []
  }

  private let state = Lock(State())

  init(
    _ layout: StorageLayout, faults: FaultInjection, logger: Logger, flusher: Flusher,
    quotaTracker: QuotaTracker, reserve: Int64, onShortage: @escaping @Sendable () -> Void = {}
  ) {
    self.layout = layout
    self.faults = faults
    self.logger = logger
    self.flusher = flusher
    self.quotaTracker = quotaTracker
    self.reserve = reserve
    self.onShortage = onShortage
  }

  /// Throws ``StoreError/outOfSpace`` if `count` more bytes would leave less free space than the reserve. Blocks.
  func requireFreeSpace(for count: Int64) throws(StoreError) {
    if try hasSpace(for: count) { return }
    onShortage()
    guard try hasSpace(for: count) else { throw .outOfSpace }
  }

  private func hasSpace(for count: Int64) throws(StoreError) -> Bool {
    try StoreError.disk { () throws(SystemError) in
      try faults.availableBytes(layout.root) - count >= reserve
    }
  }

  /// Returns when all of `targets` would survive a power cut.
  /// - Parameter epoch: the flusher's epoch before the first byte that is not flushed yet.
  func flush(
    _ targets: [Flusher.Target], since epoch: Int, _ step: Step
  ) async throws(StoreError) {
    do {
      try faults.before(step)
      try await flusher.flush(targets, since: epoch)
    } catch {
      throw StoreError(error)
    }
  }

  /// Whether a cleanup failed or was not done, so that the next start must repair the storage.
  var needsRepair: Bool { state.withLock { $0.needsRepair || $0.removals > 0 } }

  /// Records that a bundle was deleted, and its files will be removed. Call ``endRemoval()`` afterwards.
  func beginRemoval() { state.withLock { $0.removals += 1 } }

  func endRemoval() { state.withLock { $0.removals -= 1 } }

  /// Records that the removal of files from `folder` may not be durable.
  func recordRemoval(in folder: String) { state.withLock { _ = $0.unflushed.insert(folder) } }

  /// Makes all recorded removals durable. Blocks.
  func flushRemovals() throws(SystemError) {
    for folder in state.withLock({ $0.unflushed }).sorted() {
      try Folder.synchronize(folder)
      state.withLock { _ = $0.unflushed.remove(folder) }
    }
  }

  // MARK: Lost bundles

  /// The number of published bundles that are known to have no file.
  var lossCount: Int { state.withLock { $0.lost.count } }

  /// Whether a bundle is known to have no file.
  func isKnownLoss(_ id: SnapshotID) -> Bool { state.withLock { $0.lost.contains(id) } }

  /// Records that the files of published bundles are gone, which are not counted.
  func recordLosses(_ ids: [SnapshotID]) {
    guard !ids.isEmpty else { return }
    state.withLock { $0.lost.formUnion(ids) }
    logLosses(ids)
  }

  /// Records that the file of a published bundle is gone.
  /// - Parameter size: the size with which the bundle was counted.
  /// - Returns: whether that was unknown.
  @discardableResult
  func recordLoss(of id: SnapshotID, counted size: Int64) -> Bool {
    guard state.withLock({ $0.lost.insert(id).inserted }) else { return false }
    layout.forget(id)
    quotaTracker.forget(size)
    logLosses([id])
    return true
  }

  /// Records that a bundle was repaired or deleted.
  /// - Returns: whether it was known to be lost.
  @discardableResult
  func endLoss(of id: SnapshotID) -> Bool { state.withLock { $0.lost.remove(id) != nil } }

  /// The most lost bundles that one line of the log names.
  private static let namedLosses = 10

  private func logLosses(_ ids: [SnapshotID]) {
    logger.error(
      """
      The files of published bundles are gone: attach the same bundles again, restore them from a backup, or delete the \
      snapshots
      """,
      metadata: ["count": "\(ids.count)", "ids": "\(ids.prefix(Self.namedLosses).map(\.description))"])
  }

  /// Removes a bundle if it exists. Blocks.
  func removeBundle(_ kind: StorageLayout.Kind, of id: SnapshotID) throws(SystemError) {
    let path = layout.path(kind, of: id)
    do {
      let size = try Folder.size(of: path)
      try Folder.remove(path)
      recordRemoval(in: layout.folder(of: id))
      layout.forget(id)
      quotaTracker.forget(size)
    } catch  where error.isNotFound {}
  }

  /// Cleans up. A failure is logged; the next start repairs its consequences.
  func attempt(_ what: String, _ work: () throws -> Void) {
    do {
      try work()
    } catch {
      state.withLock { $0.needsRepair = true }
      logger.error("Could not \(what)", metadata: ["error": "\(error)"])
    }
  }
}
