import HTTPTypes
import SnapshotFormat

extension Operation {
  /// The calls that deal with uploads that may be resumed.
  static let uploads: [Operation] = tus + draft

  private static let tus: [Operation] = [
    Operation(
      "openUpload", .post, ResumableUploads.path, "Opens an upload that may be resumed, by tus 1.0.0.",
      detail: """
        `Upload-Metadata` has at least `report`; `id` is the UUID that the snapshot gets, `digest` its SHA-256, \
        `expires` when it is to go. Everything else becomes the record's metadata. The body may be the first bytes.
        """,
      parameters: [
        .tusVersion, .methodOverride, .uploadLength, .uploadMetadata,
        .header("Upload-Defer-Length", "1 where the length is told later.", ["const": "1"]),
        .header("Upload-Concat", "`partial`, or `final;` and the paths of parts, parted by spaces."),
        .uploadChecksum, .ifNoneMatch,
      ],
      answers: [
        Answer(status: 201, text: "It is open, or complete.", fields: ["Location"] + tusOffset),
        Answer(status: 204, text: "As after OPTIONS.", fields: tusOffer),
      ],
      problems: opening, fields: tusFields),
    Operation(
      "readUpload", .get, ResumableUploads.path + "/{upload}", "Tells how far an upload is.",
      detail: "Any request that still brings bytes to it is ended first.",
      parameters: [.upload, .tusVersion],
      answers: [
        Answer(
          status: 200, text: "It is known.",
          fields: tusOffset + [
            "Cache-Control", "Upload-Length", "Upload-Defer-Length", "Upload-Metadata", "Upload-Concat",
          ])
      ], problems: knowing + ending, fields: tusFields),
    Operation(
      "appendToUpload", .patch, ResumableUploads.path + "/{upload}", "Brings more bytes to an upload.",
      detail: "What comes is kept even where the connection breaks. The last bytes publish the snapshot.",
      parameters: [.upload, .tusVersion, .uploadOffset, .uploadLength, .uploadChecksum], body: tusBody,
      answers: [Answer(status: 204, text: "They are there to stay.", fields: tusOffset)],
      problems: knowing + appending + ending, fields: tusFields),
    Operation(
      "endUpload", .delete, ResumableUploads.path + "/{upload}", "Ends an upload; what was published stays.",
      parameters: [.upload, .tusVersion], answers: [.noContent("It is gone.")], problems: knowing,
      fields: tusFields),
    Operation(
      "useUpload", .post, ResumableUploads.path + "/{upload}",
      "Does what another method does, which `X-HTTP-Method-Override` names.",
      parameters: [.upload, .tusVersion, .meantMethod, .uploadOffset, .uploadLength, .uploadChecksum],
      answers: [
        Answer(
          status: 200, text: "As after GET.",
          fields: tusOffset + [
            "Cache-Control", "Upload-Length", "Upload-Defer-Length", "Upload-Metadata", "Upload-Concat",
          ]),
        Answer(status: 204, text: "As after PATCH, DELETE or OPTIONS.", fields: tusOffset + tusOffer),
      ],
      problems: knowing + appending + ending, fields: tusFields),
  ]

  private static let draft: [Operation] = [
    Operation(
      "readResumableUpload", .get, ResumableUploads.draftPath + "/{upload}",
      "Tells how far an upload is, by draft-ietf-httpbis-resumable-upload.",
      detail: "Any request that still brings bytes to it is ended first.",
      parameters: [.upload, .interopVersion],
      answers: [
        Answer(
          status: 204, text: "It is known.",
          fields: ["Cache-Control", "Upload-Offset", "Upload-Length", "Upload-Limit"])
      ], problems: knowing, fields: draftFields),
    Operation(
      "appendToResumableUpload", .patch, ResumableUploads.draftPath + "/{upload}",
      "Brings more bytes to an upload, by draft-ietf-httpbis-resumable-upload.",
      detail: "With `Upload-Complete: ?1` the answer is that of attaching the snapshot.",
      parameters: [
        .upload, .interopVersion, .uploadOffset, .uploadLength, .uploadComplete, .uploadIncomplete,
        .header("Content-Digest", "The SHA-256 of the body (RFC 9530), checked before any of it counts."),
      ], body: [DraftDialect.mediaType: [:]],
      answers: [
        Answer(status: 204, text: "They are there to stay, and more are to come.", fields: draftFields),
        .json(
          201, "The snapshot is attached; or, by older versions, as 204.", record, fields: ["Location"]),
        alreadyThere,
      ],
      problems: knowing + appending + ending + [.badRequest], fields: draftFields),
    Operation(
      "endResumableUpload", .delete, ResumableUploads.draftPath + "/{upload}",
      "Ends an upload, by draft-ietf-httpbis-resumable-upload; what was published stays.",
      parameters: [.upload, .interopVersion], answers: [.noContent("It is gone.")], problems: knowing,
      fields: draftFields),
  ]

  /// Fields that come with any answer to those who upload from pages of other origins.
  private static let crossOrigin = ["Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Vary"]
  private static let tusFields =
    ["Allow", "Tus-Resumable", "Tus-Version", "Location", "Accept", "Accept-Patch", "Cache-Control"]
    + crossOrigin
  private static let tusOffer = ["Tus-Extension", "Tus-Max-Size", "Tus-Checksum-Algorithm"]
  private static let tusOffset = ["Upload-Offset", "Upload-Expires", "Link"]
  /// Fields that come with any answer to those who speak the draft.
  static let draftFields =
    [
      "Upload-Complete", "Upload-Incomplete", "Upload-Draft-Interop-Version", "Upload-Offset", "Upload-Limit",
      "Accept", "Accept-Patch",
    ] + crossOrigin

  private static let knowing: [ProblemKind] = [.noSuchUpload, .uploadGone, .tusVersion, .methodNotAllowed]
  private static let appending: [ProblemKind] = [
    .unsupportedMediaType, .unsupportedCoding, .mismatchingUploadOffset, .inconsistentUploadLength,
    .completedUpload, .uploadJoined, .uploadTakenOver, .contentTooLarge, .digestMismatch,
    .checksumMismatch, .uploadQuotaExceeded,
  ]
  /// How bytes are refused once they are all there.
  private static let ending: [ProblemKind] = [
    .digestMismatch, .invalidBundle, .outsideLimits, .snapshotDiffers, .snapshotExists,
    .snapshotDeleted, .outOfSpace, .quotaExceeded,
  ]
  private static let opening: [ProblemKind] =
    ending + appending + knowing + [
      .malformedUploadMetadata, .malformedConcatenation, .uploadMetadataTooLarge,
      .malformedReportID,
      .malformedSnapshotID, .malformedEnd, .preconditionFailed, .tooManyUploads,
    ]
  private static let tusBody: [String: JSONValue] = [Tus.mediaType: [:]]

  /// What may be said of an upload that is to be resumed, when a snapshot is attached.
  static let resuming: [Parameter] = [
    .interopVersion, .uploadComplete, .uploadIncomplete, .wholeLength,
  ]
}

extension Operation.Parameter {
  fileprivate static let upload = Self(
    name: "upload", place: .path, text: "The upload's name, as `Location` has it.",
    schema: ["type": "string", "pattern": "^[0-9a-f]{32}$"])
  fileprivate static let tusVersion = header("Tus-Resumable", "Always 1.0.0.", ["const": "1.0.0"])
  fileprivate static let methodOverride = header(
    "X-HTTP-Method-Override", "The method that is meant.", ["enum": ["POST", "OPTIONS"]])
  fileprivate static let meantMethod = Self(
    name: "X-HTTP-Method-Override", place: .header, text: "The method that is meant.",
    schema: ["enum": ["HEAD", "GET", "PATCH", "DELETE", "OPTIONS"]], isRequired: true)
  fileprivate static let uploadMetadata = header(
    "Upload-Metadata", "Keys, each with a value in base64, parted by commas.")
  fileprivate static let uploadChecksum = header(
    "Upload-Checksum", "`sha1` or `sha256`, and the body's digest in base64; as a trailer field too.")
  fileprivate static let uploadOffset = header("Upload-Offset", "Where the bytes go on.", number)
  fileprivate static let uploadLength = header("Upload-Length", "How many bytes there are in all.", number)
  fileprivate static let wholeLength = header(
    "Upload-Length", "How many bytes there are in all; what is no number counts as nothing (RFC 9651).")
  fileprivate static let uploadComplete = header(
    "Upload-Complete", "`?1` where nothing comes after this request, `?0` where more does.")
  fileprivate static let uploadIncomplete = header("Upload-Incomplete", "The opposite, as version 3 says it.")
  fileprivate static let interopVersion = header(
    "Upload-Draft-Interop-Version", "The version that is spoken: 3, 5, 6, 7 or 8.")
  private static let number: JSONValue = ["type": "string", "pattern": "^[0-9]{1,15}$"]
}
