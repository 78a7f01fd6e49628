import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat
import SnapshotStore

extension SnapshotRoutes {
  /// Sends a bundle, or ranges of it. A bundle never changes, but it may be deleted: caches ask again each time.
  func bundle(_ call: APIRequest) async throws -> HTTPServerResponse {
    let bundle = try await service.bundle(for: call)
    var fields: HTTPFields = [
      .cacheControl: "private, no-cache",
      .contentDisposition: ContentDisposition.attachment("\(bundle.record.id).zip").fieldValue,
    ]
    if DigestField.isWanted(by: call.request.headerFields) {
      fields[.reprDigest] = DigestField(sha256: bundle.record.sha256.bytes).fieldValue
    }
    let representation = Representation(
      .file(bundle.file, size: bundle.record.size), contentType: "application/zip",
      entityTag: Self.entityTag(of: bundle.record), lastModified: Self.lastModified(of: bundle.record),
      headerFields: fields)
    return try representation.response(to: call.request)
  }

  /// Sends a record.
  func record(_ call: APIRequest) async throws -> HTTPServerResponse {
    let id = try call.value(of: .id)
    let record = try await call.caller.lookUp { () throws(StoreError) in
      try await service.record(id)
    } visible: {
      call.caller.maySeeStatus(of: $0)
    }
    call.concerns(record)
    return try answers.representation(of: call.caller.view(of: record)).response(to: call.request)
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
}
