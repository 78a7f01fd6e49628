import AccessControl
import Observability
import SnapshotFormat
import SnapshotStore

extension APIDescription {
  /// The schemas of the API's JSON.
  static let schemas: [String: JSONValue] = [
    "SnapshotID": [
      "type": "string", "format": "uuid", "pattern": "^[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}$",
      "description": "8-4-4-4-12 hexadecimal digits, which are lower case in responses.",
    ],
    "ReportID": [
      "type": "string", "minLength": 1, "maxLength": .integer(Int64(ReportID.maximumLength)),
      "pattern": #"^(?!\.{1,2}(/|$))[A-Za-z0-9_.~#:@+-]+(/(?!\.{1,2}(/|$))[A-Za-z0-9_.~#:@+-]+)*$"#,
      "description": "The name of a bug report. No part between slashes can be empty, `.` or `..`.",
    ],
    "Snapshot": object(
      [
        "id": ["$ref": "#/components/schemas/SnapshotID"],
        "report": ["$ref": "#/components/schemas/ReportID"],
        "bundle": ["type": "string", "description": "The path of the bundle."],
        "size": ["type": "integer", "minimum": 0, "description": "The bundle's length in bytes."],
        "sha256": ["type": "string", "pattern": "^[0-9a-f]{64}$", "description": "The bundle's digest."],
        "receivedAt": time("When the server received it."),
        "createdAt": time("When the app made it."),
        "verified": [
          "enum": .array(SnapshotRecord.Verification.allCases.map { .string($0.rawValue) }),
          "description": "Whether the checksums of all entries were verified.",
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
        "problemCount": [
          "type": "integer", "minimum": 0,
          "description":
            "The number of recordings that are empty, cut off, invalid JSON, an error page or a failed exchange, and of what was not recorded. Missing until all of the bundle is verified, and if it is sealed.",
        ],
        "sealed": sealed,
        "metadata": [
          "type": "object", "additionalProperties": ["type": "string"],
          "description":
            "The note (`note`) and the fields of the manifest, and the other fields of the upload's form.",
        ],
        "manifestID": [
          "type": "string", "format": "uuid",
          "description": "The UUID in the bundle's manifest, if the snapshot has another one.",
        ],
        "attachedBy": [
          "type": "string",
          "description": "The id of the token that attached it, or `user:` and the name of a user.",
        ],
        "expiresAt": time("When it expires."),
        "comments": [
          "type": "array", "items": ["$ref": "#/components/schemas/Comment"],
          "description": "The comments of users, oldest first. Lists omit them.",
        ],
        "pinned": ["const": true, "description": "It never expires while it is pinned."],
        "good": ["const": true, "description": "It is marked as good, and others are compared with it."],
      ],
      optional: [
        "problemCount", "sealed", "manifestID", "attachedBy", "expiresAt", "comments", "pinned", "good",
      ]),
    "Comment": object(
      [
        "text": ["type": "string", "minLength": 1, "description": "The text."],
        "writtenAt": time("When it was written."),
        "author": [
          "type": "string",
          "description": "The name of the user or the token that wrote it, or else the token's id.",
        ],
        "token": [
          "type": "string",
          "description": "The id of the token that wrote it, or `user:` and the name of a user.",
        ],
      ], optional: ["author", "token"]),
    "Page": object(
      [
        "snapshots": ["type": "array", "items": ["$ref": "#/components/schemas/Snapshot"]],
        "next": ["type": "string", "description": "The cursor of the next page; missing on the last."],
        "total": [
          "type": "integer", "minimum": 0, "description": "The number of results, if requested.",
        ],
        "totalIsExact": [
          "type": "boolean", "description": "Whether `total` is exact, or a lower bound.",
        ],
      ], optional: ["next", "total", "totalIsExact"]),
    "FilePage": object(
      [
        "files": [
          "type": "array",
          "items": object([
            "path": ["type": "string", "description": "The path in the bundle."],
            "href": ["type": "string", "description": "The path of the file on this server."],
            "size": ["type": "integer", "minimum": 0],
            "compressedSize": [
              "type": "integer", "minimum": 0, "description": "The length in the bundle, in bytes.",
            ],
            "type": ["type": "string", "description": "The media type with which it is sent."],
          ]),
        ],
        "next": ["type": "string", "description": "The cursor of the next page; missing on the last."],
      ], optional: ["next"]),
    "Indexing": object(
      [
        "status": ["enum": ["ready", "indexing"]],
        "share": ["type": "number", "minimum": 0, "maximum": 1, "description": "The completed share."],
        "records": ["type": "integer", "minimum": 0, "description": "The number of indexed records."],
      ], optional: ["share", "records"]),
    "Readiness": object(
      [
        "status": [
          "enum": ["ready", "recovering", "indexing", "unlisted", "unwritable"],
          "description": "`recovering`: ready, but lists may lack the last changes before a crash.",
        ],
        "share": [
          "type": "number", "minimum": 0, "maximum": 1,
          "description": "The share that is indexed, or compared with the catalogue.",
        ],
        "records": ["type": "integer", "minimum": 0, "description": "The number of indexed records."],
        "reason": [
          "enum": .array(StorageFault.Reason.allCases.map { .string($0.rawValue) }),
          "description": "Why the storage is not writable.",
        ],
        "name": [
          "type": "string",
          "description": "The file or folder of the storage that is `missing` or `misplaced`.",
        ],
        "deletionsHeld": [
          "type": "string",
          "description":
            "Why nothing is deleted automatically: the clock may be wrong. A sentence for people.",
        ],
      ], optional: ["share", "records", "reason", "name", "deletionsHeld"]),
    "Expiration": object([
      "id": ["$ref": "#/components/schemas/SnapshotID"],
      "receivedAt": time("When the server received it."),
      "size": ["type": "integer", "minimum": 0, "description": "The bundle's length in bytes."],
      "rule": ["enum": .array(Expiration.Rule.allCases.map { .string($0.rawValue) })],
      "reason": ["type": "string", "description": "The rule in a sentence."],
    ]),
    "ExpirationPlan": object(
      [
        "count": ["type": "integer", "minimum": 0], "bytes": ["type": "integer", "minimum": 0],
        "needsConfirmation": [
          "type": "boolean",
          "description":
            "Whether deleting them needs `confirm=true`: so many, or while the clock may be wrong.",
        ],
        "expirations": ["type": "array", "items": ["$ref": "#/components/schemas/Expiration"]],
        "next": ["type": "string", "description": "The cursor of the next page; missing on the last."],
      ], optional: ["next"]),
    "ExpirationOutcome": object([
      "expirations": ["type": "array", "items": ["$ref": "#/components/schemas/Expiration"]],
      "remaining": ["type": "integer", "minimum": 0, "description": "How many are still to be deleted."],
    ]),
    "ScrubReport": object(
      [
        "isRunning": ["type": "boolean"], "startedAt": time("When it started."),
        "endedAt": time("When it ended."),
        "bundles": ["type": "integer", "minimum": 0], "bytes": ["type": "integer", "minimum": 0],
        "damaged": ["type": "integer", "minimum": 0], "unreadable": ["type": "integer", "minimum": 0],
        "damagedSnapshots": ["type": "array", "items": ["$ref": "#/components/schemas/SnapshotID"]],
      ], optional: ["startedAt", "endedAt"]),
    "Link": object(
      [
        "link": ["type": "string", "description": "The path and query of the link on this server."],
        "url": [
          "type": "string", "format": "uri", "description": "The link, if the server knows its own URL.",
        ],
        "expiresAt": time("When the link expires."),
      ], optional: ["url"]),
    "Webhooks": object(["webhooks": ["type": "array", "items": webhook]]),
    "WebhookDeliveries": object(
      [
        "deliveries": ["type": "array", "items": webhookDelivery],
        "next": ["type": "string", "description": "The cursor of the next page; missing on the last."],
      ], optional: ["next"]),
    "WebhookTest": object([
      "event": ["type": "string", "description": "The id of the event."],
      "isAccepted": ["type": "boolean", "description": "Whether the receiver accepted it."],
      "answer": [
        "type": "string", "description": "The status of the receiver's response, or why there is none.",
      ],
    ]),
    "Redelivery": object([
      "count": ["type": "integer", "minimum": 0, "description": "How many deliveries wait again."]
    ]),
    "AttachLink": attachLink,
    "AttachLinks": object(["links": ["type": "array", "items": ["$ref": "#/components/schemas/AttachLink"]]]),
    "Problem": object(
      [
        "type": ["enum": .array(ProblemKind.allCases.map { .string($0.type) } + ["about:blank"])],
        "title": ["type": "string"],
        "status": ["type": "integer", "minimum": 400, "maximum": 599],
        "detail": ["type": "string", "description": "The individual case, for people."],
        "requestID": ["type": "string"],
        "expected-offset": ["type": "integer", "minimum": 0, "description": "The end of the upload."],
        "provided-offset": ["type": "integer", "minimum": 0, "description": "The offset of the request."],
      ], optional: ["expected-offset", "provided-offset"]),
  ]

  /// The schema of what the clear head of a sealed bundle says.
  private static let sealed: JSONValue = {
    guard
      case .object(var schema) = object(
        [
          "recipients": [
            "type": "array", "minItems": 1,
            "items": object(
              [
                "type": ["type": "string", "description": "The type of the stanza, such as X25519."],
                "recipient": ["type": "string", "description": "The public key, such as age1…."],
              ], optional: ["recipient"]),
          ],
          "size": [
            "type": "integer", "minimum": 0, "description": "The length of the inner bundle in bytes.",
          ],
          "bundle": [
            "type": "string", "format": "uuid",
            "description": "The UUID of the inner bundle, if it has another one.",
          ],
          "rewrapped": [
            "type": "string", "format": "uuid",
            "description": "The sealed bundle from which this one was made for other recipients.",
          ],
        ], optional: ["bundle", "rewrapped"])
    else { return .object([:]) }
    schema["description"] =
      "To whom the bundle is sealed, as its clear head says. Present if the server can't read its contents."
    return .object(schema)
  }()

  /// Returns the schema of an object with `properties` and no others. All are required except those in `optional`.
  static func object(_ properties: [String: JSONValue], optional: Set<String> = []) -> JSONValue {
    let required = properties.keys.filter { !optional.contains($0) }.sorted().map { JSONValue.string($0) }
    return [
      "type": "object", "properties": .object(properties), "required": .array(required),
      "additionalProperties": false,
    ]
  }

  private static var webhook: JSONValue {
    object(
      [
        "name": [
          "type": "string", "description": "The host and some digits of a digest: the URL can be a secret.",
        ],
        "waiting": number("How many events wait."),
        "delivered": number("How many events were delivered."),
        "failed": number("How many events were given up."),
        "dropped": number("How many events were dropped because too many waited."),
        "isDisabled": ["type": "boolean", "description": "Whether the receiver wants no more events (410)."],
        "problem": ["type": "string", "description": "Why the last try failed; missing if it did not."],
      ], optional: ["problem"])
  }

  private static var webhookDelivery: JSONValue {
    object(
      [
        "event": ["type": "string", "description": "The event's id."],
        "snapshot": ["$ref": "#/components/schemas/SnapshotID"],
        "state": ["enum": ["waiting", "delivered", "failed", "dropped"]],
        "tries": number("How often it was tried."),
        "dueAt": time("When the next try is due, while it waits."),
        "endedAt": time("When it ended."),
      ], optional: ["dueAt", "endedAt"])
  }

  private static func number(_ text: String) -> JSONValue {
    ["type": "integer", "minimum": 0, "description": .string(text)]
  }

  private static var attachLink: JSONValue {
    object(
      [
        "id": ["type": "string", "description": "The id, as in the audit log and in `attachedBy`."],
        "link": [
          "type": "string", "description": "The path and query of the page. Only when the link was made.",
        ],
        "url": [
          "type": "string", "format": "uri",
          "description": "The URL of the page. Only when the link was made, if the server knows its own URL.",
        ],
        "token": ["type": "string", "description": "The token for uploads. Only when the link was made."],
        "report": ["$ref": "#/components/schemas/ReportID"],
        "state": ["enum": .array(AccessToken.State.allCases.map { .string($0.rawValue) })],
        "createdAt": time("When it was made."), "expiresAt": time("When it expires."),
        "createdBy": ["type": "string", "description": "The id of the token that made it."],
        "count": number("How many snapshots can be attached."),
        "bytes": number("How many bytes these can have together."),
        "usedCount": number("How many snapshots were attached."),
        "usedBytes": number("How many bytes these have."),
      ], optional: ["link", "url", "token", "expiresAt"])
  }

  private static func time(_ text: String) -> JSONValue {
    ["type": "string", "format": "date-time", "description": .string(text)]
  }

  /// The descriptions of response fields.
  static let fields: [String: String] = [
    "Accept": "The accepted media types.",
    "Accept-Encoding": "The accepted content codings.",
    "Accept-Patch": "The accepted media types of changes.",
    "Accept-Post": "The accepted media types.",
    "Access-Control-Allow-Origin":
      "The origin whose pages may read the response, if the request has one.",
    "Access-Control-Expose-Headers": "The fields that these pages may read.",
    "Accept-Ranges": "Byte ranges are supported.",
    "Allow": "The methods of the path.",
    "Cache-Control": "How caches may store the response.",
    "Content-Disposition": "Whether the file is a download, and its name.",
    "Content-Encoding": "gzip, if the file is sent compressed.",
    "Content-Range": "The range of these bytes, or the length of the content.",
    "Content-Security-Policy": "Scripts in the file are not executed.",
    "Cross-Origin-Resource-Policy": "Pages of other origins can't include the file.",
    "ETag": "The entity tag of the content.",
    "Last-Modified": "When the bundle was received.",
    "Link": "The next page, as rel=\"next\"; missing on the last.",
    "Location": "The path of the record or upload.",
    "RateLimit": "The remaining requests of the token's rate limit, and the time until it resets.",
    "RateLimit-Policy": "The token's rate limit.",
    "Referrer-Policy": "no-referrer: the link is not disclosed to other sites.",
    "Repr-Digest": "The SHA-256 of the bundle (RFC 9530).",
    "Retry-After": "The number of seconds to wait before a retry.",
    "Tus-Checksum-Algorithm": "The supported digests of a request's bytes.",
    "Tus-Extension": "The supported extensions of tus.",
    "Tus-Max-Size": "The maximum length of an upload in bytes.",
    "Tus-Resumable": "1.0.0: the version of tus in use.",
    "Tus-Version": "The supported version of tus.",
    "Upload-Complete": "Whether the upload is complete (draft-ietf-httpbis-resumable-upload).",
    "Upload-Concat": "The parts of the upload, or that it is a part (tus).",
    "Upload-Defer-Length": "1 while the upload's length is not known (tus).",
    "Upload-Draft-Interop-Version": "The version of draft-ietf-httpbis-resumable-upload in use.",
    "Upload-Expires": "When the upload expires (tus).",
    "Upload-Incomplete": "Whether the upload is incomplete (draft-ietf-httpbis-resumable-upload-01).",
    "Upload-Length": "The length of the whole upload in bytes, if it is known.",
    "Upload-Limit": "The limits of an upload (draft-ietf-httpbis-resumable-upload).",
    "Upload-Metadata": "The metadata of the upload (tus).",
    "Upload-Offset": "The number of bytes of the upload that are stored durably.",
    "Vary": "The request fields on which the response depends.",
    "WWW-Authenticate": "The required authentication: a Bearer token (RFC 6750 §3).",
    "X-Content-Type-Options": "nosniff: browsers must not guess the type.",
    "X-Request-Id": "The id of the request, which is also in logs.",
  ]

  /// The fields of problems, by status.
  static let fieldsOfProblems: [Int: [String]] = [
    401: ["WWW-Authenticate"], 403: ["WWW-Authenticate"],
    415: ["Accept", "Accept-Encoding", "Accept-Patch", "Accept-Post"], 416: ["Content-Range"],
    429: ["RateLimit", "RateLimit-Policy", "Retry-After"], 503: ["Retry-After"],
  ]
}
