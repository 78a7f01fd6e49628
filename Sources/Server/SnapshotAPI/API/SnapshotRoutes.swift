import AccessControl
import Foundation
package import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
package import SnapshotFormat
package import SnapshotService
import SnapshotStore
import SystemIO

/// The endpoints of the API under `/v1` for snapshots.
package struct SnapshotRoutes: Sendable {
  let service: SnapshotService
  let limits: ServiceLimits
  /// Receives bundles that are sent in several requests. Without it, each bundle must be sent in one.
  let dialect: (any AttachDialect)?
  private let answers = RecordAnswers()

  /// Creates the endpoints of `service`.
  package init(
    _ service: SnapshotService, limits: ServiceLimits = ServiceLimits(), dialect: (any AttachDialect)? = nil
  ) {
    self.service = service
    self.limits = limits
    self.dialect = dialect
  }

  /// All endpoints.
  package var endpoints: [Endpoint] {
    attachEndpoints + ListRoutes(service, limits: limits).endpoints + fetchEndpoints + changeEndpoints
      + IndexingRoutes(service).endpoints
  }

  /// Returns the path of a snapshot's record.
  package static func path(of id: SnapshotID) -> String { "/v1/snapshots/\(id)" }

  /// Returns the entity tag of a bundle.
  static func entityTag(of record: SnapshotRecord) -> EntityTag { .strong(record.sha256.description) }

  /// Returns the time at which the bundle was received: it never changes afterwards. Never returns a future time, even
  /// if the clock was ahead (RFC 9110 §8.8.2.1).
  static func lastModified(of record: SnapshotRecord) -> HTTPDate {
    let now = SystemClock.unixSeconds
    let received = record.receivedAt.timeIntervalSince1970
    return HTTPDate(secondsSince1970: received < Double(now) ? Int64(max(received, 0)) : now)
  }

  /// Returns the validators of a bundle, for conditional requests.
  static func validators(of record: SnapshotRecord) -> Preconditions.Current {
    Preconditions.Current(entityTag: entityTag(of: record), lastModified: lastModified(of: record))
  }

  // MARK: - Reading

  /// The endpoints that read one snapshot.
  private var fetchEndpoints: [Endpoint] {
    [
      Endpoint(
        .fetchBundle, .get, "/v1/snapshots/{id}.zip", .bundle, "Sends a snapshot's bundle, or ranges of it.",
        parameters: [
          .id, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .range, .ifRange,
          .query("expires", "The expiry date of a link, from `createLink`.", ["type": "string"]),
          .header(
            "Want-Repr-Digest", "The wanted digest. `sha-256=0` requests none (RFC 9530 §4)."),
        ],
        responses: [
          Endpoint.Response(
            status: 200, text: "The bundle.", fields: bundleFields, content: ["application/zip": [:]]),
          Endpoint.Response(
            status: 206, text: "The requested ranges.", fields: bundleFields + ["Content-Range"],
            content: ["application/zip": [:], "multipart/byteranges": [:]]),
          .notModified,
          Endpoint.Response(
            status: 307,
            text:
              "The URL from which to read the bundle, or ranges of it, within a minute and without a token.",
            fields: ["Cache-Control", "Location", "Repr-Digest"]),
        ],
        problems: [
          .malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted, .snapshotDamaged,
          .preconditionFailed, .rangeNotSatisfiable,
        ], handler: bundle),
      Endpoint(
        .readSnapshot, .get, "/v1/snapshots/{id}", .status, "Returns the record of a snapshot.",
        parameters: [.id, .ifMatch, .ifNoneMatch],
        responses: [
          .json(200, "The record.", .schema("Snapshot"), fields: ["ETag"]),
          .notModified,
        ],
        problems: [
          .malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted, .snapshotDamaged,
          .preconditionFailed,
        ], handler: record),
    ]
  }

  /// Sends a bundle, or ranges of it. A bundle never changes, but can be deleted, so caches must revalidate.
  package func bundle(_ call: APIRequest) async throws -> HTTPServerResponse {
    if let links = service.links { return try await redirect(call, links) }
    let response = try response(to: call, try await service.contents(for: call))
    return call.request.method == .head ? response : try await response.withFirstPiece()
  }

  private func response(to call: APIRequest, _ contents: BundleContents) throws -> HTTPServerResponse {
    let record = contents.record
    let content: Representation.Content =
      switch contents.bytes {
      case .file(let file): .file(file, size: record.size)
      case .arriving(let pieces): .made(size: record.size, pieces: pieces)
      }
    return try representation(of: record, content, for: call.request).response(to: call.request)
  }

  /// Redirects to the place that sends the bundle. Conditions are checked here, and a `HEAD` is answered here.
  private func redirect(
    _ call: APIRequest, _ links: any BundleLinks
  ) async throws -> HTTPServerResponse {
    let record = try await service.readableRecord(for: call)
    let url = try await links.url(of: record.id)
    call.concerns(record)
    let preconditions = Preconditions(call.request.headerFields)
    // The response to a HEAD has no bytes, nor has a failed condition.
    let representation = representation(
      of: record, .made(size: record.size) { _ in { nil } }, for: call.request)
    guard call.request.method == .get,
      preconditions.verdict(.get, on: Self.validators(of: record)) == .proceed
    else { return try representation.response(to: call.request) }
    var fields: HTTPFields = [.location: url, .cacheControl: "private, no-store"]
    fields[.reprDigest] = representation.headerFields[.reprDigest]
    return HTTPServerResponse(status: .temporaryRedirect, headerFields: fields)
  }

  private func representation(
    of record: SnapshotRecord, _ content: Representation.Content, for request: HTTPServerRequest
  ) -> Representation {
    var fields: HTTPFields = [
      .cacheControl: "private, no-cache",
      .contentDisposition: ContentDisposition.attachment("\(record.id).zip").fieldValue,
    ]
    if DigestField.isWanted(by: request.headerFields) {
      fields[.reprDigest] = DigestField(sha256: record.sha256.bytes).fieldValue
    }
    return Representation(
      content, contentType: "application/zip", entityTag: Self.entityTag(of: record),
      lastModified: Self.lastModified(of: record), headerFields: fields)
  }

  /// Sends a record.
  private func record(_ call: APIRequest) async throws -> HTTPServerResponse {
    let id = try call.value(of: .id)
    let record = try await call.caller.lookUp { () throws(StoreError) in
      try await service.record(id)
    } visible: {
      call.caller.maySeeStatus(of: $0)
    }
    return try response(to: call, record)
  }

  private func response(to call: APIRequest, _ record: SnapshotRecord) throws -> HTTPServerResponse {
    call.concerns(record)
    return try answers.representation(of: call.caller.view(of: record), below: call.request.basePath)
      .response(to: call.request)
  }

  // MARK: - Changing

  /// The endpoints that change or delete a snapshot.
  private var changeEndpoints: [Endpoint] {
    [
      Endpoint(
        .changeSnapshot, .patch, "/v1/snapshots/{id}", .delete,
        "Pins a snapshot, marks it as good, or sets its expiry date.",
        detail: "The body is a JSON merge patch (RFC 7396) of the record's `pinned`, `good` and `expiresAt`.",
        parameters: [.id, .ifMatch, .ifNoneMatch],
        body: [ChangeRequest.mediaType: changeBody, "application/json": changeBody],
        responses: [.json(200, "The changed record.", .schema("Snapshot"), fields: ["ETag"])],
        problems: [
          .malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted, .preconditionFailed,
          .contentTooLarge, .unsupportedMediaType, .malformedChange, .malformedEnd,
        ], handler: change),
      Endpoint(
        .deleteSnapshot, .delete, "/v1/snapshots/{id}", .delete, "Deletes a snapshot permanently.",
        detail: "Its UUID can't be used again. Requests for it get 410.",
        parameters: [.id, .ifMatch, .ifNoneMatch], responses: [.noContent("The snapshot was deleted.")],
        problems: [.malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted, .preconditionFailed],
        handler: delete),
    ]
  }

  /// Pins a snapshot, marks it as good or sets its expiry date, if the request's conditions hold. This needs the permission to delete it.
  private func change(_ call: APIRequest) async throws -> HTTPServerResponse {
    let record = try await service.deletable(for: call)
    let current = Preconditions.Current(
      entityTag: try JSONBody(RecordAnswer(call.caller.view(of: record), below: call.request.basePath))
        .representation.entityTag)
    guard Preconditions(call.request.headerFields).verdict(.patch, on: current) == .proceed else {
      throw HTTPProblem.preconditionFailed()
    }
    let request = try await ChangeRequest(call.request, now: Date())
    try await call.caller.requireValid()
    let changed = try await service.change(request.change, of: record.id)
    let body = try JSONBody(RecordAnswer(call.caller.view(of: changed), below: call.request.basePath))
    var fields: HTTPFields = [:]
    if let tag = body.representation.entityTag { fields[.eTag] = tag.description }
    return body.response(.ok, fields)
  }

  /// Deletes a snapshot, if the request's conditions hold.
  private func delete(_ call: APIRequest) async throws -> HTTPServerResponse {
    let record = try await service.deletable(for: call)
    guard
      Preconditions(call.request.headerFields).verdict(.delete, on: Self.validators(of: record)) == .proceed
    else {
      throw HTTPProblem.preconditionFailed()
    }
    try await service.delete(record.id)
    return HTTPServerResponse(status: .noContent)
  }
}

private let bundleFields = [
  "Accept-Ranges", "Cache-Control", "Content-Disposition", "ETag", "Last-Modified", "Repr-Digest",
]
private let changeBody: JSONValue = [
  "schema": [
    "type": "object", "additionalProperties": false,
    "properties": [
      "pinned": ["type": ["boolean", "null"]],
      "good": ["type": ["boolean", "null"]],
      "expiresAt": [
        "type": ["string", "null"],
        "description": "A time, a duration from now such as `30d`, or `never`, which null also means.",
      ],
    ],
  ]
]
