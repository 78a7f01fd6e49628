import AccessControl
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotFormat
import SnapshotStore

extension SnapshotRoutes {
  /// Attaches under a UUID that the server makes.
  func post(_ call: APIRequest) async throws -> HTTPServerResponse {
    try await attach(Attachment(report: try call.value(of: .report)), call)
  }

  /// Attaches under the UUID in the path, whatever the manifest's own is: to attach a bundle once more, under a
  /// name of its own, is legitimate.
  func put(_ call: APIRequest) async throws -> HTTPServerResponse {
    try await attach(Attachment(report: try call.value(of: .report), id: try call.value(of: .id)), call)
  }

  private func attach(_ attachment: Attachment, _ call: APIRequest) async throws -> HTTPServerResponse {
    if let draft, let creation = try DraftCreation(call.request),
      let response = try await draft.create(creation, attachment, call)
    {
      return response
    }
    let intake = try UploadIntake(call.request, limits: limits, meter: call.caller.meter)
    var attachment = attachment
    attachment.expected = intake.expected
    do {
      let admitted = try await service.admit(
        attachment, if: Preconditions(call.request.headerFields), of: call.caller)
      let publication = try await service.attach(expecting: intake.leastLength, of: call.caller) { upload in
        try await intake.receive(admitted, into: upload)
      }
      return try Self.answer(publication, call)
    } catch let error as UploadError {
      throw UploadFailure(error)
    }
  }

  /// The answer to a request that attached a snapshot.
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
