import Observability
import SnapshotFormat
import SnapshotStore

extension APIDescription {
  /// What the API's JSON is made of.
  static let schemas: [String: JSONValue] = [
    "SnapshotID": [
      "type": "string", "format": "uuid", "pattern": "^[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$",
      "description": "8-4-4-4-12 hexadecimal digits; answers have them in lower case.",
    ],
    "ReportID": [
      "type": "string", "minLength": 1, "maxLength": .integer(Int64(ReportID.maximumLength)),
      "pattern": #"^(?!\.{1,2}(/|$))[A-Za-z0-9_.~#:@+-]+(/(?!\.{1,2}(/|$))[A-Za-z0-9_.~#:@+-]+)*$"#,
      "description": "The name of a bug report; no part between slashes is empty, `.` or `..`.",
    ],
    "Snapshot": object(
      [
        "id": ["$ref": "#/components/schemas/SnapshotID"],
        "report": ["$ref": "#/components/schemas/ReportID"],
        "bundle": ["type": "string", "description": "The path of the bundle."],
        "size": ["type": "integer", "minimum": 0, "description": "The bundle's length in bytes."],
        "sha256": ["type": "string", "pattern": "^[0-9a-f]{64}$", "description": "The bundle's digest."],
        "receivedAt": time("When the server had all of it."),
        "createdAt": time("When the device made it."),
        "verified": [
          "enum": .array(SnapshotRecord.Verification.allCases.map { .string($0.rawValue) }),
          "description": "Whether every entry's checksum has been looked at.",
        ],
        "application": object([
          "identifier": ["type": "string"], "version": ["type": "string"], "build": ["type": "string"],
        ]),
        "device": object([
          "model": ["type": "string"], "system": ["type": "string"], "systemVersion": ["type": "string"],
          "locale": ["type": "string"],
        ]),
        "modules": [
          "type": "array",
          "items": object([
            "name": ["type": "string"], "files": ["type": "array", "items": ["type": "string"]],
          ]),
        ],
        "recordingCount": ["type": "integer", "minimum": 0],
        "metadata": [
          "type": "object", "additionalProperties": ["type": "string"],
          "description": "What came with the upload besides the bundle.",
        ],
        "attachedBy": ["type": "string", "description": "The id of the token that attached it."],
        "expiresAt": time("When it is to go by itself."),
        "pinned": ["const": true, "description": "It stays, whatever else says that it is to go."],
      ], optional: ["attachedBy", "expiresAt", "pinned"]),
    "Page": object(
      [
        "snapshots": ["type": "array", "items": ["$ref": "#/components/schemas/Snapshot"]],
        "next": ["type": "string", "description": "The cursor of the next page; missing on the last."],
        "total": [
          "type": "integer", "minimum": 0, "description": "How many there are, where that was asked.",
        ],
        "totalIsExact": [
          "type": "boolean", "description": "Whether `total` is all, or as far as was counted.",
        ],
      ], optional: ["next", "total", "totalIsExact"]),
    "FilePage": object(
      [
        "files": [
          "type": "array",
          "items": object([
            "path": ["type": "string", "description": "Where it lies in the bundle."],
            "href": ["type": "string", "description": "The path of the file on this server."],
            "size": ["type": "integer", "minimum": 0],
            "compressedSize": [
              "type": "integer", "minimum": 0, "description": "How many bytes it takes in the bundle.",
            ],
            "type": ["type": "string", "description": "The media type that it is sent with."],
          ]),
        ],
        "next": ["type": "string", "description": "The cursor of the next page; missing on the last."],
      ], optional: ["next"]),
    "Indexing": object(
      [
        "status": ["enum": ["ready", "indexing"]],
        "share": ["type": "number", "minimum": 0, "maximum": 1, "description": "How much of it is done."],
        "records": ["type": "integer", "minimum": 0, "description": "How many records it has already."],
      ], optional: ["share", "records"]),
    "Readiness": object(
      [
        "status": ["enum": ["ready", "indexing", "unwritable"]],
        "share": ["type": "number", "minimum": 0, "maximum": 1, "description": "How much is indexed."],
        "records": ["type": "integer", "minimum": 0, "description": "How many records are indexed."],
        "reason": [
          "enum": .array(StorageFault.allCases.map { .string($0.rawValue) }),
          "description": "Why nothing can be written.",
        ],
      ], optional: ["share", "records", "reason"]),
    "Expiration": object([
      "id": ["$ref": "#/components/schemas/SnapshotID"],
      "receivedAt": time("When the server had all of it."),
      "size": ["type": "integer", "minimum": 0, "description": "The bundle's length in bytes."],
      "rule": ["enum": .array(Expiration.Rule.allCases.map { .string($0.rawValue) })],
      "reason": ["type": "string", "description": "The rule in a sentence."],
    ]),
    "ExpirationPlan": object(
      [
        "count": ["type": "integer", "minimum": 0], "bytes": ["type": "integer", "minimum": 0],
        "needsConfirmation": [
          "type": "boolean",
          "description": "Whether these are so many that they go only by `confirm=true`.",
        ],
        "expirations": ["type": "array", "items": ["$ref": "#/components/schemas/Expiration"]],
        "next": ["type": "string", "description": "The cursor of the next page; missing on the last."],
      ], optional: ["next"]),
    "ExpirationOutcome": object([
      "expirations": ["type": "array", "items": ["$ref": "#/components/schemas/Expiration"]],
      "remaining": ["type": "integer", "minimum": 0, "description": "How many are still to go."],
    ]),
    "ScrubReport": object(
      [
        "isRunning": ["type": "boolean"], "startedAt": time("When it began."),
        "endedAt": time("When it ended."),
        "bundles": ["type": "integer", "minimum": 0], "bytes": ["type": "integer", "minimum": 0],
        "damaged": ["type": "integer", "minimum": 0], "unreadable": ["type": "integer", "minimum": 0],
        "damagedSnapshots": ["type": "array", "items": ["$ref": "#/components/schemas/SnapshotID"]],
      ], optional: ["startedAt", "endedAt"]),
    "Link": object([
      "link": ["type": "string", "description": "The path and the query of the link, on this server."],
      "expiresAt": time("When it ends."),
    ]),
    "Problem": object(
      [
        "type": ["enum": .array(ProblemKind.allCases.map { .string($0.type) } + ["about:blank"])],
        "title": ["type": "string"],
        "status": ["type": "integer", "minimum": 400, "maximum": 599],
        "detail": ["type": "string", "description": "What is wrong this time, for people."],
        "requestID": ["type": "string"],
        "expected-offset": ["type": "integer", "minimum": 0, "description": "Where the upload goes on."],
        "provided-offset": ["type": "integer", "minimum": 0, "description": "Where the request would have."],
      ], optional: ["expected-offset", "provided-offset"]),
  ]

  /// An object of `properties` and no others, all of which it has but the `optional` ones.
  static func object(_ properties: [String: JSONValue], optional: Set<String> = []) -> JSONValue {
    let required = properties.keys.filter { !optional.contains($0) }.sorted().map { JSONValue.string($0) }
    return [
      "type": "object", "properties": .object(properties), "required": .array(required),
      "additionalProperties": false,
    ]
  }

  private static func time(_ text: String) -> JSONValue {
    ["type": "string", "format": "date-time", "description": .string(text)]
  }

  /// What the fields of answers say.
  static let fields: [String: String] = [
    "Accept": "The media types that are taken here.",
    "Accept-Encoding": "The codings that are taken here.",
    "Accept-Patch": "The media types of changes that are taken here.",
    "Accept-Post": "The media types that are taken here.",
    "Access-Control-Allow-Origin":
      "The origin whose pages may read the answer; only where the request has one.",
    "Access-Control-Expose-Headers": "The fields that they may read.",
    "Accept-Ranges": "Ranges of bytes are answered.",
    "Allow": "The methods that the path answers.",
    "Cache-Control": "How caches may keep the answer.",
    "Content-Disposition": "Whether it is a download, and under which name.",
    "Content-Encoding": "gzip, where the file comes as it lies in the bundle.",
    "Content-Range": "Which bytes these are, or how many there are.",
    "Content-Security-Policy": "Nothing that the file says is carried out.",
    "Cross-Origin-Resource-Policy": "No page of another origin may show the file.",
    "ETag": "What names just these bytes.",
    "Last-Modified": "When the bundle was received.",
    "Link": "Where the next page is, as rel=\"next\"; missing on the last.",
    "Location": "Where the record of the snapshot is, or the upload.",
    "RateLimit": "How much is left of the token's rate, and when it is whole again.",
    "RateLimit-Policy": "The token's rate.",
    "Referrer-Policy": "no-referrer: the link is not to be handed on.",
    "Repr-Digest": "The SHA-256 of the bundle (RFC 9530).",
    "Retry-After": "In how many seconds to try again.",
    "Tus-Checksum-Algorithm": "The digests that a request's bytes may be held against.",
    "Tus-Extension": "The extensions of tus that are spoken.",
    "Tus-Max-Size": "How many bytes an upload may have.",
    "Tus-Resumable": "1.0.0: the version of tus that is spoken.",
    "Tus-Version": "The version of tus to be spoken.",
    "Upload-Complete": "Whether all of the upload has come (draft-ietf-httpbis-resumable-upload).",
    "Upload-Concat": "What the upload is joined from, or that it is a part (tus).",
    "Upload-Defer-Length": "1 while the upload's length is not known (tus).",
    "Upload-Draft-Interop-Version": "The version of draft-ietf-httpbis-resumable-upload that is spoken.",
    "Upload-Expires": "When the upload goes by itself (tus).",
    "Upload-Incomplete": "Whether more of the upload is to come (draft-ietf-httpbis-resumable-upload-01).",
    "Upload-Length": "How many bytes the upload has in all, where that is known.",
    "Upload-Limit": "How much is taken of an upload (draft-ietf-httpbis-resumable-upload).",
    "Upload-Metadata": "What came with the upload (tus).",
    "Upload-Offset": "How many bytes of the upload are there, and would survive a power cut.",
    "Vary": "What of the request the answer depends on.",
    "WWW-Authenticate": "What is needed: a Bearer token (RFC 6750 §3).",
    "X-Content-Type-Options": "nosniff: the type is what is said.",
    "X-Request-Id": "Names the request, in logs too.",
  ]

  /// The fields that come with problems, by their status.
  static let fieldsOfProblems: [Int: [String]] = [
    401: ["WWW-Authenticate"], 403: ["WWW-Authenticate"],
    415: ["Accept", "Accept-Encoding", "Accept-Patch", "Accept-Post"], 416: ["Content-Range"],
    429: ["RateLimit", "RateLimit-Policy", "Retry-After"], 503: ["Retry-After"],
  ]
}
