import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
package import SnapshotFormat
import SnapshotStore

extension SnapshotRoutes {
  /// The calls that change or delete a snapshot.
  var changeEndpoints: [Endpoint] {
    [
      Endpoint(
        "changeSnapshot", .patch, "/v1/snapshots/{id}", .delete, "Pins a snapshot, or sets when it is to go.",
        detail: "The body is a JSON merge patch (RFC 7396) of the record's `pinned` and `expiresAt`.",
        parameters: [.id, .ifMatch, .ifNoneMatch],
        body: [ChangeRequest.mediaType: changeBody, "application/json": changeBody],
        responses: [.json(200, "The record as it is now.", .schema("Snapshot"), fields: ["ETag"])],
        problems: [
          .malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted, .preconditionFailed,
          .contentTooLarge, .unsupportedMediaType, .malformedChange, .malformedEnd,
        ], handler: change),
      Endpoint(
        "deleteSnapshot", .delete, "/v1/snapshots/{id}", .delete, "Deletes a snapshot for good.",
        detail: "Its UUID is never used again, and answers 410 from then on.",
        parameters: [.id, .ifMatch, .ifNoneMatch], responses: [.noContent("It is deleted.")],
        problems: [.malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted, .preconditionFailed],
        handler: delete),
    ]
  }

  /// Pins a snapshot, or sets its end, if the conditions hold that the request states. Only whoever may delete it may
  /// say how long it stays.
  func change(_ call: APIRequest) async throws -> HTTPServerResponse {
    let record = try await deletable(call)
    let current = Preconditions.Current(
      entityTag: try JSONBody(RecordAnswer(call.caller.view(of: record))).representation.entityTag)
    guard Preconditions(call.request.headerFields).verdict(.patch, on: current) == .proceed else {
      throw HTTPProblem.preconditionFailed()
    }
    let request = try await ChangeRequest(call.request, now: Date())
    try await call.caller.requireValid()
    let changed = try await service.change(request.change, of: record.id)
    let body = try JSONBody(RecordAnswer(call.caller.view(of: changed)))
    var fields: HTTPFields = [:]
    if let tag = body.representation.entityTag { fields[.eTag] = tag.description }
    return body.response(.ok, fields)
  }

  /// Deletes a snapshot, if the conditions hold that the request states.
  func delete(_ call: APIRequest) async throws -> HTTPServerResponse {
    let record = try await deletable(call)
    guard
      Preconditions(call.request.headerFields).verdict(.delete, on: Self.validators(of: record)) == .proceed
    else {
      throw HTTPProblem.preconditionFailed()
    }
    try await service.delete(record.id)
    return HTTPServerResponse(status: .noContent)
  }

  /// The record that a call to delete or to keep a snapshot is about, if the caller may.
  package func deletable(_ call: APIRequest) async throws -> SnapshotRecord {
    let id = try call.value(of: .id)
    let record = try await call.caller.lookUp { () throws(StoreError) in
      try await service.record(id)
    } visible: {
      call.caller.mayDelete($0)
    }
    call.concerns(record)
    return record
  }
}

private let changeBody: JSONValue = [
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
