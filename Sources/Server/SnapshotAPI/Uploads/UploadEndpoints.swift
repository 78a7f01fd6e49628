import AccessControl
import HTTPTypes
import Observability
import SnapshotFormat

// Definitions that the endpoints of tus and of the IETF draft share.

extension Endpoint {
  /// The fields of every response to a page of another origin.
  static let crossOriginFields = ["Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Vary"]
  /// The fields that any response of the IETF draft can have.
  static let draftFields =
    [
      "Upload-Complete", "Upload-Incomplete", "Upload-Draft-Interop-Version", "Upload-Offset", "Upload-Limit",
      "Accept", "Accept-Patch",
    ] + crossOriginFields
}

extension [ProblemKind] {
  /// The problems with the upload that a call names.
  static let uploadLookup: [ProblemKind] = [.noSuchUpload, .uploadGone, .tusVersion, .methodNotAllowed]
  /// The same, and the problems with the bundle of a complete upload.
  static let uploadStatus = uploadLookup + uploadEnd
  /// The same, and the problems with appended bytes.
  static let uploadAppend =
    uploadStatus + [
      .unsupportedMediaType, .unsupportedCoding, .mismatchingUploadOffset, .inconsistentUploadLength,
      .completedUpload, .uploadJoined, .uploadTakenOver, .contentTooLarge, .digestMismatch,
      .checksumMismatch, .uploadQuotaExceeded,
    ]
  private static let uploadEnd: [ProblemKind] = [
    .digestMismatch, .invalidBundle, .outsideLimits, .snapshotDiffers, .snapshotExists,
    .snapshotDeleted, .outOfSpace, .quotaExceeded,
  ]
}

extension Endpoint.Parameter {
  /// The parameters of the IETF draft for requests that attach a snapshot.
  static let resuming: [Self] = [.interopVersion, .uploadComplete, .uploadIncomplete, .wholeLength]
  static let upload = Self(
    name: "upload", place: .path, text: "The id of the upload, from `Location`.",
    schema: ["type": "string", "pattern": "^[0-9a-f]{32}$"])
  static let tusVersion = header("Tus-Resumable", "Always 1.0.0.", ["const": "1.0.0"])
  static let methodOverride = header(
    "X-HTTP-Method-Override", "The method to perform.", ["enum": ["POST", "OPTIONS"]])
  static let meantMethod = Self(
    name: "X-HTTP-Method-Override", place: .header, text: "The method to perform.",
    schema: ["enum": ["HEAD", "GET", "PATCH", "DELETE", "OPTIONS"]], isRequired: true)
  static let uploadMetadata = header(
    "Upload-Metadata", "Keys, each with a value in base64, separated by commas.")
  static let uploadChecksum = header(
    "Upload-Checksum", "`sha1` or `sha256`, and the body's digest in base64. Can be a trailer field.")
  static let uploadOffset = header("Upload-Offset", "The offset of the first byte of the body.", number)
  static let uploadLength = header("Upload-Length", "The length of the whole upload in bytes.", number)
  static let wholeLength = header(
    "Upload-Length", "The length of the whole upload in bytes. A malformed value is ignored (RFC 9651).")
  static let uploadComplete = header(
    "Upload-Complete", "`?1` if this request completes the upload, `?0` if not.")
  static let uploadIncomplete = header(
    "Upload-Incomplete", "The opposite of `Upload-Complete`, for version 3.")
  static let interopVersion = header(
    "Upload-Draft-Interop-Version", "The version of the draft: 3, 5, 6, 7 or 8.")
  private static let number: JSONValue = ["type": "string", "pattern": "^[0-9]{1,15}$"]
}
