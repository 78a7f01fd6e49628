import AccessControl
package import HTTPEngine
import HTTPSemantics
import HTTPTypes
package import Observability
import SnapshotStore

/// The problems of uploads, which all protocols share.
extension HTTPProblem {
  /// Returns the problem for an upload error. Returns `nil` if the body failed and the connection determines the
  /// response.
  static func problem(of error: UploadError) -> HTTPProblem? {
    switch error {
    case .unknown: noSuchUpload
    case .gone:
      HTTPProblem(.uploadGone, detail: "The upload has expired or was deleted. Create a new one.")
    case .mismatchingOffset(let expected, let provided): mismatchingOffset(expected, provided)
    case .inconsistentLength(let known, let stated): inconsistentLength(known, stated)
    case .exceeded(let length): inconsistentLength(length, nil)
    case .tooLarge(let limit): tooLarge(limit: limit, "The limit is \(limit) bytes.")
    case .completed: completedUpload
    case .joined:
      HTTPProblem(.uploadJoined, detail: "An upload that is joined from parts accepts no bytes.")
    case .unusablePart(let id):
      HTTPProblem(
        .malformedConcatenation, detail: "‘\(id)’ is not one of your parts, or is incomplete.")
    case .partCount(let limit):
      HTTPProblem(.malformedConcatenation, detail: "An upload can be joined from 1 to \(limit) parts.")
    case .termsTooLong(let limit):
      HTTPProblem(
        .uploadMetadataTooLarge, detail: "The metadata of an upload is limited to \(limit) bytes.")
    case .digestMismatch, .digestMissing: damagedPart(.digestMismatch)
    case .tooManyOpen(let limit):
      HTTPProblem(
        .tooManyUploads,
        detail: "The limit is \(limit). Finish or delete some, or wait until they expire.",
        headerFields: [.retryAfter: "60"])
    case .superseded:
      HTTPProblem(.uploadTakenOver, detail: "The bytes received until then were stored.")
    case .forbidden: outsideLimits("reports")
    case .body(let error): SnapshotProblem.answer(to: error)
    case .store(.outOfSpace):
      noRoom(.outOfSpace, StoreError.outOfSpace)
    case .store(.outOfInodes):
      noRoom(.outOfSpace, StoreError.outOfInodes)
    case .store(.quotaExceeded(let limit)):
      noRoom(.quotaExceeded, StoreError.quotaExceeded(limit: limit))
    case .store(let error): SnapshotProblem.answer(to: error)
    case .other: internalError
    }
  }

  /// Returns the problem for a refused bundle, after all bytes were received.
  static func problem(of refusal: UploadRefusal) -> HTTPProblem {
    let detail = refusal.description
    return switch refusal.reason {
    case .digestMismatch:
      HTTPProblem(.digestMismatch, detail: detail)
    case .invalid:
      HTTPProblem(.invalidBundle, detail: detail)
    case .foreignApplication: outsideLimits("applications")
    case .conflict:
      HTTPProblem(.snapshotDiffers, detail: detail)
    case .alreadyExists:
      HTTPProblem(.snapshotExists, detail: detail)
    case .deleted:
      HTTPProblem(.snapshotDeleted, detail: detail)
    }
  }

  /// 404: the upload does not exist, or belongs to another caller.
  static var noSuchUpload: HTTPProblem {
    HTTPProblem(
      .noSuchUpload,
      detail:
        "You have no upload with this id. It may have been finished, have expired, or have been deleted.")
  }

  /// 409: the request's offset is not the end of the upload.
  private static func mismatchingOffset(_ expected: Int64, _ provided: Int64) -> HTTPProblem {
    var problem = HTTPProblem(
      .mismatchingUploadOffset,
      detail: "The upload continues at \(expected), but the request's offset is \(provided).")
    problem.numbers = ["expected-offset": expected, "provided-offset": provided]
    return problem
  }

  /// 400: the length contradicts the content or an earlier length.
  private static func inconsistentLength(_ known: Int64?, _ stated: Int64?) -> HTTPProblem {
    let before =
      known.map { "The upload's length is \($0) bytes" } ?? "The stated lengths contradict each other"
    let now = stated.map { ", but \($0) are stated now." } ?? ", but there are more."
    return HTTPProblem(
      .inconsistentUploadLength, detail: before + (known == nil ? ": \(stated ?? 0) bytes." : now))
  }

  /// 400: the upload is complete and accepts no more bytes.
  private static var completedUpload: HTTPProblem {
    HTTPProblem(.completedUpload, detail: "The upload is complete and accepts no more bytes.")
  }

  /// 413: the upload exceeds a limit. No bytes beyond the limit were stored.
  package static func tooLarge(limit: Int64, _ detail: String) -> HTTPProblem {
    var problem = tooLarge(limit: limit)
    problem.detail = detail
    return problem
  }

  /// 400, or 460 in tus: the content of a request does not match its digest.
  package static func damagedPart(_ kind: ProblemKind) -> HTTPProblem {
    HTTPProblem(
      kind,
      detail: "The request's content was damaged in transit and was not stored. Send it again.")
  }

  /// 507: there is no space now, but there may be before the upload expires.
  private static func noRoom(_ kind: ProblemKind, _ error: StoreError) -> HTTPProblem {
    HTTPProblem(
      kind, detail: error.description + " The received bytes are kept until the upload expires.")
  }
}
