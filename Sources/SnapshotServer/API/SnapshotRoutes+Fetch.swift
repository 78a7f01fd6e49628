import Dispatch
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat
import SnapshotStore
import SystemIO

extension SnapshotRoutes {
  /// Sends a bundle, or ranges of it. A bundle never changes, but it may be deleted: caches ask again each time.
  func bundle(_ call: APIRequest) async throws -> HTTPServerResponse {
    let id = try call.value(of: .id)
    let bundle = try await call.caller.lookUp { () throws(StoreError) in
      try await service.open(id)
    } visible: {
      call.caller.mayRead($0.record)
    }
    call.concerns(bundle.record)
    var fields: HTTPFields = [
      .cacheControl: "private, no-cache",
      .contentDisposition: ContentDisposition.attachment("\(bundle.record.id).zip").fieldValue,
    ]
    if DigestField.isWanted(by: call.request.headerFields) {
      fields[.reprDigest] = DigestField(sha256: bundle.record.sha256.bytes).fieldValue
    }
    let representation = Representation(
      .file(bundle.file, size: bundle.record.size), contentType: "application/zip",
      entityTag: Self.entityTag(of: bundle.record), headerFields: fields)
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
    return try JSONBody(RecordAnswer(call.caller.view(of: record))).representation.response(to: call.request)
  }

  /// Sends one page of a report's records.
  func listReport(_ call: APIRequest) async throws -> HTTPServerResponse {
    let report = try call.value(of: .report)
    guard call.caller.limits.include(report) else { throw SnapshotProblem.outsideLimits("reports") }
    return try await list(call, report: report)
  }

  /// Sends one page of all records.
  func listAll(_ call: APIRequest) async throws -> HTTPServerResponse {
    try await list(call, report: nil)
  }

  private func list(_ call: APIRequest, report: ReportID?) async throws -> HTTPServerResponse {
    let request = try pageRequest(call.query())
    let page = try await service.records(of: report, page: request).filtered(call.caller.mayRead)
    // A thousand records take milliseconds to encode, which an event loop does not have.
    let body = try await Self.encoder.perform { () throws(any Error) in try JSONBody(PageAnswer(page)) }
    var fields: HTTPFields = [:]
    if let next = page.next {
      let cursor = PercentCoding.encode(next.description)
      fields[.link] = "<\(call.request.path)?limit=\(request.limit)&cursor=\(cursor)>; rel=\"next\""
    }
    return body.response(.ok, fields)
  }

  /// Deletes a snapshot, if the conditions hold that the request states.
  func delete(_ call: APIRequest) async throws -> HTTPServerResponse {
    let id = try call.value(of: .id)
    let record = try await call.caller.lookUp { () throws(StoreError) in
      try await service.record(id)
    } visible: {
      call.caller.mayDelete($0)
    }
    call.concerns(record)
    let current = Preconditions.Current(entityTag: Self.entityTag(of: record))
    guard Preconditions(call.request.headerFields).verdict(.delete, on: current) == .proceed else {
      throw HTTPProblem.preconditionFailed()
    }
    try await service.delete(id)
    return HTTPServerResponse(status: .noContent)
  }

  private static let encoder = DispatchQueue(label: "snapshot-server.encoder")

  private func pageRequest(_ query: QueryParameters) throws(HTTPProblem) -> PageRequest {
    var request = PageRequest(limit: min(limits.defaultPageLength, limits.pageLength))
    if let text = try query.value("limit") {
      guard let limit = Int(text), limit >= 1, limit <= limits.pageLength else {
        throw .badRequest("‘limit’ is a number from 1 to \(limits.pageLength).")
      }
      request.limit = limit
    }
    if let text = try query.value("cursor") {
      guard let cursor = Cursor(text) else {
        throw .badRequest(
          "‘cursor’ is not one that this server gave: follow the link to the next page as it is.")
      }
      request.cursor = cursor
    }
    return request
  }
}
