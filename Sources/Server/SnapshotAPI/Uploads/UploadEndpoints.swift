import AccessControl
import HTTPTypes
import Observability
import SnapshotFormat

// What the endpoints of tus and of the IETF's draft have in common.

extension Endpoint {
  /// The fields of every response to a page of another origin.
  static let crossOriginFields = ["Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Vary"]
  /// The fields that any response by the IETF's draft may have.
  static let draftFields =
    [
      "Upload-Complete", "Upload-Incomplete", "Upload-Draft-Interop-Version", "Upload-Offset", "Upload-Limit",
      "Accept", "Accept-Patch",
    ] + crossOriginFields
}

extension [ProblemKind] {
  /// What may be wrong with the upload that a call names.
  static let uploadLookup: [ProblemKind] = [.noSuchUpload, .uploadGone, .tusVersion, .methodNotAllowed]
  /// The same, and what is wrong with the bundle once all of its bytes are there.
  static let uploadStatus = uploadLookup + uploadEnd
  /// The same, and what may be wrong with appended bytes.
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
  /// What a request that attaches a snapshot may say of resuming.
  static let resuming: [Self] = [.interopVersion, .uploadComplete, .uploadIncomplete, .wholeLength]
  static let upload = Self(
    name: "upload", place: .path, text: "The upload's name, as `Location` has it.",
    schema: ["type": "string", "pattern": "^[0-9a-f]{32}$"])
  static let tusVersion = header("Tus-Resumable", "Always 1.0.0.", ["const": "1.0.0"])
  static let methodOverride = header(
    "X-HTTP-Method-Override", "The method that is meant.", ["enum": ["POST", "OPTIONS"]])
  static let meantMethod = Self(
    name: "X-HTTP-Method-Override", place: .header, text: "The method that is meant.",
    schema: ["enum": ["HEAD", "GET", "PATCH", "DELETE", "OPTIONS"]], isRequired: true)
  static let uploadMetadata = header(
    "Upload-Metadata", "Keys, each with a value in base64, parted by commas.")
  static let uploadChecksum = header(
    "Upload-Checksum", "`sha1` or `sha256`, and the body's digest in base64; as a trailer field too.")
  static let uploadOffset = header("Upload-Offset", "Where the bytes go on.", number)
  static let uploadLength = header("Upload-Length", "How many bytes there are in all.", number)
  static let wholeLength = header(
    "Upload-Length", "How many bytes there are in all; what is no number counts as nothing (RFC 9651).")
  static let uploadComplete = header(
    "Upload-Complete", "`?1` where nothing comes after this request, `?0` where more does.")
  static let uploadIncomplete = header("Upload-Incomplete", "The opposite, as version 3 says it.")
  static let interopVersion = header(
    "Upload-Draft-Interop-Version", "The version that is spoken: 3, 5, 6, 7 or 8.")
  private static let number: JSONValue = ["type": "string", "pattern": "^[0-9]{1,15}$"]
}
