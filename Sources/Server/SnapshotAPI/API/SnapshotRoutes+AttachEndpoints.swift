import AccessControl
import HTTPTypes
import Observability
import SnapshotFormat

extension SnapshotRoutes {
  /// The calls that attach a snapshot.
  var attachEndpoints: [Endpoint] {
    [
      Endpoint(
        "attachSnapshot", .post, "/v1/reports/{report}/snapshots", .attach,
        "Attaches a snapshot to a bug report.",
        detail: """
          The server makes the UUID. The bundle is the body, or the part `snapshot` of a form whose other parts become \
          the record's metadata. Nothing is kept of a bundle that is refused.
          """, uploads: .attach,
        parameters: [.report] + uploading, body: bundleBody,
        responses: [
          .json(
            201, "It is attached, and would survive a power cut.", .schema("Snapshot"), fields: ["Location"]),
          .alreadyThere,
        ],
        problems: attaching, fields: Endpoint.draftFields, handler: post),
      Endpoint(
        "attachSnapshotAs", .put, "/v1/reports/{report}/snapshots/{id}", .attach,
        "Attaches a snapshot under a UUID of the client's making.",
        detail: "Sending the same bytes again does no harm. `If-None-Match: *` refuses a UUID that is taken.",
        uploads: .attach, parameters: [.report, .id, .ifMatch, .ifNoneMatch] + uploading, body: bundleBody,
        responses: [
          .json(
            201, "It is attached, and would survive a power cut.", .schema("Snapshot"), fields: ["Location"]),
          .alreadyThere,
        ],
        problems: attaching + [
          .malformedSnapshotID, .snapshotDeleted, .snapshotDiffers, .snapshotExists,
          .preconditionFailed,
        ], fields: Endpoint.draftFields, handler: put),
    ]
  }
}

extension Endpoint.Response {
  static let alreadyThere = json(
    200, "The same bytes were attached to the same report before.", .schema("Snapshot"))
}

private let uploading: [Endpoint.Parameter] =
  [
    .header("Repr-Digest", "The SHA-256 of the body (RFC 9530), checked before anything is kept."),
    .header("Content-Digest", "The same, by its other name."),
    .header(
      "Snapshot-Expires", "When the snapshot is to go: a time, a while such as `30d`, or `never`.",
      ["type": "string", "pattern": "^([1-9][0-9]{0,3}[hdw]|never)$"]),
  ] + Endpoint.Parameter.resuming
private let attaching: [ProblemKind] = [
  .malformedReportID, .digestMismatch, .malformedForm, .contentTooLarge, .formTooLarge,
  .unsupportedMediaType, .unsupportedCoding, .invalidBundle, .outOfSpace, .quotaExceeded,
  .uploadQuotaExceeded, .malformedEnd, .inconsistentUploadLength, .tooManyUploads,
  .uploadTakenOver, .uploadMetadataTooLarge, .noSuchUpload, .uploadGone,
]
private let bundleBody: [String: JSONValue] = [
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
