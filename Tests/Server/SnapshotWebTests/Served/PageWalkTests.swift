import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import Testing

/// Requests every page with every kind of token.
@Suite struct PageWalkTests {
  private let guarded: GuardedAPI
  private let bundle: ZippedSample

  init() async throws {
    guarded = try GuardedAPI()
    bundle = try ZippedSample(#"{"secret":"[\"Kaiserschmarrn\"]"}"#)
    try await guarded.attach(bundle, guarded.token(.admin).fields)
  }

  private func path(_ template: String, _ id: SnapshotID) -> String {
    (template.contains("/decoded/") ? template + "?decode=/secret" : template)
      .replacing("{report}", with: "BUG-1").replacing("{id}", with: "\(id)")
      .replacing("{path...}", with: bundle.manifest.recordings[0].path)
      .replacing("{article}", with: "settings").replacing("{upload}", with: "x")
  }

  private func answer(
    _ page: Endpoint, _ browser: PageBrowser, _ id: SnapshotID, _ more: HTTPFields = [:]
  ) async throws -> TestAPI.Answer {
    let path = path(page.template, id)
    return page.method == .get
      ? try await browser.get(path, more) : try await browser.post(path, [:], more, method: page.method)
  }

  @Test func `only signing in and out, links to attach, and the documentation, are open`() {
    let pages = guarded.api.pages
    #expect(pages.count >= 13)
    let open = pages.filter { $0.permission == .open }.map(\.template)
    #expect(Set(open) == ["/attach", "/sign-in", "/sign-out", "/docs", "/docs/reference", "/docs/{article}"])
  }

  @Test(arguments: ["none", "bearer", "unknown session", "revoked", "another server's"])
  func `no page is visible without a session`(kind: String) async throws {
    let browser = PageBrowser(guarded.api)
    var fields: HTTPFields = [:]
    switch kind {
    case "bearer": fields = try guarded.token(.admin).fields
    case "unknown session":
      browser.cookies = ["snapshot-session-8080": String(repeating: "A", count: 43)]
    case "revoked":
      let token = try guarded.token(.admin)
      try await browser.signIn(token.fields)
      try guarded.tokens.revoke(token.id)
    case "another server's":
      let other = try GuardedAPI()
      let elsewhere = PageBrowser(other.api)
      try await elsewhere.signIn(other.token(.admin).fields)
      browser.cookies = elsewhere.cookies
    default: break
    }
    for page in guarded.api.pages where page.permission != .open {
      for id in [bundle.id, SnapshotID()] {
        let answer = try await answer(page, browser, id, fields)
        let name = "\(page.method) \(page.template)"
        #expect(answer.status == 401, "\(name)")
        #expect(answer.fields[.wwwAuthenticate]?.hasPrefix("Bearer realm=") == true)
        #expect(answer.text.contains("/sign-in"), "\(name)")
        #expect(!answer.text.contains("Kaiserschmarrn"), "\(name)")
        #expect(!answer.text.contains("com.example.news"), "\(name)")
      }
    }
    #expect(try await guarded.api.store.record(bundle.id).id == bundle.id)
  }

  @Test func `a reader can see every page, and change nothing`() async throws {
    let browser = PageBrowser(guarded.api)
    try await browser.signIn(guarded.token(.read).fields)
    // Whoever opens a link to attach needs it, and nothing else.
    for page in guarded.api.pages where page.template != "/attach" {
      let answer = try await answer(page, browser, bundle.id)
      let name = "\(page.method) \(page.template)"
      let isForbidden = [.attach, .comment, .delete, .admin].contains(page.permission)
      if isForbidden || page.method != .get {
        #expect(answer.status == 403, "\(name)")
      } else {
        #expect([200, 303].contains(answer.status), "\(name)")
      }
    }
    #expect(try await guarded.api.store.record(bundle.id).id == bundle.id)
  }

  @Test func `every page has the header fields that protect it`() async throws {
    let browser = PageBrowser(guarded.api)
    let names = ["Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy", "X-Content-Type-Options"]
      .compactMap { HTTPField.Name($0) }
    func check(_ answer: TestAPI.Answer, _ name: String) throws {
      let policy = try #require(answer.fields[.contentSecurityPolicy], "\(name)")
      #expect(policy.hasPrefix("default-src 'none'"), "\(name)")
      #expect(!policy.contains("unsafe"), "\(name)")
      #expect(answer.fields[.cacheControl] == "no-store", "\(name)")
      #expect(answer.fields[.referrerPolicy] == "same-origin", "\(name)")
      for field in names { #expect(answer.fields[field] != nil, "\(name) \(field)") }
    }
    for id in [bundle.id, SnapshotID()] {
      for page in guarded.api.pages { try check(try await answer(page, browser, id), page.template) }
    }
    try await browser.signIn(guarded.token(.admin).fields)
    for id in [bundle.id, SnapshotID()] {
      for page in guarded.api.pages where page.method == .get {
        try check(try await answer(page, browser, id), page.template)
      }
    }
    for path in ["/nothing", "/snapshots/x", "/reports/%20", "/snapshots/\(bundle.id)/files/../x", "/%"] {
      let answer = try await browser.get(path)
      #expect((400...404).contains(answer.status), "\(path)")
      #expect(answer.fields[.contentType] == "text/html; charset=utf-8")
      try check(answer, path)
    }
  }

  @Test func `the limits of a token apply to every page`() async throws {
    let limits = [CallerLimits(reportPrefixes: ["WEB-"]), CallerLimits(applications: ["com.example.shop"])]
    for limit in limits {
      let browser = PageBrowser(guarded.api)
      try await browser.signIn(guarded.token(.admin, limits: limit).fields)
      let own = try ZippedSample { $0.application.identifier = "com.example.shop" }
      try await guarded.attach(own, report: "WEB-1", guarded.token(.admin).fields)
      for page in guarded.api.pages
      where page.template.hasPrefix("/snapshots/{id}") && page.method == .get {
        let never = SnapshotID()
        let answer = try await answer(page, browser, bundle.id)
        let absent = try await self.answer(page, browser, never)
        #expect(answer.status == 404, "\(page.template)")
        #expect(answer.text.replacing("\(bundle.id)", with: "\(never)") == absent.text, "\(page.template)")
        #expect(answer.fields == absent.fields)
      }
      let home = try await browser.get("/")
      #expect(home.text.contains("\(own.id)"))
      #expect(!home.text.contains("\(bundle.id)"))
      // Neither side of a comparison.
      let compared = try await browser.get("/snapshots/\(own.id)/diff?with=\(bundle.id)")
      #expect(compared.status == 404)
      #expect(!compared.text.contains("com.example.news"))
      let choice = try await browser.get("/snapshots/\(own.id)/diff")
      #expect(choice.status == 200)
      #expect(!choice.text.contains("\(bundle.id)"))
      // Nor the counts in the chart.
      #expect(try await browser.get("/reports/BUG-1").text.contains("\(bundle.id)") == false)
      try await guarded.api.send(.delete, "/v1/snapshots/\(own.id)", guarded.token(.admin).fields)
    }
  }
}
