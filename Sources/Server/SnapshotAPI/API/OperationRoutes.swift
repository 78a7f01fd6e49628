package import AccessControl
import HTTPEngine
import HTTPTypes
package import Observability
import SnapshotFormat
package import SnapshotService
import SnapshotStore
import SystemIO

/// The endpoints about the server itself.
package struct OperationRoutes: Sendable {
  let service: SnapshotService
  let access: AccessPolicy
  let observation: Observation
  /// Why nothing is deleted automatically; `nil` if it is.
  let deletionsHeld: @Sendable () -> String?
  /// The calls that `/` lists.
  let listed: [Endpoint]
  /// The path of the documentation for people.
  let documentation: String

  /// Creates endpoints for the server of `service`. `/` lists the calls in `listed`, and refers to `documentation`.
  package init(
    service: SnapshotService, access: AccessPolicy, observation: Observation,
    deletionsHeld: @escaping @Sendable () -> String? = { nil }, listed: [Endpoint],
    documentation: String
  ) {
    self.service = service
    self.access = access
    self.observation = observation
    self.deletionsHeld = deletionsHeld
    self.listed = listed
    self.documentation = documentation
  }

  /// All endpoints. The OpenAPI document describes these and those in `listed`.
  package var endpoints: [Endpoint] {
    let endpoints = [about, health, readiness] + (metrics.map { [$0] } ?? [])
    return endpoints + [Self.description(of: listed + endpoints, access)]
  }

  private var about: Endpoint {
    let calls = listed.map { "  \($0.name)\n" }.joined()
    @Sendable func about(_ basePath: String) -> [UInt8] {
      Array(
        """
        A server that stores snapshots of apps' data. Its calls:

        \(calls)
        Their description is at \(basePath)/openapi.json, and for people, with all other documentation, at \
        \(basePath)\(documentation).

        """.utf8)
    }
    return Endpoint(
      unaudited: "readAbout", "/", "Describes the server and lists its calls.",
      detail: "Clients that accept `text/html` get a web page instead. Pages are not part of the API.",
      parameters: [.ifMatch, .ifNoneMatch, .range],
      responses: [.text("A plain text.", fields: ["Accept-Ranges"]), .notModified] + [Self.ranges],
      problems: [.preconditionFailed, .rangeNotSatisfiable], fields: ["Vary"]
    ) { call in
      try Representation(.bytes(about(call.request.basePath)), contentType: "text/plain; charset=utf-8")
        .response(to: call.request)
    }
  }

  private var health: Endpoint {
    Endpoint(
      unaudited: "readHealth", "/healthz", "Returns 200 if the server is running.",
      responses: [
        .json(
          200, "The server is running.",
          ["type": "object", "required": ["status"], "properties": ["status": ["const": "ok"]]])
      ]
    ) { _ in
      HTTPServerResponse(
        status: .ok, headerFields: [.contentType: "application/json", .cacheControl: "no-store"],
        body: .bytes(Array(#"{"status":"ok"}"#.utf8)))
    }
  }

  private var readiness: Endpoint {
    Endpoint(
      unaudited: "readReadiness", "/readyz", "Returns whether the server accepts uploads and answers lists.",
      responses: [
        .json(200, "The server is ready.", .schema("Readiness")),
        .json(503, "The server is not ready. Has the reason.", .schema("Readiness"), fields: ["Retry-After"]),
      ]
    ) { _ in
      var answer = await IndexingAnswer.readiness(of: service)
      answer.deletionsHeld = deletionsHeld()
      return try answer.readiness()
    }
  }

  private var metrics: Endpoint? {
    guard let metrics = observation.metricsText else { return nil }
    return Endpoint(
      .readMetrics, .get, "/metrics", .admin, "Returns the server's metrics.",
      detail: "In Prometheus' text format.",
      audited: .refusals, responses: [.text("The metrics.", fields: ["Cache-Control"])],
      problems: [.callerLimited]
    ) { call in
      try call.caller.requireUnlimited()
      return HTTPServerResponse(
        status: .ok, headerFields: [.contentType: metrics.contentType, .cacheControl: "no-store"],
        body: .bytes(Array(await metrics.text().utf8)))
    }
  }

  private static func description(of endpoints: [Endpoint], _ access: AccessPolicy) -> Endpoint {
    func endpoint(_ handler: @escaping Endpoint.CallHandler) -> Endpoint {
      Endpoint(
        unaudited: "readDescription", "/openapi.json", "Describes the API: this document.",
        parameters: [.ifMatch, .ifNoneMatch],
        responses: [
          .json(200, "The description.", ["type": "object"], fields: ["ETag"]), .notModified,
        ],
        problems: [.preconditionFailed], handler: handler)
    }
    // The document includes this call.
    let document = DescriptionDocument(endpoints + [endpoint { _ in throw HTTPProblem.noSuchPath() }])
    return endpoint { call in
      try await document.representation(for: call.request, access).response(to: call.request)
    }
  }

  private static let ranges = Endpoint.Response(
    status: 206, text: "The requested ranges.", fields: ["Accept-Ranges", "Content-Range"],
    content: ["text/plain": [:], "multipart/byteranges": [:]])
}

/// The OpenAPI document, which is encoded when it is first requested.
private final class DescriptionDocument: Sendable {
  /// What a document depends on.
  private struct Variant: Hashable {
    /// Whether the store is open.
    let isOpen: Bool
    /// The server's URL or path for clients.
    let server: String
  }

  /// The maximum number of encoded documents: a server usually has one or two.
  private static let maximumCount = 8

  private let endpoints: [Endpoint]
  private let made = Lock<[Variant: Representation]>([:])
  private let queue = ServerQueues.shared.pages.next

  init(_ endpoints: [Endpoint]) { self.endpoints = endpoints }

  /// Returns the document that applies to the callers of `access` now, for the client of `request`.
  func representation(
    for request: HTTPServerRequest, _ access: AccessPolicy
  ) async throws -> Representation {
    let isOpen: Bool
    // If this can't be determined, calls need a token.
    do { isOpen = try await access.isOpen() } catch { isOpen = false }
    let variant = Variant(isOpen: isOpen, server: request.publicURL ?? request.basePath)
    if let made = made.withLock({ $0[variant] }) { return made }
    return try await queue.perform { () throws(any Error) in
      let document = APIDescription(self.endpoints, isOpen: isOpen, server: variant.server).document
      let representation = try JSONBody(document).representation
      self.made.withLock {
        if $0.count >= Self.maximumCount { $0 = [:] }
        $0[variant] = representation
      }
      return representation
    }
  }
}
