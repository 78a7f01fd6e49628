import Foundation
import Logging
import SnapshotFormat
import SnapshotStore
import SystemIO

extension FileBundleStore {
  /// Has the checksums of a bundle checked when those that are shorter are done.
  func verifyLater(_ id: SnapshotID) {
    scrubber.async { [weak self] in self?.beginCheck(of: id) }
  }

  /// Takes up what the last run left pending.
  func resumeVerification() {
    for folder in committer.lastingFolders {
      scrubber.async { [weak self, layout, logger] in
        do {
          for id in try layout.published(in: folder) { self?.beginCheck(of: id) }
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

  /// Begins to check a bundle, if nobody has or what was found was not acted upon. Blocks: on the scrubber alone.
  private func beginCheck(of id: SnapshotID) {
    do throws(StoreError) {
      try committer.requireOpen()
      let record = try layout.storedRecord(id)
      guard record.verified != .intact, try !layout.isSetAside(id) else { return }
      let zip = URL(filePath: layout.path(.bundle, of: id))
      let job = CheckJob(zip, size: record.size, .full, by: configuration.validator.recheck) {
        [weak self] result in
        self?.judge(record, result)
      }
      lateChecks.add(job)
    } catch {
      report(error, of: id)
    }
  }

  /// Passes on what was found of a bundle.
  private func judge(_ record: SnapshotRecord, _ result: Result<BundleSummary, BundleError>) {
    var record = record
    do throws(StoreError) {
      try committer.requireOpen()
      do throws(BundleError) {
        _ = try result.get()
        record.verified = .intact
      } catch {
        // A limit may have been lowered since the bundle was taken.
        if error.systemFailure != nil || error.isOverLimit { throw StoreError(error) }
        logger.error("A bundle is damaged", metadata: ["id": "\(record.id)", "reason": "\(error)"])
        record.verified = .damaged
      }
      verdicts.continuation.yield(record)
    } catch {
      report(error, of: record.id)
    }
  }

  /// Acts upon what was found: what is damaged is not given out from here on.
  private func settle(_ verdict: SnapshotRecord) async {
    do throws(StoreError) {
      let record =
        verdict.verified == .damaged
        ? try await setAside(verdict.id)
        : try await change(RecordChange(verified: verdict.verified), of: verdict.id)
      await configuration.onVerification(record)
    } catch {
      report(error, of: verdict.id)
    }
  }

  /// Has a bundle set aside that can't be given out as its record says; one whose record is damaged stays where it is.
  /// Blocks.
  func setAsideLater(_ id: SnapshotID) {
    do throws(StoreError) {
      guard try !layout.isSetAside(id) else { return }
      var record = try layout.storedRecord(id)
      record.verified = .damaged
      verdicts.continuation.yield(record)
    } catch {
      report(error, of: id)
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
