import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat
import SnapshotStore

/// tus 1.0.0 below `/v1/uploads`: an upload is opened there, and has a resource of its own then.
struct TusRoutes: Sendable {
  private let uploads: ResumableUploads
  private let snapshots: SnapshotService
  private let limits: ServiceLimits
  private var service: UploadService { uploads.service }

  init(_ uploads: ResumableUploads, _ snapshots: SnapshotService, limits: ServiceLimits) {
    self.uploads = uploads
    self.snapshots = snapshots
    self.limits = limits
  }

  func answer(_ call: APIRequest) async throws -> HTTPServerResponse {
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
      // POST only stands for another one.
      default: throw HTTPProblem.methodNotAllowed(method, allowed: meant)
      }
    } catch let error as UploadError {
      throw UploadFailure(error, in: .tus)
    }
  }

  /// What a request answers that stands for `OPTIONS`, to which the router has no part.
  private func offer(_ allowed: String) -> HTTPServerResponse {
    var fields = Tus.offer(service.limits)
    fields[.allow] = allowed
    return HTTPServerResponse(status: .noContent, headerFields: fields)
  }

  // MARK: Opening

  func open(_ call: APIRequest) async throws -> HTTPServerResponse {
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
        "A joined upload has the bytes of its parts: leave out the content.")
    }
    do {
      let opened = try await service.create(terms, if: Preconditions(request.headerFields), of: call.caller)
      call.leavesUploadOpen()
      let place: HTTPFields = [
        .location: UploadLocation.value(of: ResumableUploads.path + "/\(opened.id)", for: request)
      ]
      // One of no bytes is complete at once.
      guard bringsBytes || terms.length == 0, !terms.isJoined else {
        return try outcome(of: opened, .created, place, call)
      }
      let status: UploadStatus
      do throws(UploadError) {
        status = try await service.append(
          opened.id, AppendRequest(offset: 0, digest: checksum), body: request.body, of: call.caller)
      } catch {
        // The upload is there all the same.
        throw UploadFailure(error, in: .tus, place)
      }
      return try outcome(of: status, .created, place, call)
    } catch let error as UploadError {
      throw UploadFailure(error, in: .tus)
    }
  }

  /// Whether the first bytes come with the request that opens the upload.
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
    let concatenation = try TusConcatenation(fields)
    if case .joined(let parts) = concatenation {
      guard length == nil, !isDeferred else {
        throw HTTPProblem.malformedConcatenation(
          "A joined upload's length is that of its parts: leave it out.")
      }
      return UploadTerms(
        .joined(try metadata.attachment(now: Date()), parts: parts), dialect: Tus.dialect, note: metadata.text
      )
    }
    guard (length == nil) == isDeferred else {
      throw HTTPProblem.badRequest("An upload has either Upload-Length or Upload-Defer-Length.")
    }
    let kind: UploadTerms.Kind =
      concatenation == .partial ? .partial : .whole(try metadata.attachment(now: Date()))
    return UploadTerms(kind, length: length, dialect: Tus.dialect, note: metadata.text)
  }

  // MARK: Going on

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

  /// The answer to a request that has brought bytes, or opened an upload.
  private func outcome(
    of status: UploadStatus, _ code: HTTPResponse.Status, _ place: HTTPFields, _ call: APIRequest
  ) throws -> HTTPServerResponse {
    call.ends(with: status)
    var fields = place
    fields[.uploadOffset] = "\(status.offset)"
    fields.append(contentsOf: try ending(of: status))
    return HTTPServerResponse(status: code, headerFields: fields)
  }

  // MARK: Telling

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
    fields[.uploadConcat] = TusConcatenation(status.terms.kind)?.fieldValue
    fields.append(contentsOf: try ending(of: status))
    return HTTPServerResponse(status: .ok, headerFields: fields)
  }

  /// When the upload goes, or what became of it; throws where it was refused.
  private func ending(of status: UploadStatus) throws -> HTTPFields {
    switch status.outcome {
    case .published(let id, _): [.link: "<\(SnapshotRoutes.path(of: id))>; rel=\"describedby\""]
    case .refused(let refusal): throw RefusedUpload(refusal: refusal, fields: [.cacheControl: "no-store"])
    case nil:
      [
        .uploadExpires:
          HTTPDate(secondsSince1970: Int64(status.expiresAt.timeIntervalSince1970)).description
      ]
    }
  }
}
