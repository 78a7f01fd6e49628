package import AccessControl
import Foundation
import HTTPEngine
import HTTPTypes
import Observability
package import SnapshotFormat
package import SnapshotService
import SnapshotStore

/// The endpoint that writes comments on snapshots.
package struct CommentRoutes: Sendable {
  let service: SnapshotService
  let limits: ServiceLimits

  /// Creates an endpoint for the snapshots of `service`.
  package init(service: SnapshotService, limits: ServiceLimits) {
    self.service = service
    self.limits = limits
  }

  /// All endpoints.
  package var endpoints: [Endpoint] {
    [
      Endpoint(
        .commentOnSnapshot, .post, "/v1/snapshots/{id}/comments", .comment,
        "Adds a comment to a snapshot's record.",
        detail: """
          A comment has at most \(limits.comments.textBytes) bytes, and a snapshot at most \(limits.comments.count) \
          comments. Comments can't be changed or deleted. Repeating the newest comment of the same token has no effect.
          """,
        parameters: [.id],
        body: [
          "application/json": [
            "schema": APIDescription.object(["text": ["type": "string", "minLength": 1]])
          ]
        ],
        responses: [.json(201, "The comment.", .schema("Comment"))],
        problems: [
          .malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted, .contentTooLarge, .unsupportedMediaType,
          .malformedChange,
        ], handler: post)
    ]
  }

  private func post(_ call: APIRequest) async throws -> HTTPServerResponse {
    let id = try await commentable(call)
    let request = try await CommentRequest(call.request, limits: limits.comments)
    try await call.caller.requireValid()
    return try JSONBody(try await add(request.text, to: id, by: call.caller)).response(.created)
  }

  /// Returns the id of the snapshot in the path of `call`. Throws if the caller may not comment on it.
  package func commentable(_ call: APIRequest) async throws -> SnapshotID {
    let id = try call.value(of: .id)
    let record = try await call.caller.lookUp { () throws(StoreError) in
      try await service.record(id)
    } visible: {
      call.caller.mayComment(on: $0)
    }
    call.concerns(record)
    return id
  }

  /// Adds a comment of `caller`, and returns it.
  package func add(_ text: String, to id: SnapshotID, by caller: Caller) async throws -> SnapshotComment {
    let comment = SnapshotComment(
      text, writtenAt: Date(), author: caller.name ?? caller.token, token: caller.account,
      limits: limits.comments)
    guard let comment else {
      throw HTTPProblem.malformedChange(
        "A comment must have 1 to \(limits.comments.textBytes) bytes, and no NUL character.")
    }
    return try await service.comment(comment, on: id)
  }
}
