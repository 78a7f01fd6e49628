import Dispatch
import HTTPEngine
import HTTPTypes
import SnapshotFormat
import Synchronization
import SystemIO

extension SnapshotHandler {
  /// What says how the server fares and what it answers: `api`, and these.
  static func operations(
    describing api: [APIRoute], _ service: SnapshotService, _ access: AccessControl,
    _ observation: Observation
  ) -> [APIRoute] {
    let calls = api.map { "  \($0.method.rawValue) \($0.template)\n" }.joined()
    let about = Array("A server that keeps snapshots of apps' data. It answers:\n\n\(calls)".utf8)
    var operations = [
      APIRoute(.get, "/", .open) { call in
        try Representation(.bytes(about), contentType: "text/plain; charset=utf-8")
          .response(to: call.request)
      },
      APIRoute(.get, "/healthz", .open) { _ in
        HTTPServerResponse(
          status: .ok, headerFields: [.contentType: "application/json", .cacheControl: "no-store"],
          body: .bytes(Array(#"{"status":"ok"}"#.utf8)))
      },
      APIRoute(.get, "/readyz", .open) { _ in
        try await IndexingAnswer.readiness(of: service).readiness()
      },
    ]
    if let metrics = observation.metricsText {
      operations.append(
        APIRoute(.get, "/metrics", .admin) { call in
          try call.caller.requireUnlimited()
          return HTTPServerResponse(
            status: .ok, headerFields: [.contentType: metrics.contentType, .cacheControl: "no-store"],
            body: .bytes(Array(await metrics.text().utf8)))
        })
    }
    let description = DescriptionDocument(api + operations)
    operations.append(
      APIRoute(.get, DescriptionDocument.path, .open) { call in
        try await description.representation(access).response(to: call.request)
      })
    return operations
  }
}

/// The description of the API as it is sent: made when it is first asked for.
private final class DescriptionDocument: Sendable {
  static let path = "/openapi.json"

  private let routes: [APIRoute]
  /// By whether the store is open.
  private let made = Mutex<[Bool: Representation]>([:])
  private let queue = DispatchQueue(label: "snapshot-server.description")

  /// The description of `routes`, and of itself.
  init(_ routes: [APIRoute]) {
    let itself = APIRoute(.get, Self.path, .open) { _ in throw HTTPProblem.noSuchPath() }
    self.routes = routes + [itself]
  }

  /// The description as it holds for the callers of `access` now.
  func representation(_ access: AccessControl) async throws -> Representation {
    let isOpen: Bool
    // Where nobody can say, nobody gets in without a token.
    do { isOpen = try await access.isOpen() } catch { isOpen = false }
    if let made = made.withLock({ $0[isOpen] }) { return made }
    return try await queue.perform { () throws(any Error) in
      let document = APIDescription(self.routes, isOpen: isOpen).document
      let representation = try JSONBody(document).representation
      self.made.withLock { $0[isOpen] = representation }
      return representation
    }
  }
}
