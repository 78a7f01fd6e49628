import AccessControl
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotFormat
import SnapshotService
import SnapshotStore

/// The IETF draft on resumable uploads. A request that attaches a snapshot creates an upload. If the request succeeds,
/// its response is the same as without the draft.
struct DraftUploads: AttachDialect {
  let uploads: ResumableUploads
  private var service: UploadService { uploads.service }

  init(_ uploads: ResumableUploads) { self.uploads = uploads }

  static let interim = HTTPResponse.Status(code: 104, reasonPhrase: "Upload Resumption Supported")

  let parameters = Endpoint.Parameter.resuming
  let problems: [ProblemKind] = [
    .inconsistentUploadLength, .tooManyUploads, .uploadTakenOver, .uploadMetadataTooLarge, .noSuchUpload,
    .uploadGone,
  ]
  let fields = Endpoint.draftFields

  /// Creates an upload for a bundle, and appends the body of `call` to it.
  /// - Returns: `nil` if `call` has no fields of the draft, or if there are too many uploads and `call` contains the
  ///   whole bundle. The request is then handled as an upload that can't be resumed.
  func attach(_ attachment: Attachment, _ call: APIRequest) async throws -> HTTPServerResponse? {
    guard let creation = try DraftCreation(call.request) else { return nil }
    var attachment = attachment
    attachment.expected = creation.expected
    attachment.expiresAt = creation.expiresAt
    let terms = UploadTerms(.whole(attachment), length: creation.length, dialect: creation.dialect.name)
    let opened: UploadStatus
    do {
      opened = try await failing(creation.dialect) { () async throws(UploadError) in
        try await service.create(
          terms, if: Preconditions(call.request.headerFields), of: call.caller)
      }
    } catch {
      if case .tooManyOpen = error.cause, creation.canBePlain { return nil }
      throw error
    }
    call.leavesUploadOpen()
    let place: HTTPFields = [
      .location: UploadLocation.value(of: ResumableUploads.draftPath + "/\(opened.id)", for: call.request),
      .uploadLimit: uploads.limit(of: opened).fieldValue,
    ]
    let sendsInterim = creation.supportsInterim && uploads.configuration.sendsInterimAnswers
    var isKnown = false
    if sendsInterim {
      var fields = place
      fields[.uploadDraftInteropVersion] = "\(creation.dialect.number)"
      isKnown = await call.request.sendInterim(Self.interim, fields)
    }
    do {
      let status = try await append(
        opened.id, AppendRequest(offset: 0, completes: creation.completes, digest: creation.digest),
        creation.dialect, sendsInterim: isKnown, call)
      return try await answer(status, creation.dialect, status.isComplete ? [:] : place, .created, call)
    } catch let error as UploadFailure {
      // The client doesn't know the location, so it can't resume the upload.
      if !isKnown { await forget(opened.id, call) }
      throw error
    }
  }

  /// Appends the body of `call` to an upload. `sendsInterim` reports the progress to the client in interim responses.
  func append(
    _ id: UploadID, _ request: AppendRequest, _ dialect: DraftDialect, sendsInterim: Bool, _ call: APIRequest
  ) async throws -> UploadStatus {
    let onProgress: @Sendable (Int64) async -> Void = { offset in
      await call.request.sendInterim(
        Self.interim, [.uploadDraftInteropVersion: "\(dialect.number)", .uploadOffset: "\(offset)"])
    }
    return try await failing(dialect) { () async throws(UploadError) in
      try await service.append(
        id, request, body: call.request.body, of: call.caller, onProgress: sendsInterim ? onProgress : nil)
    }
  }

  /// Returns the response to a request that sent bytes. Once the upload is complete, it is that of attaching a
  /// snapshot.
  func answer(
    _ status: UploadStatus, _ dialect: DraftDialect, _ place: HTTPFields, _ unfinished: HTTPResponse.Status,
    _ call: APIRequest
  ) async throws -> HTTPServerResponse {
    call.ends(with: status)
    var fields = dialect.fields(isComplete: status.isComplete)
    switch status.outcome {
    case .published(let id, let isNew):
      var response = try SnapshotRoutes.answer(try await service.publication(id, isNew: isNew), call)
      response.headerFields.append(contentsOf: fields)
      return response
    case .refused(let refusal): throw RefusedUpload(refusal, fields)
    case nil:
      fields[.uploadOffset] = "\(status.offset)"
      fields.append(contentsOf: place)
      return HTTPServerResponse(status: unfinished, headerFields: fields)
    }
  }

  /// Performs `action`, and converts its errors to responses in `dialect`.
  func failing<Value>(
    _ dialect: DraftDialect, _ action: () async throws(UploadError) -> Value
  ) async throws(UploadFailure) -> Value {
    do {
      return try await action()
    } catch {
      var fields: HTTPFields = [.uploadDraftInteropVersion: "\(dialect.number)"]
      switch error {
      case .mismatchingOffset(let expected, _):
        fields = dialect.fields(isComplete: false)
        fields[.uploadOffset] = "\(expected)"
      case .tooLarge: fields[.uploadLimit] = uploads.limit().fieldValue
      default: break
      }
      throw UploadFailure(error, fields)
    }
  }

  private func forget(_ id: UploadID, _ call: APIRequest) async {
    do {
      try await service.terminate(id, of: call.caller)
    } catch {
      // The upload is deleted when it expires.
    }
  }
}
