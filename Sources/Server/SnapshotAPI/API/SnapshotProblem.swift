import AccessControl
package import HTTPEngine
import HTTPSemantics
package import HTTPTypes
import Observability
package import SnapshotFormat
import SnapshotService
import SnapshotStore
import SystemIO

/// Converts the service's errors to problems. It is the only place where errors meet HTTP status codes. Details about
/// the server itself are never disclosed.
package enum SnapshotProblem {
  /// Returns the problem for `error`, which ended a request. Returns `nil` if the body failed: the connection then
  /// determines the response.
  package static func answer(to error: any Error) -> HTTPProblem? {
    switch error {
    case let problem as HTTPProblem: problem
    case let error as StoreError: problem(of: error)
    case CatalogError.incomplete: catalogIncomplete
    case CatalogError.unavailable: catalogUnavailable
    case let error as MultipartError: problem(of: error)
    case let refusal as ReportID.Refusal:
      HTTPProblem(.malformedReportID, detail: refusal.description)
    case let failure as UploadFailure: failure.problem
    case let refused as RefusedUpload: refused.problem
    case is HTTPBodyError, is CancellationError: nil
    default: .internalError
    }
  }

  /// Returns the error of the body that caused `error`, for which ``answer(to:)`` returns `nil`. The connection answers
  /// it. A cancelled request counts as disconnected, because there is no client to answer.
  static func brokenBody(_ error: any Error) -> HTTPBodyError {
    var error = error
    if let failure = error as? UploadFailure, case .body(let cause) = failure.cause { error = cause }
    return error as? HTTPBodyError ?? .disconnected
  }

  /// Whether `error` was caused by the server and must be logged.
  static func isInternal(_ error: any Error) -> Bool {
    // This is not a failure, and the indexer has already logged it.
    if case CatalogError.incomplete = error { return false }
    return answer(to: error).map { $0.status.kind == .serverError && !(error is HTTPProblem) } ?? false
  }

  private static func problem(of error: StoreError) -> HTTPProblem {
    switch error {
    case .notFound:
      HTTPProblem(.noSuchSnapshot, detail: error.description)
    case .deleted:
      HTTPProblem(.snapshotDeleted, detail: error.description)
    case .conflict:
      HTTPProblem(.snapshotDiffers, detail: error.description)
    case .alreadyExists:
      HTTPProblem(.snapshotExists, detail: error.description)
    case .digestMismatch:
      HTTPProblem(.digestMismatch, detail: error.description)
    case .invalid(.system):
      storageUnavailable
    case .invalid(.notSealed):
      HTTPProblem(.sealedOnly, detail: BundleError.notSealed.description + " Nothing was stored.")
    case .invalid(let reason):
      HTTPProblem(.invalidBundle, detail: reason.description)
    case .foreignApplication:
      .outsideLimits("applications")
    case .outOfSpace, .outOfInodes:
      HTTPProblem(.outOfSpace, detail: error.description + " Nothing was stored.")
    case .quotaExceeded:
      HTTPProblem(.quotaExceeded, detail: error.description + " Nothing was stored.")
    case .damaged:
      HTTPProblem(
        .snapshotDamaged,
        detail: error.description + " Attaching the same bundle again repairs it.")
    case .tooManyComments:
      .malformedChange(error.description)
    case .system(let failure) where failure.isOutOfDescriptors:
      HTTPProblem(
        .busy, detail: "Too many files are open at the moment. Try again in a few seconds.",
        headerFields: [.retryAfter: "5"])
    case .unavailable, .system:
      storageUnavailable
    }
  }

  private static func problem(of error: MultipartError) -> HTTPProblem {
    switch error {
    case .boundary, .truncated, .boundaryLine, .head, .disposition:
      .malformedForm(error.description)
    case .tooManyParts, .headTooLong, .paddingTooLong, .fieldTooLong:
      HTTPProblem(.formTooLarge, detail: error.description)
    }
  }

  /// 503: lists would be incomplete.
  private static var catalogIncomplete: HTTPProblem {
    HTTPProblem(
      .catalogIncomplete,
      detail: "Lists are available when it is complete; /readyz shows this. Snapshots can be fetched.",
      headerFields: [.retryAfter: "5"])
  }

  /// 503: the database of the catalogue does not answer.
  private static var catalogUnavailable: HTTPProblem {
    HTTPProblem(
      .catalogUnavailable,
      detail:
        "Lists are available when the server's database answers again. Snapshots can be fetched and attached.",
      headerFields: [.retryAfter: "5"])
  }

  /// 503: the disk failed, so it is unknown whether the snapshot exists.
  private static var storageUnavailable: HTTPProblem {
    HTTPProblem(
      .storageUnavailable,
      detail:
        "The server can't access its storage at the moment. Its log has the reason, with the id of this request.",
      headerFields: [.retryAfter: "5"])
  }
}

extension HTTPProblem {
  /// 422: the contents of the snapshot of `record` are sealed.
  package static func sealed(_ record: SnapshotRecord) -> HTTPProblem {
    HTTPProblem(
      .snapshotSealed,
      detail: """
        The snapshot is sealed: the server can't read what is in it. Fetch the bundle and open it with an identity, by \
        `snapshot view \(record.id) --identity FILE`.
        """)
  }

  /// 500, without details.
  static var internalError: HTTPProblem {
    HTTPProblem(
      .internalError,
      detail: "An internal error occurred. The server's log describes it, with the id of this request.")
  }

  /// 415, with the accepted types.
  package static func unsupportedMediaType(
    _ sent: String?, accepted: String = "application/zip, multipart/form-data"
  ) -> HTTPProblem {
    let subject = sent.map { "‘\(abridged($0))’ is" } ?? "A body without Content-Type is"
    return HTTPProblem(
      .unsupportedMediaType, detail: "\(subject) not supported here. Send one of \(accepted).",
      headerFields: [.acceptPost: accepted, .accept: accepted])
  }

  /// 415: the body has a content coding such as gzip.
  static func unsupportedCoding(_ coding: String) -> HTTPProblem {
    HTTPProblem(
      .unsupportedCoding,
      detail: "Content-Encoding ‘\(abridged(coding))’ is not supported. Send the bundle without a coding.",
      headerFields: [.acceptEncoding: "identity"])
  }

  /// 400: the body does not match `field`, or the digest fields contradict each other.
  static func digestMismatch(_ field: HTTPField.Name) -> HTTPProblem {
    HTTPProblem(
      .digestMismatch,
      detail: "The content's SHA-256 differs from the one in \(field.rawName). Nothing was stored.")
  }

  /// 400: the form is malformed.
  static func malformedForm(_ detail: String) -> HTTPProblem {
    HTTPProblem(.malformedForm, detail: detail)
  }

  /// 413: the form exceeds a limit.
  static func formTooLarge(_ detail: String) -> HTTPProblem {
    HTTPProblem(.formTooLarge, detail: detail)
  }

  /// 503: the call can't be recorded in the audit log.
  static var auditUnavailable: HTTPProblem {
    HTTPProblem(
      .auditUnavailable,
      detail:
        "The server can't write its audit log at the moment, and refuses the call. Try again later.",
      headerFields: [.retryAfter: "5"])
  }

  /// 415: the body is not a change of a record. Has the accepted type.
  static func unsupportedPatch(_ sent: String?) -> HTTPProblem {
    let subject = sent.map { "‘\(abridged($0))’ is" } ?? "A body without Content-Type is"
    return HTTPProblem(
      .unsupportedMediaType, detail: "\(subject) not supported here. Send \(ChangeRequest.mediaType).",
      headerFields: [.acceptPatch: ChangeRequest.mediaType])
  }

  /// 422: the change of a record is not valid.
  static func malformedChange(_ detail: String) -> HTTPProblem {
    HTTPProblem(.malformedChange, detail: detail)
  }

  /// 400, or 422 in the body of a change: `text`, the value of `name`, is not an expiry date.
  package static func malformedEnd(
    _ name: String, _ text: String, _ status: HTTPResponse.Status = .badRequest
  ) -> HTTPProblem {
    HTTPProblem(
      .malformedEnd, status: status,
      detail: """
        ‘\(name)’ is ‘\(abridged(text))’. It must be a time such as 2027-03-01T00:00:00Z, a duration such as 12h or \
        30d, or never.
        """)
  }
}
