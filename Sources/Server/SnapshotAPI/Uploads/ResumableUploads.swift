import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat
import SnapshotStore
import SystemIO

/// Uploads that go on where they stopped, offered to clients: by tus 1.0.0 below `/v1/uploads`, and by the IETF's draft
/// on the calls that attach snapshots.
package struct ResumableUploads: Sendable {
  /// What is offered, and to whom.
  package struct Configuration: Sendable, Hashable {
    /// Whether clients of the IETF's draft are told by `104 (Upload Resumption Supported)` that they may go on, and how
    /// far they are. Some proxies lose their way at interim answers that they don't know.
    package var sendsInterimAnswers = true
    /// The web pages that may upload.
    package var origins = AllowedOrigins.all

    /// The defaults.
    package init() {}
  }

  let service: UploadService
  let configuration: Configuration

  /// Offers what `service` does.
  package init(_ service: UploadService, _ configuration: Configuration = Configuration()) {
    self.service = service
    self.configuration = configuration
  }

  /// Where the uploads of tus are opened, and below which they are.
  static let path = "/v1/uploads"
  /// Below which the uploads of the IETF's draft are.
  static let draftPath = path + "/resumable"

  /// The calls that belong to uploads alone.
  package func endpoints(_ snapshots: SnapshotService, limits: ServiceLimits) -> [Endpoint] {
    TusRoutes(self, snapshots, limits: limits).endpoints + DraftRoutes(self).endpoints
  }

  /// How much of an upload is taken, and for how long; not for how long where it has no byte, for that changes with the
  /// first.
  func limit(of status: UploadStatus? = nil, now: Int64 = SystemClock.unixSeconds) -> UploadLimitField {
    var limit = UploadLimitField(maximumSize: service.limits.length)
    if let status, status.outcome == nil, status.offset > 0 {
      limit.maximumAge = max(Int64(status.expiresAt.timeIntervalSince1970) - now, 0)
    }
    return limit
  }
}

extension PathParameter where Value == UploadID {
  /// An upload's name. What can't be one names none, like one that is nobody's.
  static var upload: PathParameter<UploadID> {
    PathParameter("upload") { text in
      guard let id = UploadID(text) else { throw UploadFailure(.unknown) }
      return id
    }
  }
}
