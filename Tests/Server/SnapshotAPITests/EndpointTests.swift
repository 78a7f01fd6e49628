import AccessControl
import Foundation
import HTTPEngine
import HTTPTypes
import Logging
import Observability
import PrometheusMetrics
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import StoreTesting
import TestSupport
import Testing

@Suite struct EndpointTests {
  /// A call that is defined only here, with an action that no other call has.
  private let toy = Endpoint(
    .expireByRule, .put, "/v1/dice/{id}", .read, "Rolls a die.", uploads: .draft, parameters: [.id],
    responses: [.noContent("It is rolled.")], problems: [.malformedSnapshotID]
  ) { call in
    _ = try call.value(of: .id)
    return HTTPServerResponse(status: .noContent)
  }

  @Test func `everything derived from the list of endpoints includes a new one`() async throws {
    let folder = try TemporaryFolder()
    let registry = PrometheusRegistry()
    let audit = try AuditLog(
      .together(folder.file("audit.log").path), logger: .init(label: "test") { _ in CapturedLog() })
    let api = TestAPI(
      observation: Observation(metrics: ServerMetrics(registry), audit: audit), more: [toy])
    let path = "/v1/dice/\(SnapshotID())"
    // The router, and pages of other origins.
    let request = HTTPServerRequest(
      method: .put, path: path, headerFields: [.origin: "https://dice.example"])
    let response = try await api.handler.respond(to: request)
    #expect(response.status == .noContent)
    #expect(response.headerFields[.accessControlAllowOrigin] == "*")
    let asked = try await api.send(
      .options, path, [.origin: "https://dice.example", .accessControlRequestMethod: "PUT"])
    #expect(asked.fields[.accessControlAllowMethods]?.split(separator: ", ").contains("PUT") == true)
    // Allow.
    #expect(asked.fields[.allow] == "OPTIONS, PUT")
    // OpenAPI, and the list of calls.
    let document = try await api.send(.get, "/openapi.json").decode(JSONValue.self)
    #expect(document["paths"]?["/v1/dice/{id}"]?["put"]?["operationId"] == "expireByRule")
    #expect(try await api.send(.get, "/").text.contains("  PUT /v1/dice/{id}\n"))
    #expect(
      Self.row(toy) == "| `PUT` | `/v1/dice/{id}` | `read` | always | Rolls a die. |")
    // The audit log and the metrics.
    let events = try String(contentsOf: folder.file("audit.log"), encoding: .utf8)
    #expect(events.contains(#""action":"expireByRule""#))
    #expect(registry.text().contains(#"{route="PUT /v1/dice/{id}"}"#))
    #expect(request.context?.facts.route?.name == "PUT /v1/dice/{id}")
  }

  @Test func `every action is that of a call, or is named by the documentation of the audit log`() throws {
    var observation = Observation()
    observation.metricsText = (text: { "" }, contentType: "text/plain")
    let actions = Set(TestAPI(observation: observation).calls.compactMap(\.action))
    let article = PackageFolder.url().appending(
      path: "Sources/Server/SnapshotServer/SnapshotServer.docc/Observability.md")
    let row = try String(contentsOf: article, encoding: .utf8).split(separator: "\n")
      .first { $0.hasPrefix("| `action` |") }
    let named = try #require(row).matches(of: /`(\w+)`/).compactMap { AuditAction(rawValue: "\($0.1)") }
    #expect(Set(named) == Set(AuditAction.allCases).subtracting(actions))
  }

  @Test func `the table of calls in the documentation matches the endpoints`() throws {
    var observation = Observation()
    observation.metricsText = (text: { "" }, contentType: "text/plain")
    let article = PackageFolder.url().appending(
      path: "Sources/Server/SnapshotServer/SnapshotServer.docc/Calls.md")
    let rows = try String(contentsOf: article, encoding: .utf8).split(separator: "\n")
      .filter { $0.hasPrefix("| `") }.map(String.init)
    #expect(rows == TestAPI(observation: observation).calls.map(Self.row))
  }

  /// Returns the row of an endpoint in the table of calls.
  private static func row(_ call: Endpoint) -> String {
    let method = call.method == .get ? "`GET`, `HEAD`" : "`\(call.method.rawValue)`"
    return
      "| \(method) | `\(call.template)` | `\(call.permission.rawValue)` | \(call.audited.rawValue) | \(call.documentation?.summary ?? "") |"
  }
}
