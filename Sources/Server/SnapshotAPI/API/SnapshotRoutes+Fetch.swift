import AccessControl
package import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotFormat
import SnapshotStore

extension SnapshotRoutes {
  /// The calls that read one snapshot.
  var fetchEndpoints: [Endpoint] {
    [
      Endpoint(
        "fetchBundle", .get, "/v1/snapshots/{id}.zip", .bundle, "Sends a snapshot's bundle, or ranges of it.",
        parameters: [
          .id, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince, .range, .ifRange,
          .query("expires", "When the link ends: part of what `createLink` gave.", ["type": "string"]),
          .header(
            "Want-Repr-Digest", "Whether a digest is wanted, such as `sha-256=0` for none (RFC 9530 §4)."),
        ],
        responses: [
          Endpoint.Response(
            status: 200, text: "The bundle.", fields: bundleFields, content: ["application/zip": [:]]),
          Endpoint.Response(
            status: 206, text: "The ranges that were asked for.", fields: bundleFields + ["Content-Range"],
            content: ["application/zip": [:], "multipart/byteranges": [:]]),
          .notModified,
        ],
        problems: [
          .malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted, .snapshotDamaged,
          .preconditionFailed, .rangeNotSatisfiable,
        ], handler: bundle),
      Endpoint(
        "readSnapshot", .get, "/v1/snapshots/{id}", .status, "Tells what is known of a snapshot.",
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

  /// Sends a bundle, or ranges of it. A bundle never changes, but it may be deleted: caches ask again each time.
  package func bundle(_ call: APIRequest) async throws -> HTTPServerResponse {
    let bundle = try await service.bundle(for: call)
    var fields: HTTPFields = [
      .cacheControl: "private, no-cache",
      .contentDisposition: ContentDisposition.attachment("\(bundle.record.id).zip").fieldValue,
    ]
    if DigestField.isWanted(by: call.request.headerFields) {
      fields[.reprDigest] = DigestField(sha256: bundle.record.sha256.bytes).fieldValue
    }
    let representation = Representation(
      .file(bundle.file, size: bundle.record.size), contentType: "application/zip",
      entityTag: Self.entityTag(of: bundle.record), lastModified: Self.lastModified(of: bundle.record),
      headerFields: fields)
    return try representation.response(to: call.request)
  }

  /// Sends a record.
  func record(_ call: APIRequest) async throws -> HTTPServerResponse {
    let id = try call.value(of: .id)
    let record = try await call.caller.lookUp { () throws(StoreError) in
      try await service.record(id)
    } visible: {
      call.caller.maySeeStatus(of: $0)
    }
    call.concerns(record)
    return try answers.representation(of: call.caller.view(of: record)).response(to: call.request)
  }
}

private let bundleFields = [
  "Accept-Ranges", "Cache-Control", "Content-Disposition", "ETag", "Last-Modified", "Repr-Digest",
]
