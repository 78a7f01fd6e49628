package import Foundation
package import Logging
import SnapshotFormat
package import SnapshotStore

extension DeletionClock {
  /// The time by which is deleted from `storage`, with its mark there. Doubts are logged.
  /// - Parameters:
  ///   - now: the time of day.
  ///   - elapsed: the time of a monotonic clock.
  package convenience init(
    of storage: ServerStorage, now: @escaping @Sendable () -> Date,
    elapsed: @escaping @Sendable () -> Duration = { ContinuousClock.now - Configuration.start },
    logger: Logger
  ) {
    self.init(
      Configuration(
        now: now, elapsed: elapsed, marks: storage.clockMarks,
        newestRecord: { [catalog = storage.catalog] in
          try await catalog.page(CatalogQuery(), PageRequest(limit: 1)).records.first?.receivedAt
        },
        onChange: { doubt in
          if let doubt {
            logger.warning("\(doubt)")
          } else {
            logger.notice("The clock is believed again, and deletions continue.")
          }
        },
        onFailure: { error in
          logger.warning(
            "The mark of the clock can't be saved or loaded; it will be retried",
            metadata: ["error": "\(error)"])
        }))
  }
}
