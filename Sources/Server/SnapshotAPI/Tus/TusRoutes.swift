import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotFormat
import SnapshotService
import SnapshotStore

/// The endpoints of tus 1.0.0. An upload is created at `/v1/uploads` and has its own resource below that path.
struct TusRoutes: Sendable {
  private let uploads: ResumableUploads
  private let limits: ServiceLimits
  private var service: UploadService { uploads.service }

  init(_ uploads: ResumableUploads, limits: ServiceLimits) {
    self.uploads = uploads
    self.limits = limits
  }

  /// All endpoints. Each one checks for an overridden method, because some networks pass only `GET` and `POST`.
  var endpoints: [Endpoint] {
    [
      Endpoint(
        .openUpload, .post, ResumableUploads.path, .attach,
        "Creates a resumable upload (tus 1.0.0).",
        detail: """
          `Upload-Metadata` must have the key `report`. `id` is the snapshot's UUID, `digest` its SHA-256 and \
          `expires` its expiry date. All other keys become metadata. The body can contain the first bytes.
          """, uploads: .tus,
        parameters: [
          .tusVersion, .methodOverride, .uploadLength, .uploadMetadata,
          .header("Upload-Defer-Length", "1 if the length is sent later.", ["const": "1"]),
          .header("Upload-Concat", "`partial`, or `final;` and the paths of the parts, separated by spaces."),
          .uploadChecksum, .ifNoneMatch,
        ],
        responses: [
          Endpoint.Response(status: 201, text: "The upload was created.", fields: ["Location"] + tusOffset),
          Endpoint.Response(status: 204, text: "As after OPTIONS.", fields: tusOffer),
        ],
        problems: opening, fields: tusFields, handler: open),
      Endpoint(
        .readUpload, .get, ResumableUploads.path + "/{upload}", .attach, "Returns the offset of an upload.",
        detail: "Ends a request that is still sending bytes to the upload.", uploads: .tus,
        parameters: [.upload, .tusVersion],
        responses: [
          Endpoint.Response(
            status: 200, text: "The offset and length of the upload.",
            fields: tusOffset + [
              "Cache-Control", "Upload-Length", "Upload-Defer-Length", "Upload-Metadata", "Upload-Concat",
            ])
        ], problems: .uploadStatus, fields: tusFields, handler: answer),
      Endpoint(
        .useUpload, .post, ResumableUploads.path + "/{upload}", .attach,
        "Performs the method that `X-HTTP-Method-Override` names.", uploads: .tus,
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
        .appendToUpload, .patch, ResumableUploads.path + "/{upload}", .attach,
        "Appends bytes to an upload.",
        detail: "Received bytes are kept if the connection breaks. The last bytes publish the snapshot.",
        uploads: .tus, parameters: [.upload, .tusVersion, .uploadOffset, .uploadLength, .uploadChecksum],
        body: [Tus.mediaType: [:]],
        responses: [Endpoint.Response(status: 204, text: "The bytes are stored.", fields: tusOffset)],
        problems: .uploadAppend, fields: tusFields, handler: answer),
      Endpoint(
        .endUpload, .delete, ResumableUploads.path + "/{upload}", .attach,
        "Deletes an upload. A published snapshot is kept.", uploads: .tus,
        parameters: [.upload, .tusVersion], responses: [.noContent("The upload was deleted.")],
        problems: .uploadLookup,
        fields: tusFields, handler: answer),
    ]
  }

  private func answer(_ call: APIRequest) async throws -> HTTPServerResponse {
    call.leavesUploadOpen()
    let method = try Tus.method(of: call.request)
    let meant = "DELETE, GET, HEAD, OPTIONS, PATCH"
    if method == .options { return offer(meant + ", POST") }
    try Tus.checkVersion(call.request.headerFields)
    let id = try call.value(of: .upload)
    do {
      switch method {
      case .head, .get: return try await status(id, call)
      case .patch: return try await append(id, call)
      case .delete:
        try await service.terminate(id, of: call.caller)
        return HTTPServerResponse(status: .noContent)
      // POST is only valid with another method in `X-HTTP-Method-Override`.
      default: throw HTTPProblem.methodNotAllowed(method, allowed: meant)
      }
    } catch let error as UploadError {
      throw UploadFailure(tus: error)
    }
  }

  /// Returns the response to a request whose overridden method is `OPTIONS`. The router answers only real ones.
  private func offer(_ allowed: String) -> HTTPServerResponse {
    var fields = Tus.offer(service.limits)
    fields[.allow] = allowed
    return HTTPServerResponse(status: .noContent, headerFields: fields)
  }

  // MARK: Creation

  private func open(_ call: APIRequest) async throws -> HTTPServerResponse {
    let request = call.request
    let method = try Tus.method(of: request)
    let allowed = "OPTIONS, POST"
    if method == .options { return offer(allowed) }
    guard method == .post else { throw HTTPProblem.methodNotAllowed(method, allowed: allowed) }
    try Tus.checkVersion(request.headerFields)
    let bringsBytes = try bringsBytes(request)
    let checksum = bringsBytes ? try Tus.checksum(request) : nil
    let terms = try terms(call)
    guard !terms.isJoined || !bringsBytes else {
      throw HTTPProblem.malformedConcatenation(
        "A joined upload consists of its parts and can't have content.")
    }
    do {
      let opened = try await service.create(terms, if: Preconditions(request.headerFields), of: call.caller)
      call.leavesUploadOpen()
      let place: HTTPFields = [
        .location: UploadLocation.value(of: ResumableUploads.path + "/\(opened.id)", for: request)
      ]
      // An upload of zero bytes is complete immediately.
      guard bringsBytes || terms.length == 0, !terms.isJoined else {
        return try outcome(of: opened, .created, place, call)
      }
      let status: UploadStatus
      do {
        status = try await service.append(
          opened.id, AppendRequest(offset: 0, digest: checksum), body: request.body, of: call.caller)
      } catch {
        // The upload exists despite the error, so the response has its location.
        throw UploadFailure(tus: error, place)
      }
      return try outcome(of: status, .created, place, call)
    } catch let error as UploadError {
      throw UploadFailure(tus: error)
    }
  }

  /// Whether the request that creates the upload contains its first bytes.
  private func bringsBytes(_ request: HTTPServerRequest) throws(HTTPProblem) -> Bool {
    let type = request.headerFields[.contentType]
    if type.flatMap(MediaType.init)?.essence == Tus.mediaType { return request.body.declaredLength != 0 }
    guard request.body.declaredLength == 0 else { throw HTTPProblem.unsupportedPart(Tus.mediaType) }
    return false
  }

  private func terms(_ call: APIRequest) throws -> UploadTerms {
    let fields = call.request.headerFields
    let metadata = try TusMetadata(fields, limits: limits)
    let length = try Tus.count(.uploadLength, in: fields)
    let isDeferred = try Tus.defersLength(fields)
    let concatenation = try TusConcatenation(fields, below: call.request.basePath)
    if case .joined(let parts) = concatenation {
      guard length == nil, !isDeferred else {
        throw HTTPProblem.malformedConcatenation(
          "A joined upload has the length of its parts. Omit its own.")
      }
      return UploadTerms(
        .joined(try metadata.attachment(now: Date()), parts: parts), dialect: Tus.dialect, note: metadata.text
      )
    }
    guard (length == nil) == isDeferred else {
      throw HTTPProblem.badRequest("An upload needs either Upload-Length or Upload-Defer-Length.")
    }
    let kind: UploadTerms.Kind =
      concatenation == .partial ? .partial : .whole(try metadata.attachment(now: Date()))
    return UploadTerms(kind, length: length, dialect: Tus.dialect, note: metadata.text)
  }

  // MARK: Appending

  private func append(_ id: UploadID, _ call: APIRequest) async throws -> HTTPServerResponse {
    let fields = call.request.headerFields
    guard fields[.contentType].flatMap(MediaType.init)?.essence == Tus.mediaType else {
      throw HTTPProblem.unsupportedPart(Tus.mediaType)
    }
    guard let offset = try Tus.count(.uploadOffset, in: fields) else {
      throw HTTPProblem.badRequest("Upload-Offset is missing.")
    }
    let request = AppendRequest(
      offset: offset, length: try Tus.count(.uploadLength, in: fields), digest: try Tus.checksum(call.request)
    )
    let status = try await service.append(id, request, body: call.request.body, of: call.caller)
    return try outcome(of: status, .noContent, [:], call)
  }

  /// Returns the response to a request that created an upload or appended bytes.
  private func outcome(
    of status: UploadStatus, _ code: HTTPResponse.Status, _ place: HTTPFields, _ call: APIRequest
  ) throws -> HTTPServerResponse {
    call.ends(with: status)
    var fields = place
    fields[.uploadOffset] = "\(status.offset)"
    fields.append(contentsOf: try ending(of: status))
    return HTTPServerResponse(status: code, headerFields: fields)
  }

  // MARK: Status

  private func status(_ id: UploadID, _ call: APIRequest) async throws -> HTTPServerResponse {
    let status = try await service.status(id, of: call.caller)
    guard status.terms.dialect == Tus.dialect else { throw UploadError.unknown }
    call.concerns(status)
    var fields: HTTPFields = [.cacheControl: "no-store", .uploadOffset: "\(status.offset)"]
    if let length = status.length {
      fields[.uploadLength] = "\(length)"
    } else {
      fields[.uploadDeferLength] = "1"
    }
    fields[.uploadMetadata] = status.terms.note
    fields[.uploadConcat] = TusConcatenation(status.terms.kind)?
      .fieldValue(below: call.request.basePath)
    fields.append(contentsOf: try ending(of: status))
    return HTTPServerResponse(status: .ok, headerFields: fields)
  }

  /// Returns the fields that give the expiry date or the published snapshot. Throws if the bundle was refused.
  private func ending(of status: UploadStatus) throws -> HTTPFields {
    switch status.outcome {
    case .published(let id, _): [.link: "<\(SnapshotRoutes.path(of: id))>; rel=\"describedby\""]
    case .refused(let refusal): throw RefusedUpload(refusal, [.cacheControl: "no-store"])
    case nil:
      [
        .uploadExpires:
          HTTPDate(secondsSince1970: Int64(status.expiresAt.timeIntervalSince1970)).description
      ]
    }
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
