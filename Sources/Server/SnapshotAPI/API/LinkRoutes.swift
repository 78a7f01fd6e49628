package import AccessControl
package import Foundation
package import HTTPEngine
import HTTPTypes
import Observability
package import SnapshotFormat
package import SnapshotService
import SnapshotStore

/// The endpoint that creates links to bundles.
package struct LinkRoutes: Sendable {
  /// The lifetime of a link in seconds, if the request does not specify it.
  static let defaultLifetime = 3600
  let service: SnapshotService
  let access: AccessPolicy

  /// Creates links to the bundles of `service`, signed by `access`.
  package init(service: SnapshotService, access: AccessPolicy) {
    self.service = service
    self.access = access
  }

  /// All endpoints.
  package var endpoints: [Endpoint] {
    [
      Endpoint(
        .createLink, .post, "/v1/snapshots/{id}/links", .read,
        "Creates a link to a snapshot's bundle that needs no token.",
        detail: "The link allows downloading this bundle, and nothing else, until it expires.",
        parameters: [
          .id,
          .query(
            "seconds", "The lifetime of the link.",
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

  /// Creates a link to a bundle that the caller may read.
  private func make(_ call: APIRequest) async throws -> HTTPServerResponse {
    let id = try call.value(of: .id)
    let link = try access.link(to: id, seconds: call.query().value("seconds"))
    let record = try await call.caller.lookUp { () throws(StoreError) in
      try await service.record(id)
    } visible: {
      call.caller.mayRead($0)
    }
    // The response to a link to a damaged bundle would be an error, so none is created.
    guard record.verified != .damaged else { throw StoreError.damaged }
    let seen = LinkAnswer(
      link: call.request.basePath + link.link, url: call.request.publicURL.map { $0 + link.link },
      expiresAt: link.expiresAt)
    var response = try JSONBody(seen).response(.created, [.location: link.link])
    response.headerFields[.cacheControl] = "no-store"
    return response
  }
}

extension AccessPolicy {
  /// Returns a link to the bundle of `id`. It expires after `seconds`, or after the default lifetime if this is `nil`.
  package func link(to id: SnapshotID, seconds: String?) throws(HTTPProblem) -> LinkAnswer {
    let lifetime = try lifetime(seconds)
    // Rounded up to a whole second, so that a link never expires early.
    let end = (clock.now().timeIntervalSince1970 + Double(lifetime)).rounded(.up)
    let expiresAt = Date(timeIntervalSince1970: end)
    return LinkAnswer(link: links.target(id, until: expiresAt), url: nil, expiresAt: expiresAt)
  }

  private func lifetime(_ text: String?) throws(HTTPProblem) -> Int {
    guard let text else { return LinkRoutes.defaultLifetime }
    guard let seconds = Int(text), LinkSigner.lifetimes.contains(seconds) else {
      throw .badRequest(
        "‘seconds’ must be a number from \(LinkSigner.lifetimes.lowerBound) to \(LinkSigner.lifetimes.upperBound)."
      )
    }
    return seconds
  }
}

/// A link: its path and query on this server, its URL if the server knows its own, and its expiry date.
package struct LinkAnswer: Encodable {
  package let link: String
  package let url: String?
  package let expiresAt: Date
}
