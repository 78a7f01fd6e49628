import Foundation
import Logging
import SnapshotStore

extension UploadService {
  /// Publishes what is complete and was not published, for a crash came between.
  package func publishDue() async {
    for session in await store.uploadSessions() where session.isDue {
      do throws(UploadError) {
        try await turns.take(session.id) { _ throws(UploadError) in
          let session = try await store.uploadSession(session.id)
          if session.isDue { _ = try await publish(session, of: owner(of: session)) }
        }
      } catch {
        log("An upload that is complete can't be published", session.id, error)
      }
    }
  }

  /// Removes every upload whose time has come.
  /// - Returns: how many went.
  @discardableResult
  package func removeExpired() async -> Int {
    var count = 0
    for session in await store.uploadSessions() where session.isExpired(at: now(), limits) {
      if Task.isCancelled { break }
      do throws(UploadError) {
        // The bytes of a request that states a digest do not count before its end: it may be long at work.
        if session.offset == 0, turns.count(session.id) > 0, !session.isOverdue(at: now(), limits) {
          continue
        }
        try await turns.take(session.id) { _ throws(UploadError) in
          guard try await store.uploadSession(session.id).isExpired(at: now(), limits) else { return }
          try await store.removeUpload(session.id)
          count += 1
        }
      } catch {
        log("An upload that has expired can't be removed", session.id, error)
      }
    }
    if count > 0 { logger.info("Removed uploads that had expired", metadata: ["count": "\(count)"]) }
    return count
  }

  /// Does both, the first once and the second every so often, until it is cancelled.
  /// - Parameter sleep: waits so long, or throws once it is cancelled.
  package func run(
    every interval: Duration,
    sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) async {
    await publishDue()
    while !Task.isCancelled {
      await removeExpired()
      do { try await sleep(interval) } catch { return }
    }
  }

  private func log(_ what: String, _ id: UploadID, _ error: UploadError) {
    if case .unknown = error { return }
    logger.error("\(what)", metadata: ["upload": "\(id.abbreviation)", "error": "\(error)"])
  }
}
