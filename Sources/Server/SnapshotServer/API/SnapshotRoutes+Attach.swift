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
    let attachment = Attachment(report: report, id: SnapshotID())
    if let draft, let creation = try DraftCreation(call.request),
      let response = try await draft.create(creation, attachment, call)
    {
      return response
    }
    let intake = try UploadIntake(call.request, limits: limits, meter: call.caller.meter)
    return try await attach(intake, attachment, for: call)
  }

  /// Attaches under the UUID in the path, whatever the manifest's own is: to attach a bundle once more, under a
  /// name of its own, is legitimate.
  func put(_ call: APIRequest) async throws -> HTTPServerResponse {
    let (report, id) = (try call.value(of: .report), try call.value(of: .id))
    guard call.caller.mayAttach(to: report) else { throw SnapshotProblem.outsideLimits("reports") }
    let preconditions = Preconditions(call.request.headerFields)
    let attachment = Attachment(report: report, id: id, createOnly: preconditions.isCreateOnly)
    let existing = try await service.existing(under: attachment, preconditions, for: call.caller)
    if let draft, let creation = try DraftCreation(call.request) {
      try Self.check(existing, report, creation.expected)
      if let response = try await draft.create(creation, attachment, call) { return response }
    }
    let intake = try UploadIntake(call.request, limits: limits, meter: call.caller.meter)
    try Self.check(existing, report, intake.expected)
    return try await attach(intake, attachment, for: call)
  }

  /// What is bound to be refused is refused before its body comes.
  static func check(
    _ existing: SnapshotRecord?, _ report: ReportID, _ expected: ContentDigest?
  ) throws(StoreError) {
    guard let existing else { return }
    guard existing.report == report, existing.sha256 == expected ?? existing.sha256 else { throw .conflict }
  }

  private func attach(
    _ intake: UploadIntake, _ attachment: Attachment, for call: APIRequest
  ) async throws -> HTTPServerResponse {
    let publication: Publication
    do {
      publication = try await publish(intake, attachment, for: call)
    } catch let error as StoreError {
      throw call.caller.concealing(error, attachment)
    }
    return try Self.answer(publication, call)
  }

  private func publish(
    _ intake: UploadIntake, _ attachment: Attachment, for call: APIRequest
  ) async throws -> Publication {
    try await service.attach(expecting: intake.leastLength) { upload in
      let received = try await intake.receive(into: upload)
      try await call.caller.requireValid()
      var attachment = attachment
      attachment.attachedBy = call.caller.token
      attachment.applications = call.caller.limits.applications
      attachment.expected = received.expected
      attachment.metadata = received.metadata
      attachment.expiresAt = received.expiresAt
      return attachment
    }
  }

  /// The answer to whoever attached a snapshot.
  static func answer(_ publication: Publication, _ call: APIRequest) throws -> HTTPServerResponse {
    call.concerns(publication.record)
    let body = try JSONBody(RecordAnswer(call.caller.view(of: publication.record)))
    return switch publication {
    case .created(let record):
      body.response(.created, [.location: path(of: record.id)])
    case .alreadyThere:
      body.response(.ok)
    }
  }
}

extension SnapshotService {
  /// The record of the snapshot that has the UUID already, `nil` where none has; throws what a client has ruled out.
  func existing(
    under attachment: Attachment, _ preconditions: Preconditions, for caller: Caller
  ) async throws -> SnapshotRecord? {
    guard let id = attachment.id else { return nil }
    let existing = try await caller.existing(under: attachment) { () throws(StoreError) in
      try await recordIfPresent(id)
    }
    guard preconditions.verdict(.put, on: existing.map(SnapshotRoutes.validators)) == .proceed else {
      throw preconditions.isCreateOnly && existing != nil
        ? StoreError.alreadyExists : HTTPProblem.preconditionFailed()
    }
    return existing
  }
}
