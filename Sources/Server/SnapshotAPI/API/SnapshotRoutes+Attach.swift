import AccessControl
package import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotFormat
package import SnapshotStore

extension SnapshotRoutes {
  /// Attaches a bundle under the manifest's UUID, or under a new one if that is taken.
  func post(_ call: APIRequest) async throws -> HTTPServerResponse {
    try await attach(Attachment(report: try call.value(of: .report)), call)
  }

  /// Attaches a bundle under the UUID in the path, which may differ from the one in the manifest: the same bundle can
  /// be attached several times under different UUIDs.
  func put(_ call: APIRequest) async throws -> HTTPServerResponse {
    try await attach(Attachment(report: try call.value(of: .report), id: try call.value(of: .id)), call)
  }

  private func attach(_ attachment: Attachment, _ call: APIRequest) async throws -> HTTPServerResponse {
    if let response = try await dialect?.attach(attachment, call) { return response }
    let intake = try UploadIntake(call.request, limits: limits, meter: call.caller.meter)
    var attachment = attachment
    attachment.expected = intake.expected
    do {
      let admitted = try await service.admit(
        attachment, if: Preconditions(call.request.headerFields), of: call.caller)
      let publication = try await service.attach(
        admitted, limit: limits.bundleBytes, expecting: intake.leastLength, of: call.caller
      ) { reading in
        try await intake.receive(admitted, by: reading)
      }
      return try Self.answer(publication, call)
    } catch let error as UploadError {
      throw UploadFailure(error)
    }
  }

  /// The response to a request that attached a snapshot.
  package static func answer(_ publication: Publication, _ call: APIRequest) throws -> HTTPServerResponse {
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
