import AccessControl
import HTTPTypes
import Observability
import SnapshotFormat

extension SnapshotRoutes {
  /// The endpoints that attach a snapshot.
  var attachEndpoints: [Endpoint] {
    let parameters = uploading + (dialect?.parameters ?? [])
    let problems = attaching + (dialect?.problems ?? [])
    let fields = dialect?.fields ?? []
    return [
      Endpoint(
        .attachSnapshot, .post, "/v1/reports/{report}/snapshots", .attach,
        "Attaches a snapshot to a bug report.",
        detail: """
          The snapshot keeps the UUID in its manifest if that is free. If another snapshot has it, or had it before it \
          was deleted, the server generates a new one, and `manifestID` is the manifest's. The bundle is the body, or \
          the part `snapshot` of a form whose other parts become the record's metadata. A refused bundle is not stored.
          """, uploads: .attach,
        parameters: [.report] + parameters, body: bundleBody,
        responses: [
          .json(
            201, "The snapshot was attached and is stored durably.", .schema("Snapshot"), fields: ["Location"]
          ),
          .alreadyThere,
        ],
        problems: problems, fields: fields, handler: post),
      Endpoint(
        .attachSnapshotAs, .put, "/v1/reports/{report}/snapshots/{id}", .attach,
        "Attaches a snapshot with a UUID that the client generated.",
        detail:
          "Repeating the call with the same bytes is safe. `If-None-Match: *` refuses a UUID that exists.",
        uploads: .attach, parameters: [.report, .id, .ifMatch, .ifNoneMatch] + parameters, body: bundleBody,
        responses: [
          .json(
            201, "The snapshot was attached and is stored durably.", .schema("Snapshot"), fields: ["Location"]
          ),
          .alreadyThere,
        ],
        problems: problems + [
          .malformedSnapshotID, .snapshotDeleted, .snapshotDiffers, .snapshotExists,
          .preconditionFailed,
        ], fields: fields, handler: put),
    ]
  }
}

extension Endpoint.Response {
  package static let alreadyThere = json(
    200, "The same bundle is already attached to the report.", .schema("Snapshot"))
}

private let uploading: [Endpoint.Parameter] = [
  .header("Repr-Digest", "The SHA-256 of the body (RFC 9530), verified before anything is stored."),
  .header("Content-Digest", "The same as Repr-Digest."),
  .header(
    "Snapshot-Expires", "When the snapshot expires: a time, a duration such as `30d`, or `never`.",
    ["type": "string", "pattern": "^([1-9][0-9]{0,3}[hdw]|never)$"]),
]
private let attaching: [ProblemKind] = [
  .malformedReportID, .digestMismatch, .malformedForm, .contentTooLarge, .formTooLarge,
  .unsupportedMediaType, .unsupportedCoding, .invalidBundle, .outOfSpace, .quotaExceeded,
  .uploadQuotaExceeded, .malformedEnd,
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
