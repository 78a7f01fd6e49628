import AccessControl
package import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotFormat
import SnapshotStore
import SystemIO

/// What clients are told when something goes wrong: the one place where the service's errors meet HTTP's status
/// codes. What an error says of the server itself never gets out.
package enum SnapshotProblem {
  /// The answer to a request that `error` ended; `nil` where the connection knows best what there is to say, for
  /// the body broke off.
  package static func answer(to error: any Error) -> HTTPProblem? {
    switch error {
    case let problem as HTTPProblem: problem
    case let error as StoreError: problem(of: error)
    case CatalogError.incomplete: catalogIncomplete
    case let error as MultipartError: problem(of: error)
    case let refusal as ReportID.Refusal:
      HTTPProblem(.malformedReportID, detail: refusal.description)
    case let failure as UploadFailure: failure.problem
    case let refused as RefusedUpload: refused.problem
    case is HTTPBodyError, is CancellationError: nil
    default: .internalError
    }
  }

  /// Why the body broke off that `error`, which has no ``answer(to:)``, comes from: what the connection knows how to
  /// answer. A request that was cancelled has nobody any more who could be answered.
  static func brokenBody(_ error: any Error) -> HTTPBodyError {
    var error = error
    if let failure = error as? UploadFailure, case .body(let cause) = failure.cause { error = cause }
    return error as? HTTPBodyError ?? .disconnected
  }

  /// Whether `error` is the server's own fault, and belongs into its log.
  static func isInternal(_ error: any Error) -> Bool {
    // Nothing went wrong: the log says already that the catalogue is being made anew.
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
    case .invalid(let reason):
      HTTPProblem(.invalidBundle, detail: reason.description)
    case .foreignApplication:
      .outsideLimits("applications")
    case .outOfSpace:
      HTTPProblem(.outOfSpace, detail: error.description + " Nothing of it was kept.")
    case .quotaExceeded:
      HTTPProblem(.quotaExceeded, detail: error.description + " Nothing of it was kept.")
    case .damaged:
      HTTPProblem(
        .snapshotDamaged,
        detail: error.description + " Whoever has the bundle can put it right by attaching it again.")
    case .system(let failure) where failure.isOutOfDescriptors:
      HTTPProblem(
        .busy, detail: "Too many files are open at the moment. Try again in a few seconds.",
        headerFields: [.retryAfter: "5"])
    case .system:
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

  /// 503: lists would lack something.
  private static var catalogIncomplete: HTTPProblem {
    HTTPProblem(
      .catalogIncomplete,
      detail: "Lists are answered again when it is complete, which /readyz tells; snapshots can be fetched.",
      headerFields: [.retryAfter: "5"])
  }

  /// 503: the disk failed, so that nobody knows whether the snapshot is there.
  private static var storageUnavailable: HTTPProblem {
    HTTPProblem(
      .storageUnavailable,
      detail:
        "The server can't read or write its storage at the moment; its log says why, under the id of this request.",
      headerFields: [.retryAfter: "5"])
  }
}

extension HTTPProblem {
  /// 500, without a word on the reason.
  static var internalError: HTTPProblem {
    HTTPProblem(
      .internalError,
      detail: "Something went wrong in the server; its log says what, under the id of this request.")
  }

  /// 415, with what would be accepted.
  package static func unsupportedMediaType(
    _ sent: String?, accepted: String = "application/zip, multipart/form-data"
  ) -> HTTPProblem {
    let subject = sent.map { "‘\(abridged($0))’ is" } ?? "A body without Content-Type is"
    return HTTPProblem(
      .unsupportedMediaType, detail: "\(subject) not taken here; send one of \(accepted).",
      headerFields: [.acceptPost: accepted, .accept: accepted])
  }

  /// 415: the body is coded, such as by gzip.
  static func unsupportedCoding(_ coding: String) -> HTTPProblem {
    HTTPProblem(
      .unsupportedCoding,
      detail: "Content-Encoding ‘\(abridged(coding))’ is not taken here; send the bundle as it is.",
      headerFields: [.acceptEncoding: "identity"])
  }

  /// 400: the body, or its two digest fields, disagree with `field`.
  static func digestMismatch(_ field: HTTPField.Name) -> HTTPProblem {
    HTTPProblem(
      .digestMismatch,
      detail: "The content's SHA-256 is another than \(field.rawName) states. Nothing of it was kept.")
  }

  /// 400: the form can't be taken, for the reason given.
  static func malformedForm(_ detail: String) -> HTTPProblem {
    HTTPProblem(.malformedForm, detail: detail)
  }

  /// 413: the form's fields keep within no limit of the server.
  static func formTooLarge(_ detail: String) -> HTTPProblem {
    HTTPProblem(.formTooLarge, detail: detail)
  }

  /// 503: the call can't be accounted for.
  static var auditUnavailable: HTTPProblem {
    HTTPProblem(
      .auditUnavailable,
      detail:
        "The server can't write down who does what at the moment, and so doesn't do it. Try again later.",
      headerFields: [.retryAfter: "5"])
  }

  /// 415: no change of a record, with what would be accepted.
  static func unsupportedPatch(_ sent: String?) -> HTTPProblem {
    let subject = sent.map { "‘\(abridged($0))’ is" } ?? "A body without Content-Type is"
    return HTTPProblem(
      .unsupportedMediaType, detail: "\(subject) not taken here; send \(ChangeRequest.mediaType).",
      headerFields: [.acceptPatch: ChangeRequest.mediaType])
  }

  /// 422: the change of a record can't be made, for the reason given.
  static func malformedChange(_ detail: String) -> HTTPProblem {
    HTTPProblem(.malformedChange, detail: detail)
  }

  /// 400 or, in the body of a change, 422: `text`, which `name` has, says no time at which a snapshot goes.
  static func malformedEnd(
    _ name: String, _ text: String, _ status: HTTPResponse.Status = .badRequest
  ) -> HTTPProblem {
    HTTPProblem(
      .malformedEnd, status: status,
      detail: """
        ‘\(name)’ is ‘\(abridged(text))’; it takes a time such as 2027-03-01T00:00:00Z, a while such as 12h or 30d, \
        or never.
        """)
  }
}
