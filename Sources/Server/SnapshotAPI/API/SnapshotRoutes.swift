import Dispatch
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat
import SnapshotStore
import SystemIO

/// The routes of the API under `/v1` that deal with snapshots.
package struct SnapshotRoutes: Sendable {
  let service: SnapshotService
  let limits: ServiceLimits
  /// What takes bundles in that come by the IETF's draft on resumable uploads; without it they come like all others.
  let draft: DraftUploads?
  let answers = RecordAnswers()

  /// Routes to `service`, within `limits`.
  package init(
    _ service: SnapshotService, limits: ServiceLimits = ServiceLimits(), uploads: ResumableUploads? = nil
  ) {
    self.service = service
    self.limits = limits
    draft = uploads.map(DraftUploads.init)
  }

  /// All of them.
  package var endpoints: [Endpoint] {
    attachEndpoints + listEndpoints + fetchEndpoints + changeEndpoints + indexingEndpoints
  }

  /// Where a snapshot's record is.
  static func path(of id: SnapshotID) -> String { "/v1/snapshots/\(id)" }

  /// What names the bytes of a bundle.
  static func entityTag(of record: SnapshotRecord) -> EntityTag { .strong(record.sha256.description) }

  /// When a bundle was received: it never changes afterwards. Never later than now, whatever the clock was then (RFC
  /// 9110 §8.8.2.1).
  static func lastModified(of record: SnapshotRecord) -> HTTPDate {
    let now = SystemClock.unixSeconds
    let received = record.receivedAt.timeIntervalSince1970
    return HTTPDate(secondsSince1970: received < Double(now) ? Int64(max(received, 0)) : now)
  }

  /// What conditions on a bundle are held against.
  static func validators(of record: SnapshotRecord) -> Preconditions.Current {
    Preconditions.Current(entityTag: entityTag(of: record), lastModified: lastModified(of: record))
  }
}
