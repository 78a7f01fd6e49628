import AccessControl
package import HTTPEngine
import HTTPSemantics
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
    return try Self.answer(try await receive(attachment, call), call)
  }

  /// Receives a bundle in a single request, and publishes it.
  /// - Parameter check: checks and changes the metadata that was sent with the bundle, before it is published. If it
  ///   throws, nothing is stored.
  package func receive(
    _ attachment: Attachment, _ call: APIRequest,
    check: @Sendable (inout Attachment) throws -> Void = { _ in }
  ) async throws -> Publication {
    let intake = try UploadIntake(
      call.request, limits: limits, meter: call.caller.meter, converter: service.converter)
    var attachment = attachment
    attachment.expected = intake.expected
    do {
      let admitted = try await service.admit(
        attachment, bytes: intake.leastLength, if: Preconditions(call.request.headerFields), of: call.caller)
      return try await service.attach(
        admitted, limit: limits.bundleBytes, expecting: intake.leastLength, of: call.caller
      ) { reading in
        var received = try await intake.receive(admitted, by: reading)
        try check(&received)
        return received
      }
    } catch let error as UploadError {
      throw UploadFailure(error)
    }
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
