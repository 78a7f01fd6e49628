import AccessControl
import Foundation
import HTTPEngine
import HTTPTypes
import Observability
import SnapshotFormat
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
    let id = try await service.commentable(for: call)
    let request = try await CommentRequest(call.request, limits: limits.comments)
    try await call.caller.requireValid()
    let comment = try await service.comment(
      request.text, on: id, by: call.caller, limits: limits.comments)
    return try JSONBody(comment).response(.created)
  }
}
