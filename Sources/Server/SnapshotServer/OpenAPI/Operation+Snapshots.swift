import HTTPTypes
import SnapshotFormat

extension Operation {
  /// The calls that deal with one snapshot.
  static let snapshots: [Operation] = [
    Operation(
      "attachSnapshot", .post, "/v1/reports/{report}/snapshots", "Attaches a snapshot to a bug report.",
      detail: """
        The server makes the UUID. The bundle is the body, or the part `snapshot` of a form whose other parts become \
        the record's metadata. Nothing is kept of a bundle that is refused.
        """,
      parameters: [.report] + uploading, body: bundleBody,
      answers: [
        .json(201, "It is attached, and would survive a power cut.", record, fields: ["Location"]),
        alreadyThere,
      ],
      problems: attaching, fields: draftFields),
    Operation(
      "attachSnapshotAs", .put, "/v1/reports/{report}/snapshots/{id}",
      "Attaches a snapshot under a UUID of the client's making.",
      detail: "Sending the same bytes again does no harm. `If-None-Match: *` refuses a UUID that is taken.",
      parameters: [.report, .id, .ifMatch, .ifNoneMatch] + uploading, body: bundleBody,
      answers: [
        .json(201, "It is attached, and would survive a power cut.", record, fields: ["Location"]),
        alreadyThere,
      ],
      problems: attaching + [
        .malformedSnapshotID, .snapshotDeleted, .snapshotDiffers, .snapshotExists,
        .preconditionFailed,
      ], fields: draftFields),
    Operation(
      "fetchBundle", .get, "/v1/snapshots/{id}.zip", "Sends a snapshot's bundle, or ranges of it.",
      parameters: [
        .id, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .range, .ifRange,
        .query("expires", "When the link ends: part of what `createLink` gave.", ["type": "string"]),
        .header(
          "Want-Repr-Digest", "Whether a digest is wanted, such as `sha-256=0` for none (RFC 9530 §4)."),
      ],
      answers: [
        Answer(
          status: 200, text: "The bundle.", fields: bundleFields, content: ["application/zip": binary]),
        Answer(
          status: 206, text: "The ranges that were asked for.", fields: bundleFields + ["Content-Range"],
          content: ["application/zip": binary, "multipart/byteranges": binary]),
        .notModified,
      ],
      problems: [
        .malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted, .snapshotDamaged,
        .preconditionFailed, .rangeNotSatisfiable,
      ]),
    Operation(
      "readSnapshot", .get, "/v1/snapshots/{id}", "Tells what is known of a snapshot.",
      parameters: [.id, .ifMatch, .ifNoneMatch],
      answers: [
        .json(200, "The record.", record, fields: ["ETag"]),
        .notModified,
      ],
      problems: [
        .malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted, .snapshotDamaged,
        .preconditionFailed,
      ]),
    Operation(
      "changeSnapshot", .patch, "/v1/snapshots/{id}", "Pins a snapshot, or sets when it is to go.",
      detail: "The body is a JSON merge patch (RFC 7396) of the record's `pinned` and `expiresAt`.",
      parameters: [.id, .ifMatch, .ifNoneMatch],
      body: [ChangeRequest.mediaType: change, "application/json": change],
      answers: [.json(200, "The record as it is now.", record, fields: ["ETag"])],
      problems: [
        .malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted, .preconditionFailed,
        .contentTooLarge, .unsupportedMediaType, .malformedChange, .malformedEnd,
      ]),
    Operation(
      "deleteSnapshot", .delete, "/v1/snapshots/{id}", "Deletes a snapshot for good.",
      detail: "Its UUID is never used again, and answers 410 from then on.",
      parameters: [.id, .ifMatch, .ifNoneMatch], answers: [.noContent("It is deleted.")],
      problems: [.malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted, .preconditionFailed]),
    Operation(
      "createLink", .post, "/v1/snapshots/{id}/links",
      "Makes a link to a snapshot's bundle that needs no token.",
      detail: "Whoever has the link may download just this bundle until it ends.",
      parameters: [
        .id,
        .query(
          "seconds", "How long it lasts.",
          [
            "type": "integer", "minimum": .integer(Int64(LinkSigner.lifetimes.lowerBound)),
            "maximum": .integer(Int64(LinkSigner.lifetimes.upperBound)),
            "default": .integer(Int64(LinkRoutes.defaultLifetime)),
          ]),
      ],
      answers: [
        .json(201, "The link.", ["$ref": "#/components/schemas/Link"], fields: ["Location"])
      ],
      problems: [.malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted]),
  ]

  static let record: JSONValue = ["$ref": "#/components/schemas/Snapshot"]
  static let alreadyThere = Answer.json(
    200, "The same bytes were attached to the same report before.", record)
  private static let change: JSONValue = [
    "schema": [
      "type": "object", "additionalProperties": false,
      "properties": [
        "pinned": ["type": ["boolean", "null"]],
        "expiresAt": [
          "type": ["string", "null"],
          "description": "A time, a while from now such as `30d`, or `never`, which is what null says too.",
        ],
      ],
    ]
  ]
  private static let binary: JSONValue = [:]
  private static let bundleFields = [
    "Accept-Ranges", "Cache-Control", "Content-Disposition", "ETag", "Last-Modified", "Repr-Digest",
  ]
  private static let uploading: [Parameter] =
    [
      .header("Repr-Digest", "The SHA-256 of the body (RFC 9530), checked before anything is kept."),
      .header("Content-Digest", "The same, by its other name."),
      .header(
        "Snapshot-Expires", "When the snapshot is to go: a time, a while such as `30d`, or `never`.",
        ["type": "string", "pattern": "^([1-9][0-9]{0,3}[hdw]|never)$"]),
    ] + resuming
  private static let digest: JSONValue = ["type": "string", "pattern": "^sha-256=:[A-Za-z0-9+/]{43}=:$"]
  private static let attaching: [ProblemKind] = [
    .malformedReportID, .digestMismatch, .malformedForm, .contentTooLarge, .formTooLarge,
    .unsupportedMediaType, .unsupportedCoding, .invalidBundle, .outOfSpace, .quotaExceeded,
    .uploadQuotaExceeded, .malformedEnd, .inconsistentUploadLength, .tooManyUploads,
    .uploadTakenOver, .uploadMetadataTooLarge, .noSuchUpload, .uploadGone,
  ]
  private static let bundleBody: [String: JSONValue] = [
    "application/zip": [:],
    "multipart/form-data": [
      "schema": [
        "type": "object", "required": ["snapshot"],
        "properties": ["snapshot": ["description": "The bundle.", "contentMediaType": "application/zip"]],
        "additionalProperties": ["type": "string"],
      ],
      "encoding": ["snapshot": ["contentType": "application/zip"]],
    ],
  ]
}
