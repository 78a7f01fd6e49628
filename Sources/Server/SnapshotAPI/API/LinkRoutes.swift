package import AccessControl
package import Foundation
package import HTTPEngine
import HTTPTypes
import Observability
package import SnapshotFormat
import SnapshotStore

/// The route that gives out links to bundles.
package struct LinkRoutes: Sendable {
  /// How many seconds a link lasts that nobody gave a time.
  static let defaultLifetime = 3600
  let service: SnapshotService
  let access: AccessPolicy

  /// Gives out links to what `service` has, signed by `access`.
  package init(service: SnapshotService, access: AccessPolicy) {
    self.service = service
    self.access = access
  }

  /// All of them.
  package var endpoints: [Endpoint] {
    [
      Endpoint(
        "createLink", .post, "/v1/snapshots/{id}/links", .read,
        "Makes a link to a snapshot's bundle that needs no token.",
        detail: "Whoever has the link may download just this bundle until it ends.",
        parameters: [
          .id,
          .query(
            "seconds", "How long it lasts.",
            [
              "type": "integer", "minimum": .integer(Int64(LinkSigner.lifetimes.lowerBound)),
              "maximum": .integer(Int64(LinkSigner.lifetimes.upperBound)),
              "default": .integer(Int64(LinkRoutes.defaultLifetime)),
            ]),
        ],
        responses: [
          .json(201, "The link.", .schema("Link"), fields: ["Location"])
        ],
        problems: [.malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted, .snapshotDamaged], handler: make)
    ]
  }

  /// Makes a link to a bundle that the caller may read.
  private func make(_ call: APIRequest) async throws -> HTTPServerResponse {
    let id = try call.value(of: .id)
    let link = try link(to: id, seconds: call.query().value("seconds"))
    let record = try await call.caller.lookUp { () throws(StoreError) in
      try await service.record(id)
    } visible: {
      call.caller.mayRead($0)
    }
    // A link that could only be answered as damaged is not given out.
    guard record.verified != .damaged else { throw StoreError.damaged }
    var response = try JSONBody(link).response(.created, [.location: link.link])
    response.headerFields[.cacheControl] = "no-store"
    return response
  }

  /// A link to the bundle of `id` that lasts for the time that `seconds` says, or the usual time.
  package func link(to id: SnapshotID, seconds: String?) throws(HTTPProblem) -> LinkAnswer {
    let lifetime = try lifetime(seconds)
    // A link ends with a whole second, never before its time.
    let end = (access.clock.now().timeIntervalSince1970 + Double(lifetime)).rounded(.up)
    let expiresAt = Date(timeIntervalSince1970: end)
    return LinkAnswer(link: access.links.target(id, until: expiresAt), expiresAt: expiresAt)
  }

  private func lifetime(_ text: String?) throws(HTTPProblem) -> Int {
    guard let text else { return Self.defaultLifetime }
    guard let seconds = Int(text), LinkSigner.lifetimes.contains(seconds) else {
      throw .badRequest(
        "‘seconds’ is a number from \(LinkSigner.lifetimes.lowerBound) to \(LinkSigner.lifetimes.upperBound)."
      )
    }
    return seconds
  }
}

/// A link: its path and query on this server, and when it ends.
package struct LinkAnswer: Encodable {
  package let link: String
  package let expiresAt: Date
}
