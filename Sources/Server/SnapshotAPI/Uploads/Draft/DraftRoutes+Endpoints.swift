import AccessControl
import HTTPTypes
import Observability
import SnapshotFormat

extension DraftRoutes {
  /// All of them.
  var endpoints: [Endpoint] {
    [
      Endpoint(
        "readResumableUpload", .get, ResumableUploads.draftPath + "/{upload}", .attach,
        "Tells how far an upload is, by draft-ietf-httpbis-resumable-upload.",
        detail: "Any request that still brings bytes to it is ended first.", uploads: .draft,
        parameters: [.upload, .interopVersion],
        responses: [
          Endpoint.Response(
            status: 204, text: "It is known.",
            fields: ["Cache-Control", "Upload-Offset", "Upload-Length", "Upload-Limit"])
        ], problems: .uploadLookup, fields: Endpoint.draftFields, handler: status),
      Endpoint(
        "appendToResumableUpload", .patch, ResumableUploads.draftPath + "/{upload}", .attach,
        "Brings more bytes to an upload, by draft-ietf-httpbis-resumable-upload.",
        detail: "With `Upload-Complete: ?1` the answer is that of attaching the snapshot.", uploads: .draft,
        parameters: [
          .upload, .interopVersion, .uploadOffset, .uploadLength, .uploadComplete, .uploadIncomplete,
          .header("Content-Digest", "The SHA-256 of the body (RFC 9530), checked before any of it counts."),
        ], body: [DraftDialect.mediaType: [:]],
        responses: [
          Endpoint.Response(
            status: 204, text: "They are there to stay, and more are to come.", fields: Endpoint.draftFields),
          .json(
            201, "The snapshot is attached; or, by older versions, as 204.", .schema("Snapshot"),
            fields: ["Location"]),
          .alreadyThere,
        ],
        problems: [ProblemKind].uploadAppend + [.badRequest], fields: Endpoint.draftFields, handler: append),
      Endpoint(
        "endResumableUpload", .delete, ResumableUploads.draftPath + "/{upload}", .attach,
        "Ends an upload, by draft-ietf-httpbis-resumable-upload; what was published stays.", uploads: .draft,
        parameters: [.upload, .interopVersion], responses: [.noContent("It is gone.")],
        problems: .uploadLookup,
        fields: Endpoint.draftFields, handler: cancel),
    ]
  }
}
