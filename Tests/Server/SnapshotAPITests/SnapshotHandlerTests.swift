import HTTPEngine
import HTTPTypes
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import StoreTesting
import Testing

@Suite struct SnapshotHandlerTests {
  private let api = TestAPI()

  /// Returns a path that matches `template`, with a value for each parameter.
  private func path(_ template: String) -> String {
    template.replacing("{report}", with: "BUG-1").replacing("{id}", with: "\(SnapshotID())")
  }

  @Test func `the server describes itself`() async throws {
    let answer = try await api.send(.get, "/")
    #expect(answer.status == 200)
    #expect(answer.fields[.contentType] == "text/plain; charset=utf-8")
    #expect(answer.fields[.xContentTypeOptions] == "nosniff")
    for route in api.calls where route.template.hasPrefix("/v1") {
      #expect(answer.text.contains("\(route.method.rawValue) \(route.template)\n"))
    }
    for path in ["/openapi.json", "/docs"] {
      #expect(answer.text.contains("at \(path)"))
      #expect(try await api.send(.get, path).status == 200)
    }
  }

  @Test(arguments: [HTTPRequest.Method.get, .head]) func `the server reports that it is running`(
    method: HTTPRequest.Method
  ) async throws {
    let answer = try await api.send(method, "/healthz")
    #expect(answer.status == 200)
    #expect(answer.text == #"{"status":"ok"}"#)
    #expect(answer.fields[.cacheControl] == "no-store")
  }

  @Test func `every route exists and allows no other method`() async throws {
    #expect(api.calls.count > 17)
    for route in api.calls {
      let path = path(route.template)
      let options = try await api.send(.options, path)
      #expect(options.status == 204)
      let allow = try #require(options.fields[.allow])
      #expect(allow.split(separator: ", ").contains { $0 == route.method.rawValue })
      let refused = try await api.send(.trace, path)
      #expect(refused.status == 405)
      #expect(refused.fields[.allow] == allow)
    }
  }

  @Test func `every response forbids sniffing`() async throws {
    for route in api.calls {
      for method in [route.method, .options, .trace] {
        let answer = try await api.send(method, path(route.template))
        #expect(answer.fields[.xContentTypeOptions] == "nosniff", "\(method) \(route.template)")
      }
    }
    #expect(try await api.send(.get, "/nothing").fields[.xContentTypeOptions] == "nosniff")
  }

  @Test func `every problem has a stable type and a title`() async throws {
    for path in ["/nothing", "/v1/snapshots/x", "/v1/snapshots/\(SnapshotID())", "/v1/snapshots/%"] {
      let problem = try #require(try await api.send(.get, path).problem)
      #expect(problem.type.hasPrefix("urn:data-snapshots:problem:"))
      #expect(!problem.title.isEmpty && !problem.detail.isEmpty)
    }
  }

  @Test(arguments: ["/v1", "/v2/snapshots/x", "/v1/uploads/x/y", "/favicon.ico"])
  func `an unknown path is a 404`(path: String) async throws {
    let answer = try await api.send(.get, path)
    #expect(answer.status == 404)
    #expect(answer.kind == "no-such-path")
  }

  @Test func `an unknown method is a 501`() async throws {
    let method = try #require(HTTPRequest.Method("BREW"))
    #expect(try await api.send(method, "/healthz").status == 501)
  }

  @Test func `client errors are not logged as server errors`() async throws {
    try await api.send(.get, "/nothing")
    try await api.send(.get, "/v1/snapshots/\(SnapshotID())")
    try await api.upload([1, 2, 3])
    #expect(api.log.lines.isEmpty)
  }
}
