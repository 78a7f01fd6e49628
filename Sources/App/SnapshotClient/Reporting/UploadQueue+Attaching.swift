import Dispatch
import Foundation
import SnapshotFormat
import SystemIO

/// Adding bundles to the queue.
extension UploadQueue {
  /// Makes a bundle in the queue's folder, and adds it to the queue.
  func add(for bug: BugReport, freeze: BugReporter.Freezer) async throws(ReportingError) -> SnapshotID {
    let stage = try await onDisk { [self] (folder) throws(ReportingError) in
      // Fails early if the queue is already full.
      try checkRoom(for: 0)
      do throws(SystemError) { return try folder.stage() } catch { throw .disk(error) }
    }
    do throws(ReportingError) {
      let packed: SnapshotBundle.Packed
      do {
        packed = try await freeze(bug, URL(filePath: stage + "/bundle.zip"))
      } catch {
        throw ReportingError.notFrozen(error)
      }
      let now = SnapshotJSON.milliseconds(of: configuration.environment.now())
      let item = QueuedUpload(
        id: packed.manifest.id, report: bug.report, size: packed.size, sha256: packed.sha256, attachedAt: now,
        state: .waiting(.turn))
      let failure = try await onDisk { [self] (folder) throws(ReportingError) in
        try publish(stage, as: item, in: folder)
      }
      pump()
      if let failure { throw ReportingError.notFlushed(item.id, failure) }
      return item.id
    } catch {
      // If removal fails, the folder is removed when the queue is opened again.
      await disk.perform { do { try Folder.removeTree(stage) } catch {} }
      throw error
    }
  }

  /// Adds the item to the queue. Returns the error if the item is in the queue but not durable.
  private func publish(
    _ stage: String, as item: QueuedUpload, in folder: QueueFolder
  ) throws(ReportingError) -> SystemError? {
    guard self[item.id] == nil else { throw .duplicate(item.id) }
    try checkRoom(for: item.size)
    let failure: SystemError?
    do {
      failure = try folder.publish(stage, as: item)
    } catch {
      throw error.isAlreadyThere ? ReportingError.duplicate(item.id) : .disk(error)
    }
    makeRoom(besides: item, in: folder)
    change { state in
      state.core.add(item)
      // The user is present, so this is a good time to check whether the network is available again.
      state.core.connectionChanged()
    }
    return failure
  }

  /// Throws if a bundle of `size` bytes would exceed the limits even without the bundles of failed uploads.
  private func checkRoom(for size: Int64) throws(ReportingError) {
    let limits = configuration.limits
    let kept = items.filter { $0.hasBundle && !$0.state.isFinal }
    guard kept.count < limits.items else { throw .full(.items(limit: limits.items)) }
    guard kept.reduce(size, { $0 + $1.size }) <= limits.bytes else {
      throw .full(.bytes(limit: limits.bytes, bundle: size))
    }
  }

  /// Removes the bundles of permanently failed uploads, oldest first, until `item` fits into the limits.
  private func makeRoom(besides item: QueuedUpload, in folder: QueueFolder) {
    let limits = configuration.limits
    let bundles = items.filter(\.hasBundle)
    var (count, bytes) = (bundles.count + 1, bundles.reduce(item.size) { $0 + $1.size })
    for candidate in bundles where candidate.state.isFinal {
      guard count > limits.items || bytes > limits.bytes else { return }
      guard let failed = change({ $0.core.releaseBundle(of: candidate.id) }) else { continue }
      keep(failed, in: folder)
      (count, bytes) = (count - 1, bytes - failed.size)
    }
  }
}
