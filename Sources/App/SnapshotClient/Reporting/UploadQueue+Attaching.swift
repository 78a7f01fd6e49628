import Dispatch
import Foundation
import SnapshotFormat
import SystemIO

/// How a bundle gets into the queue.
extension UploadQueue {
  /// Has a bundle made in the queue's folder, and puts it into the queue.
  func add(for report: ReportID, freeze: BugReporter.Freezer) async throws(ReportingError) -> SnapshotID {
    let stage = try await onDisk { [self] (folder) throws(ReportingError) in
      // Before anything is made: what is full now need not be filled further.
      try checkRoom(for: 0)
      do throws(SystemError) { return try folder.stage() } catch { throw .disk(error) }
    }
    do throws(ReportingError) {
      let packed: SnapshotBundle.Packed
      do {
        packed = try await freeze(report, URL(filePath: stage + "/bundle.zip"))
      } catch {
        throw ReportingError.notFrozen(error)
      }
      let now = SnapshotJSON.milliseconds(of: configuration.environment.now())
      let item = QueuedUpload(
        id: packed.manifest.id, report: report, size: packed.size, sha256: packed.sha256, attachedAt: now,
        state: .waiting(.turn))
      let failure = try await onDisk { [self] (folder) throws(ReportingError) in
        try publish(stage, as: item, in: folder)
      }
      pump()
      if let failure { throw ReportingError.notFlushed(item.id, failure) }
      return item.id
    } catch {
      await disk.perform { do { try Folder.removeTree(stage) } catch {} }
      throw error
    }
  }

  /// Answers why a power cut may lose the item, which is in the queue.
  private func publish(
    _ stage: String, as item: QueuedUpload, in folder: QueueFolder
  ) throws(ReportingError) -> SystemError? {
    guard self[item.id] == nil else { throw .duplicate(item.id) }
    try checkRoom(for: item.size)
    let failure: SystemError?
    do throws(SystemError) {
      failure = try folder.publish(stage, as: item)
    } catch {
      throw error.isAlreadyThere ? ReportingError.duplicate(item.id) : .disk(error)
    }
    makeRoom(besides: item, in: folder)
    change { state in
      state.core.add(item)
      // Who reports a bug is there and looks: no better time to see whether the network is back.
      state.core.connectionChanged()
    }
    return failure
  }

  /// Throws where a bundle of `size` bytes would find no room even if all that failed for good went.
  private func checkRoom(for size: Int64) throws(ReportingError) {
    let limits = configuration.limits
    let kept = items.filter { $0.hasBundle && !$0.state.isFinal }
    guard kept.count < limits.items else { throw .full(.items(limit: limits.items)) }
    guard kept.reduce(size, { $0 + $1.size }) <= limits.bytes else {
      throw .full(.bytes(limit: limits.bytes, bundle: size))
    }
  }

  /// Lets go of bundles that failed for good, oldest first, until `item` keeps within the limits.
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
