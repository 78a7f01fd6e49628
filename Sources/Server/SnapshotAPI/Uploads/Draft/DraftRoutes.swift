import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotStore

/// The resource that an upload by the IETF's draft has while it lasts.
struct DraftRoutes: Sendable {
  private let draft: DraftUploads
  private var uploads: ResumableUploads { draft.uploads }

  init(_ uploads: ResumableUploads) { draft = DraftUploads(uploads) }

  /// How far it is.
  func status(_ call: APIRequest) async throws -> HTTPServerResponse {
    let id = try call.value(of: .upload)
    let version = DraftVersion(call.request.headerFields)
    try version.dialect.requireNoUploadFields(call.request.headerFields)
    let status = try await draft.failing(version.dialect) { () async throws(UploadError) in
      let status = try await uploads.service.status(id, of: call.caller)
      guard DraftDialect.named(status.terms.dialect) != nil else { throw .unknown }
      return status
    }
    call.concerns(status)
    // Who says no version now said one when the upload was opened.
    let opened = version == .unsaid ? DraftDialect.named(status.terms.dialect) : nil
    var fields = (opened ?? version.dialect).fields(isComplete: status.isComplete)
    fields[.uploadOffset] = "\(status.offset)"
    fields[.uploadLength] = status.length.map { "\($0)" }
    fields[.uploadLimit] = uploads.limit(of: status).fieldValue
    fields[.cacheControl] = "no-store"
    return HTTPServerResponse(status: .noContent, headerFields: fields)
  }

  /// Brings more of it.
  func append(_ call: APIRequest) async throws -> HTTPServerResponse {
    call.leavesUploadOpen()
    let (id, fields) = (try call.value(of: .upload), call.request.headerFields)
    let version = DraftVersion(fields)
    let dialect = version.dialect
    let type = fields[.contentType].flatMap(MediaType.init)?.essence
    guard type == DraftDialect.mediaType || !dialect.needsMediaType else {
      throw HTTPProblem.unsupportedPart(DraftDialect.mediaType)
    }
    guard let offset = StructuredItem.count(fields[.uploadOffset]) else {
      throw HTTPProblem.badRequest("Upload-Offset is missing, or is no number from 0.")
    }
    guard let completes = dialect.completesAppend(fields) else {
      throw HTTPProblem.badRequest("Upload-Complete is missing, or is neither ?0 nor ?1.")
    }
    try UploadIntake.checkCoding(fields)
    let request = AppendRequest(
      offset: offset, length: try length(fields, call.request, dialect, offset, completes),
      completes: completes,
      digest: try StatedDigest(.contentDigest, of: call.request))
    let talks = version != .unsaid && version != .unknown && uploads.configuration.sendsInterimAnswers
    let status = try await draft.append(id, request, dialect, talks: talks, call)
    return try await draft.answer(
      status, dialect, [.uploadLimit: uploads.limit(of: status).fieldValue], dialect.appended, call)
  }

  /// What the head says of the length of all: by itself, and by what comes last.
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

  /// Ends it; what was published stays.
  func cancel(_ call: APIRequest) async throws -> HTTPServerResponse {
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
