import AccessControl
package import HTTPEngine
import HTTPTypes
import Observability
import SnapshotFormat
import SnapshotService
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
    return try Self.answer(try await service.receive(attachment, call, limits: limits), call)
  }

  /// The response to a request that attached a snapshot.
  package static func answer(_ publication: Publication, _ call: APIRequest) throws -> HTTPServerResponse {
    call.concerns(publication.record)
    let body = try JSONBody(
      RecordAnswer(call.caller.view(of: publication.record), below: call.request.basePath))
    return switch publication {
    case .created(let record):
      body.response(.created, [.location: path(of: record.id)])
    case .alreadyThere:
      body.response(.ok)
    }
  }
}
