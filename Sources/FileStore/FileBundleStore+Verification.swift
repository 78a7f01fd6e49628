import Foundation
import Logging
import SnapshotFormat
import SnapshotStore
import SystemIO

extension FileBundleStore {
  /// Has the checksums of a bundle looked at once those before it are done.
  func verifyLater(_ id: SnapshotID) {
    scrubber.async { [weak self] in self?.look(at: id) }
  }

  /// Takes up what the last run left pending.
  func resumeVerification() {
    for folder in committer.lastingFolders {
      scrubber.async { [weak self, shelf, logger] in
        do {
          for id in try shelf.published(in: folder) { self?.look(at: id) }
        } catch {
          logger.error("Could not look for pending bundles", metadata: ["error": "\(error)"])
        }
      }
    }
  }

  /// Writes down what was found, until it is cancelled or the store goes.
  func settleVerdicts() -> Task<Void, Never> {
    Task(priority: .background) { [weak self, verdicts = verdicts.stream] in
      // Several at once, because what waits together shares the disk's flushes.
      await withTaskGroup(of: Void.self) { group in
        var running = 0
        for await record in verdicts {
          if running == 16 { _ = await group.next() } else { running += 1 }
          group.addTask { await self?.settle(record) }
        }
      }
    }
  }

  /// Looks at the checksums of a bundle, if nobody has, and passes the verdict on. Blocks: on the scrubber alone.
  private func look(at id: SnapshotID) {
    do throws(StoreError) {
      try committer.requireOpen()
      var record = try shelf.record(id)
      guard record.verified == .pending else { return }
      do throws(BundleError) {
        _ = try configuration.admission.validate(URL(filePath: shelf.path(.bundle, of: id)), .full)
        record.verified = .intact
      } catch {
        if error.systemFailure != nil { throw StoreError(error) }
        logger.error("A bundle is damaged", metadata: ["id": "\(id)", "reason": "\(error)"])
        record.verified = .damaged
      }
      verdicts.continuation.yield(record)
    } catch {
      report(error, of: id)
    }
  }

  private func settle(_ record: SnapshotRecord) async {
    do {
      let record = try await change(RecordChange(verified: record.verified), of: record.id)
      await configuration.onVerification(record)
    } catch {
      report(error, of: record.id)
    }
  }

  private func report(_ failure: StoreError, of id: SnapshotID) {
    switch failure {
    case .deleted, .notFound: logger.debug("Gone before it was verified", metadata: ["id": "\(id)"])
    default:
      logger.warning(
        "Could not verify a bundle; it stays pending until the next start",
        metadata: ["id": "\(id)", "error": "\(failure)"])
    }
  }
}
