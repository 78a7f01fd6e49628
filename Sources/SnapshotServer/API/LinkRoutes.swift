import Foundation
import HTTPEngine
import HTTPTypes
import SnapshotFormat
import SnapshotStore

/// The route that gives out links to bundles.
struct LinkRoutes: Sendable {
  /// How many seconds a link lasts that nobody gave a time.
  static let defaultLifetime = 3600
  let service: SnapshotService
  let access: AccessControl

  /// All of them.
  var routes: [APIRoute] { [APIRoute(.post, "/v1/snapshots/{id}/links", .read, make)] }

  /// Makes a link to a bundle that the caller may read.
  private func make(_ call: APIRequest) async throws -> HTTPServerResponse {
    let id = try call.value(of: .id)
    let lifetime = try lifetime(call.query())
    _ = try await call.caller.lookUp { () throws(StoreError) in
      try await service.record(id)
    } visible: {
      call.caller.mayRead($0)
    }
    // A link ends with a whole second, never before its time.
    let end = (access.clock.now().timeIntervalSince1970 + Double(lifetime)).rounded(.up)
    let expiresAt = Date(timeIntervalSince1970: end)
    let target = access.links.target(id, until: expiresAt)
    var response = try JSONBody(LinkAnswer(link: target, expiresAt: expiresAt))
      .response(.created, [.location: target])
    response.headerFields[.cacheControl] = "no-store"
    return response
  }

  private func lifetime(_ query: QueryParameters) throws(HTTPProblem) -> Int {
    guard let text = try query.value("seconds") else { return Self.defaultLifetime }
    guard let seconds = Int(text), LinkSigner.lifetimes.contains(seconds) else {
      throw .badRequest(
        "‘seconds’ is a number from \(LinkSigner.lifetimes.lowerBound) to \(LinkSigner.lifetimes.upperBound)."
      )
    }
    return seconds
  }
}

/// A link: its path and query on this server, and when it ends.
struct LinkAnswer: Encodable {
  let link: String
  let expiresAt: Date
}
