import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat
import SnapshotStore

extension SnapshotRoutes {
  /// Attaches under a UUID of the server's making.
  func post(_ call: APIRequest) async throws -> HTTPServerResponse {
    let report = try call.value(of: .report)
    guard call.caller.mayAttach(to: report) else { throw SnapshotProblem.outsideLimits("reports") }
    let intake = try UploadIntake(call.request, limits: limits, meter: call.caller.meter)
    return try await attach(intake, Attachment(report: report, id: SnapshotID()), for: call)
  }

  /// Attaches under the UUID in the path, whatever the manifest's own is: to attach a bundle once more, under a
  /// name of its own, is legitimate.
  func put(_ call: APIRequest) async throws -> HTTPServerResponse {
    let (report, id) = (try call.value(of: .report), try call.value(of: .id))
    guard call.caller.mayAttach(to: report) else { throw SnapshotProblem.outsideLimits("reports") }
    let preconditions = Preconditions(call.request.headerFields)
    let existing = try await service.recordIfPresent(id)
    let current = existing.map { Preconditions.Current(entityTag: Self.entityTag(of: $0)) }
    guard preconditions.verdict(.put, on: current) == .proceed else {
      throw preconditions.isCreateOnly && existing != nil
        ? StoreError.alreadyExists : HTTPProblem.preconditionFailed()
    }
    let intake = try UploadIntake(call.request, limits: limits, meter: call.caller.meter)
    // What is bound to be refused is refused before its body comes.
    if let existing, existing.report != report || existing.sha256 != intake.expected ?? existing.sha256 {
      throw StoreError.conflict
    }
    return try await attach(
      intake, Attachment(report: report, id: id, createOnly: preconditions.isCreateOnly), for: call)
  }

  private func attach(
    _ intake: UploadIntake, _ attachment: Attachment, for call: APIRequest
  ) async throws -> HTTPServerResponse {
    let publication = try await service.attach(expecting: intake.leastLength) { upload in
      let received = try await intake.receive(into: upload)
      var attachment = attachment
      attachment.attachedBy = call.caller.token
      attachment.applications = call.caller.limits.applications
      attachment.expected = received.expected
      attachment.metadata = received.metadata
      attachment.expiresAt = received.expiresAt
      return attachment
    }
    call.concerns(publication.record)
    let body = try JSONBody(RecordAnswer(call.caller.view(of: publication.record)))
    return switch publication {
    case .created(let record):
      body.response(.created, [.location: Self.path(of: record.id)])
    case .alreadyThere:
      body.response(.ok)
    }
  }
}
