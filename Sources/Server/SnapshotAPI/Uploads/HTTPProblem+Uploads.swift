import AccessControl
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotStore

/// What is said of uploads that may be resumed.
extension HTTPProblem {
  /// The answer to a request whose upload does not do what it asks; `nil` where the connection knows best.
  static func problem(of error: UploadError, in language: UploadFailure.Language) -> HTTPProblem? {
    switch error {
    case .unknown: noSuchUpload
    case .gone:
      HTTPProblem(.uploadGone, detail: "It was not finished in time, or was ended; begin a new one.")
    case .mismatchingOffset(let expected, let provided): mismatchingOffset(expected, provided)
    case .inconsistentLength(let known, let stated): inconsistentLength(known, stated)
    case .exceeded(let length):
      language == .tus
        ? tooLarge(limit: length, "The upload has \(length) bytes in all.") : inconsistentLength(length, nil)
    case .tooLarge(let limit): tooLarge(limit: limit, "The server takes at most \(limit) bytes.")
    case .completed: completedUpload
    case .joined:
      HTTPProblem(.uploadJoined, detail: "An upload that is joined from parts takes no bytes itself.")
    case .unusablePart(let id):
      malformedConcatenation("‘\(id)’ is no part of yours that has all of its bytes.")
    case .partCount(let limit): malformedConcatenation("An upload is joined from 1 to \(limit) parts.")
    case .termsTooLong(let limit):
      metadataTooLarge("What comes with an upload takes at most \(limit) bytes here.")
    case .digestMismatch, .digestMissing:
      language == .tus ? checksumMismatch : damagedPart
    case .tooManyOpen(let limit):
      HTTPProblem(
        .tooManyUploads,
        detail: "Not more than \(limit) may be; finish or end some, or wait until they expire.",
        headerFields: [.retryAfter: "60"])
    case .superseded:
      HTTPProblem(.uploadTakenOver, detail: "What had come of this one by then is kept.")
    case .forbidden: outsideLimits("reports")
    case .body(let error): SnapshotProblem.answer(to: error)
    case .store(.outOfSpace):
      noRoom(.outOfSpace, StoreError.outOfSpace)
    case .store(.quotaExceeded(let limit)):
      noRoom(.quotaExceeded, StoreError.quotaExceeded(limit: limit))
    case .store(let error): SnapshotProblem.answer(to: error)
    case .other: internalError
    }
  }

  /// What became of the bytes, once they were all there.
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

  /// 404: there is no such upload, or it is somebody else's.
  static var noSuchUpload: HTTPProblem {
    HTTPProblem(
      .noSuchUpload,
      detail: "No upload of yours has this name: it was finished long ago, ended, or never begun.")
  }

  /// 409: the bytes begin elsewhere than where the upload ends.
  private static func mismatchingOffset(_ expected: Int64, _ provided: Int64) -> HTTPProblem {
    var problem = HTTPProblem(
      .mismatchingUploadOffset,
      detail: "The upload goes on at \(expected), and this would have been put at \(provided).")
    problem.numbers = ["expected-offset": expected, "provided-offset": provided]
    return problem
  }

  /// 400: what is said of the length is not so, or not what was said before.
  private static func inconsistentLength(_ known: Int64?, _ stated: Int64?) -> HTTPProblem {
    let before =
      known.map { "The upload has \($0) bytes in all" } ?? "What is said of the length contradicts itself"
    let now = stated.map { ", and now \($0) are stated." } ?? ", and more come."
    return HTTPProblem(
      .inconsistentUploadLength, detail: before + (known == nil ? ": \(stated ?? 0) bytes." : now))
  }

  /// 400: it takes nothing any more.
  private static var completedUpload: HTTPProblem {
    HTTPProblem(.completedUpload, detail: "It has all of its bytes, and takes none any more.")
  }

  /// 413: there are more bytes than are taken, of which none of those that were too many was kept.
  private static func tooLarge(limit: Int64, _ detail: String) -> HTTPProblem {
    var problem = tooLarge(limit: limit)
    problem.detail = detail
    return problem
  }

  /// 400: the bytes of one request are not those that were sent.
  private static var damagedPart: HTTPProblem {
    HTTPProblem(
      .digestMismatch,
      detail: "What this request brought was damaged on its way, and none of it was kept. Send it again.")
  }

  /// 460: the same, as tus says it.
  private static var checksumMismatch: HTTPProblem {
    HTTPProblem(
      .checksumMismatch,
      detail: "What this request brought was damaged on its way, and none of it was kept. Send it again.")
  }

  /// 507: there is no room now, but may be before the upload expires.
  private static func noRoom(_ kind: ProblemKind, _ error: StoreError) -> HTTPProblem {
    HTTPProblem(
      kind, detail: error.description + " What has come of the upload is kept until it expires.")
  }

  /// 400: what a joined upload is to be made of can't be read, or is not there.
  static func malformedConcatenation(_ detail: String) -> HTTPProblem {
    HTTPProblem(.malformedConcatenation, detail: detail)
  }

  /// 400: what came with an upload can't be read, or lacks something.
  static func malformedMetadata(_ detail: String) -> HTTPProblem {
    HTTPProblem(.malformedUploadMetadata, detail: detail)
  }

  /// 413: what came with an upload is more than is kept.
  static func metadataTooLarge(_ detail: String) -> HTTPProblem {
    HTTPProblem(.uploadMetadataTooLarge, detail: detail)
  }

  /// 412: another version of tus was asked for.
  static var tusVersion: HTTPProblem {
    HTTPProblem(
      .tusVersion, detail: "Say ‘Tus-Resumable: \(Tus.version)’.", headerFields: [.tusVersion: Tus.version])
  }

  /// 415: bytes for an upload come under another type.
  static func unsupportedPart(_ expected: String) -> HTTPProblem {
    HTTPProblem(
      .unsupportedMediaType, detail: "Send the bytes of an upload as \(expected).",
      headerFields: [.accept: expected, .acceptPatch: expected])
  }
}
