package import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotFormat
import SnapshotService
package import SnapshotStore
import SystemIO

/// Resumable uploads over HTTP: with tus 1.0.0 below `/v1/uploads`, and with the IETF draft on the calls that attach
/// snapshots.
package struct ResumableUploads: Sendable {
  /// The settings of resumable uploads.
  package struct Configuration: Sendable, Hashable {
    /// Whether clients of the IETF draft receive `104 (Upload Resumption Supported)` responses with the location and
    /// progress of the upload. Some proxies fail on unknown interim responses.
    package var sendsInterimAnswers = true
    /// The origins of web pages that may upload.
    package var origins = AllowedOrigins.all

    /// Creates a configuration with the default values.
    package init() {}
  }

  let service: UploadService
  private let current: CurrentConfiguration
  var configuration: Configuration { current.value.withLock { $0 } }

  /// Offers the uploads of `service` to clients.
  package init(_ service: UploadService, _ configuration: Configuration = Configuration()) {
    self.service = service
    current = CurrentConfiguration(configuration)
  }

  /// Applies another configuration to the following requests, in all copies of this value.
  package func change(_ configuration: Configuration) { current.value.withLock { $0 = configuration } }

  /// The path where tus uploads are created, and below which they are.
  static let path = "/v1/uploads"
  /// The path below which the uploads of the IETF draft are.
  static let draftPath = path + "/resumable"

  /// The implementation of the IETF draft for the calls that attach snapshots.
  package var attachDialect: any AttachDialect { DraftUploads(self) }

  /// The endpoints for uploads.
  package func endpoints(limits: ServiceLimits) -> [Endpoint] {
    TusRoutes(self, limits: limits).endpoints + DraftRoutes(self).endpoints
  }

  /// Returns the limits on the size and remaining time of an upload. An upload without bytes has no time limit in the
  /// response, because its expiry date changes with the first byte.
  func limit(of status: UploadStatus? = nil, now: Int64 = SystemClock.unixSeconds) -> UploadLimitField {
    var limit = UploadLimitField(maximumSize: service.limits.length)
    if let status, status.outcome == nil, status.offset > 0 {
      limit.maximumAge = max(Int64(status.expiresAt.timeIntervalSince1970) - now, 0)
    }
    return limit
  }
}

/// The configuration that all copies of a ``ResumableUploads`` share.
private final class CurrentConfiguration: Sendable {
  let value: Lock<ResumableUploads.Configuration>

  init(_ configuration: ResumableUploads.Configuration) { value = Lock(configuration) }
}

extension APIRequest {
  /// Records the snapshot and the report of the upload for the audit log and metrics.
  func concerns(_ status: UploadStatus) {
    request.context?.update { facts in
      if case .published(let id, _) = status.outcome {
        facts.snapshot = id
      } else {
        facts.snapshot = status.terms.attachment?.id
      }
      facts.report = status.terms.attachment?.report
    }
  }

  /// Records that the upload continues after this request, unless ``ends(with:)`` records something else.
  func leavesUploadOpen() { request.context?.update { $0.ending = .open } }

  /// Records the upload to which the request sent bytes, and its outcome.
  func ends(with status: UploadStatus) {
    concerns(status)
    request.context?.update { facts in
      switch status.outcome {
      case .published(_, let isNew): facts.ending = isNew ? .created : .repeated
      case .refused: facts.ending = nil
      case nil: facts.ending = .open
      }
    }
  }
}

extension PathParameter where Value == UploadID {
  /// The id of an upload. A malformed id is reported like an unknown one.
  static var upload: PathParameter<UploadID> {
    PathParameter("upload") { text in
      guard let id = UploadID(text) else { throw UploadFailure(.unknown) }
      return id
    }
  }
}

/// The state of an upload. Its offset and length are durable.
package struct UploadStatus: Sendable, Hashable {
  /// The id, which can't be guessed.
  package var id: UploadID
  /// The number of bytes that are stored durably.
  package var offset: Int64
  /// The total length in bytes, if it is known.
  package var length: Int64?
  /// Whether all bytes are stored.
  package var isComplete: Bool
  /// The time at which the upload expires.
  package var expiresAt: Date
  /// The outcome; `nil` while the upload is open. A complete upload stays open as long as the store can't publish it. A
  /// part always stays open.
  package var outcome: UploadOutcome?
  /// The terms set when the upload was created.
  package var terms: UploadTerms
}
