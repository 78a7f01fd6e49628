import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat
import SnapshotStore

extension SnapshotRoutes {
  /// Pins a snapshot, or sets its end, if the conditions hold that the request states. Only whoever may delete it may
  /// say how long it stays.
  func change(_ call: APIRequest) async throws -> HTTPServerResponse {
    let record = try await deletable(call)
    let current = Preconditions.Current(
      entityTag: try JSONBody(RecordAnswer(call.caller.view(of: record))).representation.entityTag)
    guard Preconditions(call.request.headerFields).verdict(.patch, on: current) == .proceed else {
      throw HTTPProblem.preconditionFailed()
    }
    let request = try await ChangeRequest(call.request, now: Date())
    try await call.caller.requireValid()
    let changed = try await service.change(request.change, of: record.id)
    let body = try JSONBody(RecordAnswer(call.caller.view(of: changed)))
    var fields: HTTPFields = [:]
    if let tag = body.representation.entityTag { fields[.eTag] = tag.description }
    return body.response(.ok, fields)
  }

  /// The record that a call to delete or to keep a snapshot is about, if the caller may.
  func deletable(_ call: APIRequest) async throws -> SnapshotRecord {
    let id = try call.value(of: .id)
    let record = try await call.caller.lookUp { () throws(StoreError) in
      try await service.record(id)
    } visible: {
      call.caller.mayDelete($0)
    }
    call.concerns(record)
    return record
  }
}
