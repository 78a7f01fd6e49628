import AccessControl
import HTTPTypes
import Observability
import SnapshotFormat

extension TusRoutes {
  /// All of them. Each reads the method that is meant, since some networks pass only `GET` and `POST`.
  var endpoints: [Endpoint] {
    [
      Endpoint(
        "openUpload", .post, ResumableUploads.path, .attach,
        "Opens an upload that may be resumed, by tus 1.0.0.",
        detail: """
          `Upload-Metadata` has at least `report`; `id` is the UUID that the snapshot gets, `digest` its SHA-256, \
          `expires` when it is to go. Everything else becomes the record's metadata. The body may be the first bytes.
          """, uploads: .tus,
        parameters: [
          .tusVersion, .methodOverride, .uploadLength, .uploadMetadata,
          .header("Upload-Defer-Length", "1 where the length is told later.", ["const": "1"]),
          .header("Upload-Concat", "`partial`, or `final;` and the paths of parts, parted by spaces."),
          .uploadChecksum, .ifNoneMatch,
        ],
        responses: [
          Endpoint.Response(status: 201, text: "It is open, or complete.", fields: ["Location"] + tusOffset),
          Endpoint.Response(status: 204, text: "As after OPTIONS.", fields: tusOffer),
        ],
        problems: opening, fields: tusFields, handler: open),
      Endpoint(
        "readUpload", .get, ResumableUploads.path + "/{upload}", .attach, "Tells how far an upload is.",
        detail: "Any request that still brings bytes to it is ended first.", uploads: .tus,
        parameters: [.upload, .tusVersion],
        responses: [
          Endpoint.Response(
            status: 200, text: "It is known.",
            fields: tusOffset + [
              "Cache-Control", "Upload-Length", "Upload-Defer-Length", "Upload-Metadata", "Upload-Concat",
            ])
        ], problems: .uploadStatus, fields: tusFields, handler: answer),
      Endpoint(
        "useUpload", .post, ResumableUploads.path + "/{upload}", .attach,
        "Does what another method does, which `X-HTTP-Method-Override` names.", uploads: .tus,
        parameters: [.upload, .tusVersion, .meantMethod, .uploadOffset, .uploadLength, .uploadChecksum],
        responses: [
          Endpoint.Response(
            status: 200, text: "As after GET.",
            fields: tusOffset + [
              "Cache-Control", "Upload-Length", "Upload-Defer-Length", "Upload-Metadata", "Upload-Concat",
            ]),
          Endpoint.Response(
            status: 204, text: "As after PATCH, DELETE or OPTIONS.", fields: tusOffset + tusOffer),
        ],
        problems: .uploadAppend, fields: tusFields, handler: answer),
      Endpoint(
        "appendToUpload", .patch, ResumableUploads.path + "/{upload}", .attach,
        "Brings more bytes to an upload.",
        detail: "What comes is kept even where the connection breaks. The last bytes publish the snapshot.",
        uploads: .tus, parameters: [.upload, .tusVersion, .uploadOffset, .uploadLength, .uploadChecksum],
        body: [Tus.mediaType: [:]],
        responses: [Endpoint.Response(status: 204, text: "They are there to stay.", fields: tusOffset)],
        problems: .uploadAppend, fields: tusFields, handler: answer),
      Endpoint(
        "endUpload", .delete, ResumableUploads.path + "/{upload}", .attach,
        "Ends an upload; what was published stays.", uploads: .tus,
        parameters: [.upload, .tusVersion], responses: [.noContent("It is gone.")], problems: .uploadLookup,
        fields: tusFields, handler: answer),
    ]
  }
}

private let tusFields =
  ["Allow", "Tus-Resumable", "Tus-Version", "Location", "Accept", "Accept-Patch", "Cache-Control"]
  + Endpoint.crossOriginFields
private let tusOffer = ["Tus-Extension", "Tus-Max-Size", "Tus-Checksum-Algorithm"]
private let tusOffset = ["Upload-Offset", "Upload-Expires", "Link"]
private let opening: [ProblemKind] =
  [ProblemKind].uploadAppend + [
    .malformedUploadMetadata, .malformedConcatenation, .uploadMetadataTooLarge, .malformedReportID,
    .malformedSnapshotID, .malformedEnd, .preconditionFailed, .tooManyUploads,
  ]
