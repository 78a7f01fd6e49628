import AccessControl
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotFormat
import SnapshotService
import SnapshotStore

/// The endpoints for an existing upload of the IETF draft.
struct DraftRoutes: Sendable {
  private let draft: DraftUploads
  private var uploads: ResumableUploads { draft.uploads }

  init(_ uploads: ResumableUploads) { draft = DraftUploads(uploads) }

  /// All endpoints.
  var endpoints: [Endpoint] {
    [
      Endpoint(
        .readResumableUpload, .get, ResumableUploads.draftPath + "/{upload}", .attach,
        "Returns the offset of an upload (draft-ietf-httpbis-resumable-upload).",
        detail: "Ends a request that is still sending bytes to the upload.", uploads: .draft,
        parameters: [.upload, .interopVersion],
        responses: [
          Endpoint.Response(
            status: 204, text: "The offset and length of the upload.",
            fields: ["Cache-Control", "Upload-Offset", "Upload-Length", "Upload-Limit"])
        ], problems: .uploadLookup, fields: Endpoint.draftFields, handler: status),
      Endpoint(
        .appendToResumableUpload, .patch, ResumableUploads.draftPath + "/{upload}", .attach,
        "Appends bytes to an upload (draft-ietf-httpbis-resumable-upload).",
        detail: "With `Upload-Complete: ?1` the response is that of attaching the snapshot.", uploads: .draft,
        parameters: [
          .upload, .interopVersion, .uploadOffset, .uploadLength, .uploadComplete, .uploadIncomplete,
          .header(
            "Content-Digest", "The SHA-256 of the body (RFC 9530), verified before the bytes are accepted."),
          .header(
            "Repr-Digest",
            "With `Upload-Complete: ?1`: the SHA-256 of the whole bundle, verified before it is attached."),
        ], body: [DraftDialect.mediaType: [:]],
        responses: [
          Endpoint.Response(
            status: 204, text: "The bytes are stored. The upload is not complete.",
            fields: Endpoint.draftFields),
          .json(
            201, "The snapshot was attached. In versions before 7: as 204.", .schema("Snapshot"),
            fields: ["Location"]),
          .alreadyThere,
        ],
        problems: [ProblemKind].uploadAppend + [.badRequest], fields: Endpoint.draftFields, handler: append),
      Endpoint(
        .endResumableUpload, .delete, ResumableUploads.draftPath + "/{upload}", .attach,
        "Deletes an upload (draft-ietf-httpbis-resumable-upload). A published snapshot is kept.",
        uploads: .draft,
        parameters: [.upload, .interopVersion], responses: [.noContent("The upload was deleted.")],
        problems: .uploadLookup,
        fields: Endpoint.draftFields, handler: cancel),
    ]
  }

  /// Returns the offset of an upload.
  private func status(_ call: APIRequest) async throws -> HTTPServerResponse {
    let id = try call.value(of: .upload)
    let version = DraftVersion(call.request.headerFields)
    try version.dialect.requireNoUploadFields(call.request.headerFields)
    let status = try await draft.failing(version.dialect) { () async throws(UploadError) in
      let status = try await uploads.service.status(id, of: call.caller)
      guard DraftDialect.named(status.terms.dialect) != nil else { throw .unknown }
      return status
    }
    call.concerns(status)
    // A client that sends no version now sent one when it created the upload.
    let opened = version == .missing ? DraftDialect.named(status.terms.dialect) : nil
    var fields = (opened ?? version.dialect).fields(isComplete: status.isComplete)
    fields[.uploadOffset] = "\(status.offset)"
    fields[.uploadLength] = status.length.map { "\($0)" }
    fields[.uploadLimit] = uploads.limit(of: status).fieldValue
    fields[.cacheControl] = "no-store"
    return HTTPServerResponse(status: .noContent, headerFields: fields)
  }

  /// Appends bytes to an upload.
  private func append(_ call: APIRequest) async throws -> HTTPServerResponse {
    call.leavesUploadOpen()
    let (id, fields) = (try call.value(of: .upload), call.request.headerFields)
    let version = DraftVersion(fields)
    let dialect = version.dialect
    let type = fields[.contentType].flatMap(MediaType.init)?.essence
    guard type == DraftDialect.mediaType || !dialect.needsMediaType else {
      throw HTTPProblem.unsupportedPart(DraftDialect.mediaType)
    }
    guard let offset = StructuredItem.count(fields[.uploadOffset]) else {
      throw HTTPProblem.badRequest("Upload-Offset is missing, or is not a number from 0.")
    }
    guard let completes = dialect.completesAppend(fields) else {
      throw HTTPProblem.badRequest("Upload-Complete is missing, or is neither ?0 nor ?1.")
    }
    try UploadIntake.checkCoding(fields)
    // As in the request that creates the upload, the representation is the whole bundle.
    let request = AppendRequest(
      offset: offset, length: try length(fields, call.request, dialect, offset, completes),
      completes: completes,
      digest: try StatedDigest(.contentDigest, of: call.request),
      expected: completes ? try UploadIntake.digest(.reprDigest, in: fields) : nil)
    let sendsInterim = version != .missing && version != .unknown && uploads.configuration.sendsInterimAnswers
    let status = try await draft.append(id, request, dialect, sendsInterim: sendsInterim, call)
    return try await draft.answer(
      status, dialect, [.uploadLimit: uploads.limit(of: status).fieldValue], dialect.appended, call)
  }

  /// Returns the total length from `Upload-Length`, or from the end of the last request. Throws if they contradict each
  /// other.
  private func length(
    _ fields: HTTPFields, _ request: HTTPServerRequest, _ dialect: DraftDialect, _ offset: Int64,
    _ completes: Bool
  ) throws(UploadFailure) -> Int64? {
    let stated = StructuredItem.count(fields[.uploadLength])
    guard completes, let declared = request.body.declaredLength else { return stated }
    let (end, overflow) = offset.addingReportingOverflow(declared)
    guard !overflow, stated == nil || stated == end else {
      throw UploadFailure(.inconsistentLength(known: stated, stated: overflow ? .max : end))
    }
    return end
  }

  /// Deletes an upload. A published snapshot is kept.
  private func cancel(_ call: APIRequest) async throws -> HTTPServerResponse {
    let id = try call.value(of: .upload)
    let dialect = DraftVersion(call.request.headerFields).dialect
    try dialect.requireNoUploadFields(call.request.headerFields)
    try await draft.failing(dialect) { () async throws(UploadError) in
      try await uploads.service.terminate(id, of: call.caller)
    }
    return HTTPServerResponse(
      status: .noContent, headerFields: [.uploadDraftInteropVersion: "\(dialect.number)"])
  }
}
