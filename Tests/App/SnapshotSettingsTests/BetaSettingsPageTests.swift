import DataSnapshots
import Foundation
import HTTPEngine
import HTTPTypes
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

@testable import SnapshotSettings

/// Requests to the page without a socket.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct BetaSettingsPageTests {
  let app: SampleApp
  let page: BetaSettingsPage

  init() throws {
    app = try SampleApp(server: try #require(URL(string: "http://127.0.0.1:1")))
    page = BetaSettingsPage(app.settings)
  }

  static let ownPage = PageVisitor.ownPage

  private func send(
    _ method: HTTPRequest.Method = .get, _ path: String, query: String? = nil,
    authority: String = PageVisitor.authority,
    _ fields: HTTPFields = [:], cookie: String? = nil, body: String? = nil,
    type: String = "application/x-www-form-urlencoded"
  ) async throws -> PageVisitor.Answer {
    try await PageVisitor(page).send(
      method, path, query: query, authority: authority, fields, cookie: cookie, body: body, type: type)
  }

  private func enter() async throws -> String { try await PageVisitor(page).enter() }

  private func post(_ path: String, _ body: String, cookie: String) async throws -> PageVisitor.Answer {
    try await PageVisitor(page).post(path, body, cookie: cookie)
  }

  // MARK: - Access

  @Test func `a link opens the page once`() async throws {
    let token = page.makeToken()
    let first = try await send(.get, "/", query: "token=\(token)")
    let cookie = try #require(first.fields[.setCookie])
    #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
    #expect(
      try await send(.get, "/", cookie: String(cookie.prefix { $0 != ";" })).text.contains(
        "<h1>Beta Settings"))
    let second = try await send(.get, "/", query: "token=\(token)")
    #expect(second.status == 403)
    #expect(second.fields[.setCookie] == nil)
    #expect(second.text.contains("Get a new link from the app"))
  }

  @Test func `an invalid link redirects a browser with a session to the page`() async throws {
    let cookie = try await enter()
    let answer = try await send(.get, "/", query: "token=0", cookie: cookie)
    #expect(answer.status == 303)
    #expect(answer.fields[.location] == "/")
  }

  @Test func `a HEAD request does not use up a link`() async throws {
    let token = page.makeToken()
    #expect(try await send(.head, "/", query: "token=\(token)").status == 403)
    #expect(try await send(.get, "/", query: "token=\(token)").status == 200)
  }

  @Test func `links beyond the limit replace the oldest`() async throws {
    let tokens = (0...PageAccess.limit).map { _ in page.makeToken() }
    #expect(try await send(.get, "/", query: "token=\(tokens[0])").status == 403)
    #expect(try await send(.get, "/", query: "token=\(tokens[1])").status == 200)
  }

  @Test func `without a cookie nothing is shown or done`() async throws {
    let wrong = "\(try await enter().prefix { $0 != "=" })=\(String(repeating: "0", count: 64))"
    for cookie in [nil, "", "x=y", wrong] {
      #expect(try await send(.get, "/", cookie: cookie).status == 403)
      let post = try await send(.post, "/state", Self.ownPage, cookie: cookie, body: "state=recording")
      #expect(post.status == 403)
    }
    #expect(app.mode.state == .disabled)
  }

  @Test(
    arguments: [
      [:], ["Origin": "null"], ["Origin": "http://127.0.0.1:4001"], ["Origin": "https://127.0.0.1:4000"],
      ["Origin": "http://evil.example"], ["Origin": "http://127.0.0.1:4000.evil.example"],
      ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"], ["Sec-Fetch-Site": "none"],
      ["Origin": "http://127.0.0.1:4000", "Sec-Fetch-Site": "same-site"],
      ["Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"],
    ] as [[String: String]])
  func `requests of another page are rejected`(fields: [String: String]) async throws {
    let answer = try await send(
      .post, "/state", try Self.fields(fields), cookie: try await enter(), body: "state=recording")
    #expect(answer.status == 403)
    #expect(answer.text.contains("Nothing was changed"))
    #expect(app.mode.state == .disabled)
  }

  @Test(arguments: [
    ["Origin": "http://127.0.0.1:4000"], ["Sec-Fetch-Site": "same-origin"],
    ["Origin": "http://127.0.0.1:4000", "Sec-Fetch-Site": "same-origin"],
  ])
  func `requests of the page itself are accepted`(fields: [String: String]) async throws {
    let answer = try await send(
      .post, "/state", try Self.fields(fields), cookie: try await enter(), body: "state=recording")
    #expect(answer.status == 303)
    #expect(app.mode.state == .recording)
  }

  private static func fields(_ texts: [String: String]) throws -> HTTPFields {
    var fields: HTTPFields = [:]
    for (name, value) in texts { fields[try #require(HTTPField.Name(name))] = value }
    return fields
  }

  @Test(arguments: [
    "evil.example", "evil.example:4000", "127.0.0.1.evil.example", "localhost.evil.example:4000",
    "127.0.0.1:",
    "127.0.0.1:x", "127.0.0.2:4000", "", "[::2]:4000", "127.0.0.1:99999",
  ])
  func `a foreign name that resolves to this machine is rejected`(authority: String) async throws {
    let cookie = try await enter()
    #expect(try await send(.get, "/", authority: authority, cookie: cookie).status == 421)
    #expect(try await send(.get, "/", query: "token=\(page.makeToken())", authority: authority).status == 421)
  }

  @Test(arguments: ["127.0.0.1:4000", "127.0.0.1", "localhost:9999", "LOCALHOST:1", "[::1]:4000"])
  func `the loopback's names are accepted with any forwarded port`(authority: String) async throws {
    #expect(try await send(.get, "/", authority: authority, cookie: try await enter()).status == 200)
  }

  @Test func `every response has a restrictive content security policy`() async throws {
    let cookie = try await enter()
    let answers = [
      try await send(.get, "/"), try await send(.get, "/", cookie: cookie), try await send(.get, "/page.css"),
      try await send(.get, "/none", cookie: cookie), try await post("/state", "state=x", cookie: cookie),
    ]
    #expect(answers.map(\.status) == [403, 200, 200, 404, 303])
    for answer in answers {
      let policy = try #require(answer.fields[.contentSecurityPolicy])
      #expect(policy.contains("default-src 'none'"))
      #expect(!policy.contains("unsafe"))
      #expect(answer.fields[.cacheControl] == "no-store")
      #expect(answer.fields[.xContentTypeOptions] == "nosniff")
    }
    // The page contains nothing that the policy forbids.
    let page = answers[1].text
    for forbidden in [" style=", "<style", " onclick=", "javascript:"] { #expect(!page.contains(forbidden)) }
  }

  // MARK: - Forms

  @Test func `invalid input is shown with the reason`() async throws {
    let cookie = try await enter()
    let answer = try await post("/activate", "snapshot=%22%3E%3Cscript%3E", cookie: cookie)
    #expect(answer.status == 422)
    #expect(answer.text.contains("<title>Error – Beta Settings</title>"))
    #expect(answer.text.contains("value=\"&quot;&gt;&lt;script&gt;\""))
    #expect(answer.text.contains("aria-invalid=\"true\""))
    #expect(answer.text.contains("is neither a UUID nor the address of a snapshot"))
    #expect(!answer.text.contains("<script>"))
  }

  @Test func `a pasted tab or line break is ignored`() async throws {
    let id = SnapshotID()
    let answer = try await post("/activate", "snapshot=%09\(id)%0D%0A", cookie: try await enter())
    #expect(answer.status == 303)
    await app.settings.settle()
    #expect(await app.settings.overview().activity?.title == "Opening snapshot \(id)")
  }

  @Test func `only small forms are accepted`() async throws {
    let cookie = try await enter()
    let json = try await send(
      .post, "/state", Self.ownPage, cookie: cookie, body: "{}", type: "application/json")
    #expect(json.status == 415)
    let full = "state=recording&x=" + String(repeating: "x", count: Int(PageForm.limit) - 18)
    #expect(try await post("/state", full, cookie: cookie).status == 303)
    await #expect(throws: HTTPBodyError.tooLarge(limit: PageForm.limit)) {
      try await post("/state", full + "x", cookie: cookie)
    }
    #expect(try await post("/state", "state=%zz", cookie: cookie).status == 400)
  }

  @Test func `an action is not a page, and other methods are rejected`() async throws {
    let cookie = try await enter()
    #expect(try await send(.get, "/state", cookie: cookie).fields[.location] == "/")
    #expect(try await send(.delete, "/state", cookie: cookie).fields[.allow] == "POST")
    #expect(try await send(.post, "/", Self.ownPage, cookie: cookie, body: "").status == 404)
  }

  @Test func `each button of the queue has its effect on the queue`() async throws {
    let cookie = try await enter()
    let upload = BetaSettings.Upload(
      id: SnapshotID(), report: try ReportID(validating: "BUG-1"), size: 1_234_567, attachedAt: Date(),
      state: .waiting("it will be retried automatically."), canRetry: true)
    app.uploads.list.withLock { $0 = [upload] }
    let text = try await send(.get, "/", cookie: cookie).text
    #expect(text.contains("1.2 MB"))
    #expect(text.contains("Waiting: it will be retried automatically."))
    _ = try await post("/retry", "id=\(upload.id)", cookie: cookie)
    #expect(app.uploads.retried.withLock { $0 } == [upload.id])
    _ = try await post("/remove", "id=\(upload.id)", cookie: cookie)
    #expect(app.uploads.list.withLock { $0.isEmpty })
  }

  // MARK: - Contents

  @Test func `hostile names are harmless`() async throws {
    let name = "<img src=x onerror=alert(1)>\"'&\u{202E}"
    app.mode.register(module: name, files: [name])
    app.settings.state = .recording
    app.show("<b>unassigned</b>", live: "")
    let text = try await send(.get, "/", cookie: try await enter()).text
    #expect(!text.contains("<img"))
    #expect(!text.contains("<b>"))
    #expect(text.contains("<bdi>&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;\u{202E}</bdi>"))
    #expect(text.contains("<bdi>&lt;b&gt;unassigned&lt;/b&gt;</bdi>"))
  }

  @Test func `the page shows missing files and the reasons of waiting uploads`() async throws {
    let cookie = try await enter()
    let before = try await send(.get, "/", cookie: cookie).text
    #expect(before.contains("2 missing"))
    #expect(!before.contains("http-equiv=\"refresh\""))
    app.recordAll()
    let after = try await send(.get, "/", cookie: cookie).text
    #expect(!after.contains("missing</span>"))
    #expect(after.contains("aria-pressed=\"true\">Record</button>"))
    let report = try ReportID(validating: "BUG-1")
    app.uploads.list.withLock { list in
      list = [
        .init(
          id: SnapshotID(), report: report, size: 1, attachedAt: Date(), state: .sending(0.5),
          canRetry: false)
      ]
    }
    let busy = try await send(.get, "/", cookie: cookie).text
    #expect(busy.contains("<noscript><meta http-equiv=\"refresh\" content=\"2; url=/\"></noscript>"))
    #expect(busy.contains("max=\"100\" value=\"50\""))
  }
}
