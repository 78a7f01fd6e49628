import HTTPEngine
import HTTPTypes
import Testing

@Suite struct RouterTests {
  private static let report = PathParameter("report") { $0 }
  private static let id = PathParameter("id") { $0 }
  private static let number = PathParameter("number") { text in
    guard let number = Int(text) else { throw HTTPProblem.badRequest("no number") }
    return number
  }

  private let router: Router = Router([
    Route(.get, "/") { _ in Self.answer("root") },
    Route(.get, "/v1/reports/{report}/snapshots") { Self.answer("list \(try $0.value(of: Self.report))") },
    Route(.post, "/v1/reports/{report}/snapshots") { Self.answer("attach \(try $0.value(of: Self.report))") },
    Route(.put, "/v1/reports/{report}/snapshots/{id}") {
      Self.answer("put \(try $0.value(of: Self.report)) \(try $0.value(of: Self.id))")
    },
    Route(.get, "/v1/snapshots/{id}.zip") { Self.answer("zip \(try $0.value(of: Self.id))") },
    Route(.get, "/v1/snapshots/{id}") { Self.answer("record \(try $0.value(of: Self.id))") },
    Route(.delete, "/v1/snapshots/{id}") { Self.answer("delete \(try $0.value(of: Self.id))") },
    Route(.get, "/v1/snapshots/latest") { _ in Self.answer("latest") },
    Route(.get, "/numbers/{number}") { Self.answer("\(try $0.value(of: Self.number) + 1)") },
    Route(.get, "/files/{path...}") { Self.answer($0.remainder.joined(separator: "|")) },
    Route(.get, "/files/{id}/info") { Self.answer("info \(try $0.value(of: Self.id))") },
    Route(.get, "/missing") { Self.answer(try $0.value(of: Self.id)) },
  ])

  private static func answer(_ text: String) -> HTTPServerResponse {
    HTTPServerResponse(status: .ok, body: .bytes(Array(text.utf8)))
  }

  private func answer(_ method: HTTPRequest.Method, _ path: String) async throws -> String? {
    Self.text(of: try await router.respond(to: HTTPServerRequest(method: method, path: path)))
  }

  private static func text(of response: HTTPServerResponse) -> String? {
    guard case .bytes(let bytes) = response.body else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func problem(_ method: HTTPRequest.Method, _ path: String) async throws -> HTTPProblem? {
    do {
      _ = try await router.respond(to: HTTPServerRequest(method: method, path: path))
      return nil
    } catch let problem as HTTPProblem {
      return problem
    }
  }

  @Test(
    arguments: [
      ("/v1/reports/a/snapshots", "/v1/reports/{report}/snapshots"),
      ("/v1/snapshots/%61.zip", "/v1/snapshots/{id}.zip"),
      ("/v1/snapshots/latest", "/v1/snapshots/latest"), ("/nothing", nil), ("/v1/snapshots/%", nil),
      ("/..", nil),
    ] as [(String, String?)]) func `a path has a template for any method`(
      path: String, template: String?
    )
  {
    #expect(router.template(of: path) == template)
  }

  @Test(arguments: [
    ("/", "root"),
    ("/v1/reports/BUG-1/snapshots", "list BUG-1"),
    ("/v1/reports/proj%2Fissue%2F9/snapshots", "list proj/issue/9"),
    ("/v1/reports/100%2525/snapshots", "list 100%25"),
    ("/v1/reports/a+b/snapshots", "list a+b"),
    ("/v1/reports/%C3%BC/snapshots", "list ü"),
    ("/v1/snapshots/x.zip", "zip x"),
    ("/v1/snapshots/x.zip.zip", "zip x.zip"),
    ("/v1/snapshots/x%2Ezip", "zip x"),
    ("/v1/snapshots/.zip", "record .zip"),
    ("/v1/snapshots/x.zi", "record x.zi"),
    ("/v1/snapshots/latest", "latest"), ("/v1/snapshots/late%73t", "latest"),
    ("/v1/%73napshots/x", "record x"),
    ("/numbers/41", "42"), ("/files/a", "a"), ("/files/a/b/c", "a|b|c"), ("/files/a%2Fb/c%20d", "a/b|c d"),
    ("/files/", ""), ("/files//a/", "|a|"), ("/files/a/info", "info a"), ("/files/a/info/b", "a|info|b"),
  ])
  func `a path is routed to the best match and decoded once`(path: String, expected: String) async throws {
    #expect(try await answer(.get, path) == expected)
    #expect(try await answer(.head, path) == expected)
  }

  @Test func `literal text takes precedence over a parameter for all methods`() async throws {
    let router = Router([
      Route(.get, "/a/b") { _ in Self.answer("b") },
      Route(.get, "/a/{id}") { Self.answer("id \(try $0.value(of: Self.id))") },
      Route(.delete, "/a/{id}") { _ in Self.answer("gone") },
    ])
    for (path, expected) in [("/a/b", "b"), ("/a/%62", "b"), ("/a/c", "id c")] {
      let response = try await router.respond(to: HTTPServerRequest(method: .get, path: path))
      guard case .bytes(let bytes) = response.body else {
        Issue.record("\(path) has no body")
        continue
      }
      #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }
    await #expect(throws: HTTPProblem.self) {
      try await router.respond(to: HTTPServerRequest(method: .delete, path: "/a/b"))
    }
  }

  @Test func `routes of one template differ by method`() async throws {
    #expect(try await answer(.post, "/v1/reports/a/snapshots") == "attach a")
    #expect(try await answer(.put, "/v1/reports/a/snapshots/b") == "put a b")
    #expect(try await answer(.delete, "/v1/snapshots/b") == "delete b")
  }

  @Test(arguments: [
    "/nothing", "//", "/v1", "/v1/", "/v1/snapshots/", "/v1//snapshots", "/v1/snapshots/x/",
    "/V1/snapshots/x", "/files",
    "/v1/reports//snapshots", "/v1/reports/a/b/snapshots",
  ])
  func `a path without a route is a 404`(path: String) async throws {
    let problem = try #require(try await problem(.get, path))
    #expect(problem.status == .notFound)
    #expect(problem.type == "urn:data-snapshots:problem:no-such-path")
  }

  @Test(arguments: [
    "/v1/snapshots/%", "/v1/snapshots/%4", "/v1/snapshots/%zz", "/v1/snapshots/%+1", "/v1/snapshots/%00",
    "/v1/snapshots/%0a", "/v1/snapshots/%7F", "/v1/snapshots/%ff", "/v1/snapshots/%C3",
    "/v1/snapshots/a\u{1}b",
    "/v1/snapshots/..", "/v1/snapshots/.", "/v1/../v1/snapshots/x", "/v1/%2e%2E/v1", "/./", "/files/a/../b",
    "/files/%2e%2e/b", "/files/a%00", "no-slash",
  ])
  func `a path that can't be decoded safely is a 400`(path: String) async throws {
    #expect(try await problem(.get, path)?.status == .badRequest)
  }

  @Test func `a method that a path does not support is a 405 that lists the others`() async throws {
    let refused = try #require(try await problem(.put, "/v1/snapshots/x"))
    #expect(refused.status == .methodNotAllowed)
    #expect(refused.headerFields[.allow] == "DELETE, GET, HEAD, OPTIONS")
    let zip = try #require(try await problem(.delete, "/v1/snapshots/x.zip"))
    #expect(zip.headerFields[.allow] == "GET, HEAD, OPTIONS")
    let head = try #require(try await problem(.head, "/v1/reports/a/snapshots/b"))
    #expect(head.headerFields[.allow] == "OPTIONS, PUT")
  }

  @Test func `QUERY is a known method and rejected by the path`() async throws {
    let router = Router([Route(.get, "/a") { _ in HTTPServerResponse(status: .ok) }])
    let query = try #require(HTTPRequest.Method("QUERY"))
    let problem = await #expect(throws: HTTPProblem.self) {
      try await router.respond(to: HTTPServerRequest(method: query, path: "/a"))
    }
    #expect(problem?.status == .methodNotAllowed)
    #expect(problem?.headerFields[.allow] == "GET, HEAD, OPTIONS")
  }

  @Test func `an unknown method is a 501`() async throws {
    let method = try #require(HTTPRequest.Method("BREW"))
    #expect(try await problem(method, "/v1/snapshots/x")?.status == .notImplemented)
    #expect(try await problem(method, "/nothing")?.status == .notImplemented)
    let lowerCase = try #require(HTTPRequest.Method("get"))
    #expect(try await problem(lowerCase, "/")?.status == .notImplemented)
  }

  @Test(arguments: [
    ("/", "GET, HEAD, OPTIONS"), ("/v1/reports/a/snapshots", "GET, HEAD, OPTIONS, POST"),
    ("*", "DELETE, GET, HEAD, OPTIONS, POST, PUT"),
  ])
  func `OPTIONS returns the allowed methods`(path: String, allow: String) async throws {
    let response = try await router.respond(to: HTTPServerRequest(method: .options, path: path))
    #expect(response.status == .noContent)
    #expect(response.headerFields[.allow] == allow)
  }

  @Test func `an error of a parameter is sent as the response`() async throws {
    #expect(try await problem(.get, "/numbers/x")?.detail == "no number")
  }

  @Test func `a parameter that the template does not have is not a client's error`() async throws {
    do {
      _ = try await answer(.get, "/missing")
      Issue.record("it has to throw")
    } catch {
      #expect(!(error is HTTPProblem))
    }
  }

  @Test func `all routes are available as a list`() {
    #expect(router.routes.count == 12)
    #expect(
      router.routes.contains { $0.method == .put && $0.template == "/v1/reports/{report}/snapshots/{id}" })
  }

  @Test func `a duplicate route traps`() async {
    await #expect(processExitsWith: .failure) {
      _ = Router([
        Route(.get, "/{a}") { _ in HTTPServerResponse(status: .ok) },
        Route(.get, "/{a}") { _ in HTTPServerResponse(status: .ok) },
      ])
    }
  }
}
