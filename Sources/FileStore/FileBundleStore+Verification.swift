import Foundation
import Logging
import SnapshotFormat
import SnapshotStore
import SystemIO

extension FileBundleStore {
  /// Looks at the checksums of what the last run left pending, then of what arrives, one bundle at a time, until
  /// it is cancelled or the store goes.
  func startVerification() -> Task<Void, Never> {
    Task(priority: .background) { [weak self, shelf, scrubber, logger, news = unverified.stream] in
      do throws(SystemError) {
        for folder in try await scrubber.perform({ () throws(SystemError) in try shelf.folders() }) {
          let ids = try await scrubber.perform { () throws(SystemError) in try shelf.published(in: folder) }
          for id in ids where !Task.isCancelled { await self?.verify(id) }
        }
      } catch {
        logger.error("Could not look for bundles to verify", metadata: ["error": "\(error)"])
      }
      for await id in news where !Task.isCancelled { await self?.verify(id) }
    }
  }

  /// Looks at one bundle's checksums if nobody has.
  private func verify(_ id: SnapshotID) async {
    let logger = logger
    do throws(StoreError) {
      let found = try await scrubber.perform {
        [shelf, validate = configuration.admission.validate] () throws(StoreError)
          -> (SnapshotRecord, BundleError?)? in
        var record = try shelf.record(id)
        guard record.verified == .pending else { return nil }
        do throws(BundleError) {
          _ = try validate(URL(filePath: shelf.path(.bundle, of: id)), .full)
          record.verified = .intact
          return (record, nil)
        } catch {
          if error.systemFailure != nil { throw StoreError(error) }
          record.verified = .damaged
          return (record, error)
        }
      }
      guard let (record, damage) = found else { return }
      if let damage {
        logger.error("A bundle is damaged", metadata: ["id": "\(id)", "reason": "\(damage)"])
      }
      try await setVerification(record.verified, of: id)
      await configuration.onVerification(record)
    } catch {
      switch error {
      case .deleted, .notFound: logger.debug("Gone before it was verified", metadata: ["id": "\(id)"])
      default:
        logger.warning(
          "Could not verify a bundle; it stays pending until the next start",
          metadata: ["id": "\(id)", "error": "\(error)"])
      }
    }
  }
}
