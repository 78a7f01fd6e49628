import Foundation
package import HTTPEngine
import Observability
package import SnapshotFormat

/// The use of a link to attach by one request. Thread-safe.
package struct LinkUse: Sendable {
  /// The link as it was when the request was admitted.
  private let link: AttachLink
  private let id: String
  private let authenticator: TokenAuthenticator

  init(_ link: AttachLink, id: String, of authenticator: TokenAuthenticator) {
    (self.link, self.id, self.authenticator) = (link, id, authenticator)
  }

  /// The only report to which the link can attach.
  package var report: ReportID { link.report }

  /// Throws a problem if the link does not allow a bundle, before its bytes arrive.
  /// - Parameters:
  ///   - bytes: the length of the bundle, or of its first part; `nil` if it is not known yet.
  ///   - snapshot: the UUID of the snapshot, if the request states it.
  package func requireRoom(for bytes: Int64?, as snapshot: SnapshotID?) throws(HTTPProblem) {
    if let refusal = link.refusal(of: bytes, as: snapshot) { throw .linkRefusal(refusal) }
  }

  /// Publishes a bundle by `commit`, and counts it durably before. It is not counted if the link was used for the same
  /// snapshot before, or if nothing was stored. After a failure that leaves this open, it is counted.
  ///
  /// Throws a problem if the link does not allow the bundle, which is not published then.
  /// - Parameters:
  ///   - bytes: the length of the bundle.
  ///   - snapshot: the UUID of the snapshot; `nil` if the store chooses one.
  ///   - stored: the snapshot that was stored; `nil` if none was, or if it was there before.
  package func counting<Ended>(
    _ bytes: Int64, as snapshot: SnapshotID?, _ commit: () async throws -> Ended,
    stored: (Ended) -> SnapshotID?, storedNothing: (any Error) -> Bool
  ) async throws -> Ended {
    let begun = try await change { try $0.beginUse(of: id, bytes, as: snapshot) }
    let key: UUID?
    do { key = try begun.get() } catch { throw HTTPProblem.linkRefusal(error) }
    let ended: Ended
    do {
      ended = try await commit()
    } catch {
      if storedNothing(error) { await end(key, as: nil) }
      throw error
    }
    await end(key, as: stored(ended))
    return ended
  }

  /// Ends a use. If this fails, the use stays counted.
  private func end(_ key: UUID?, as snapshot: SnapshotID?) async {
    guard let key else { return }
    do {
      try await change { try $0.endUse(key, of: id, as: snapshot) }
    } catch {
      // The reason is logged.
    }
  }

  private func change<Value: Sendable>(
    _ body: @escaping @Sendable (TokenStore) throws -> Value
  ) async throws(HTTPProblem) -> Value {
    do {
      return try await authenticator.changeTokens(body)
    } catch {
      authenticator.logFailedChange(error)
      throw .accessUnavailable
    }
  }
}
