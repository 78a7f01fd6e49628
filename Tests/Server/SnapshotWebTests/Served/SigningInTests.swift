import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import ServerTesting
import SnapshotFormat
import SnapshotServer
import Testing

/// Signing in to the web pages, staying signed in, and signing out.
@Suite struct SigningInTests: GuardedPages {
  let guardedPage: GuardedPage

  init() async throws { guardedPage = try await GuardedPage() }

  private func secret(_ token: (id: String, fields: HTTPFields)) throws -> String {
    String(try #require(token.fields[.authorization]).dropFirst("Bearer ".count))
  }

  @Test func `after entering a token once, pages are visible`() async throws {
    let refused = try await browser.get(path + "?module=News")
    #expect(refused.status == 401)
    #expect(refused.fields[.contentType] == "text/html; charset=utf-8")
    #expect(refused.fields[.wwwAuthenticate]?.hasPrefix("Bearer") == true)
    #expect(refused.text.contains(#"value="\#(path)?module=News""#))
    #expect(!refused.text.contains("com.example.news"))
    let reader = try guarded.token(.read)
    let answer = try await browser.signIn("\u{FEFF}\" \(try secret(reader)) \"\r\n", next: path)
    #expect(answer.status == 303)
    #expect(answer.fields[.location] == path)
    #expect(answer.fields[.cacheControl] == "no-store")
    let page = try await browser.get(path)
    #expect(page.status == 200)
    #expect(page.text.contains("com.example.news"))
    for cookie in browser.cookiesSet {
      #expect(cookie.contains("; Path=/; HttpOnly; SameSite=Strict"))
      #expect(!cookie.contains(try secret(reader)))
    }
  }

  @Test func `the session's secret is only in the cookie, and new each time`() async throws {
    let reader = try guarded.token(.read)
    try await browser.signIn(reader.fields)
    let first = try #require(browser.cookies["snapshot-session-8080"])
    #expect(first.utf8.count == 43)
    #expect(try await !browser.get("/").text.contains(first))
    let other = PageBrowser(guarded.api)
    other.cookies = ["snapshot-session-8080": String(repeating: "A", count: 43)]
    try await other.signIn(reader.fields)
    let second = try #require(other.cookies["snapshot-session-8080"])
    #expect(second != first)
    #expect(second != String(repeating: "A", count: 43))
  }

  @Test func `beyond loopback, cookies are limited to this host and TLS`() async throws {
    let browser = PageBrowser(guarded.api, authority: "snapshots.example.com", scheme: "https")
    try await browser.signIn(guarded.token(.read).fields)
    #expect(Set(browser.cookies.keys) == ["__Host-snapshot-session", "__Host-snapshot-visitor"])
    #expect(browser.cookiesSet.allSatisfy { $0.hasSuffix("; Path=/; HttpOnly; SameSite=Strict; Secure") })
    #expect(try await browser.get(path).status == 200)
    // A cookie that another host of the domain may have set is ignored.
    let session = try #require(browser.cookies["__Host-snapshot-session"])
    browser.cookies = ["snapshot-session": session]
    #expect(try await browser.get(path).status == 401)
  }

  @Test func `entering a token without TLS beyond loopback is an error with the reason`() async throws {
    let browser = PageBrowser(guarded.api, authority: "snapshots.example.com")
    let token = try await browser.formToken(in: "/sign-in")
    // Browsers drop Secure cookies here.
    browser.cookies = [:]
    let reader = try secret(guarded.token(.read))
    let answer = try await browser.post("/sign-in", ["form-token": token, "token": reader])
    #expect(answer.status == 403)
    #expect(answer.text.contains("TLS"))
    #expect(browser.cookies["__Host-snapshot-session"] == nil)
  }

  @Test(arguments: ["", "x", "snapshot_0123456789ab_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"])
  func `a wrong token shows the form again, and creates no session`(text: String) async throws {
    let answer = try await browser.signIn(text, next: path)
    #expect(answer.status == 401)
    #expect(answer.text.contains(#"value="\#(path)""#))
    #expect(text.isEmpty || !answer.text.contains("\"\(text)\""))
    #expect(browser.cookies["snapshot-session-8080"] == nil)
  }

  @Test func `repeated attempts with wrong tokens are slowed down as in the API`() async throws {
    for _ in 0..<12 { try await browser.signIn("wrong") }
    #expect(guarded.clock.slept.count == 2)
    #expect(try await browser.signIn(secret(guarded.token(.read))).status == 303)
  }

  @Test func `a token that may not read gives access to no page`() async throws {
    for scope in [Scope.attach, .delete] {
      let answer = try await browser.signIn(try secret(guarded.token(scope)))
      #expect(answer.status == 403)
      #expect(browser.cookies["snapshot-session-8080"] == nil)
    }
  }

  @Test func `a token in a URL is refused`() async throws {
    let reader = try secret(guarded.token(.read))
    #expect(try await browser.get("/sign-in?token=\(reader)").status == 400)
    #expect(try await browser.get(path + "?access_token=\(reader)").status == 400)
  }

  @Test func `the session of a revoked or expired token ends immediately`() async throws {
    let revoked = try guarded.token(.read)
    try await browser.signIn(revoked.fields)
    try guarded.tokens.revoke(revoked.id)
    let answer = try await browser.get(path)
    #expect(answer.status == 401)
    #expect(answer.text.contains("ended"))
    let expiring = try guarded.token(.read, expiresAt: guarded.clock.now.addingTimeInterval(60))
    try await browser.signIn(expiring.fields)
    guarded.clock.pass(.seconds(59))
    #expect(try await browser.get(path).status == 200)
    guarded.clock.pass(.seconds(1))
    #expect(try await browser.get(path).status == 401)
  }

  @Test func `a session ends when it is not used, and after a week at the latest`() async throws {
    let reader = try guarded.token(.read)
    let limits = SessionLimits()
    try await browser.signIn(reader.fields)
    guarded.clock.pass(limits.idle - .seconds(1))
    #expect(try await browser.get(path).status == 200)
    guarded.clock.pass(limits.idle)
    #expect(try await browser.get(path).status == 401)
    try await browser.signIn(reader.fields)
    var passed = Duration.zero
    let step = limits.idle / 2
    while passed + step < limits.longest {
      guarded.clock.pass(step)
      passed += step
      #expect(try await browser.get(path).status == 200)
    }
    guarded.clock.pass(limits.longest - passed)
    #expect(try await browser.get(path).status == 401)
  }

  @Test func `signing in again ends the session before`() async throws {
    let reader = try guarded.token(.read)
    try await browser.signIn(reader.fields)
    let former = browser.cookies
    let token = try await browser.formToken(in: "/")
    let answer = try await browser.post("/sign-in", ["form-token": token, "token": try secret(reader)])
    #expect(answer.status == 303)
    #expect(try await browser.get(path).status == 200)
    browser.cookies = former
    #expect(try await browser.get(path).status == 401)
  }

  @Test func `signing out ends the session, and invalidates its cookie`() async throws {
    try await browser.signIn(guarded.token(.read).fields)
    let kept = browser.cookies
    let token = try await browser.formToken(in: "/")
    let answer = try await browser.post("/sign-out", ["form-token": token])
    #expect(answer.status == 200)
    #expect(browser.cookies.isEmpty)
    #expect(try await browser.get(path).status == 401)
    browser.cookies = kept
    #expect(try await browser.get(path).status == 401)
  }

  @Test func `the API does not accept the cookie, and pages do not accept a token in a header field`()
    async throws
  {
    let admin = try guarded.token(.admin)
    try await browser.signIn(admin.fields)
    for target in ["/v1/snapshots", "/v1/snapshots/\(bundle.id)", "/v1/snapshots/\(bundle.id).zip"] {
      #expect(try await browser.get(target).status == 401)
    }
    let stranger = PageBrowser(guarded.api)
    #expect(try await stranger.get(path, admin.fields).status == 401)
    #expect(try await stranger.post(path + "/delete", [:], admin.fields).status == 401)
    #expect(try await guarded.api.store.record(bundle.id).id == bundle.id)
  }

  @Test(arguments: [
    "//example.com", #"/\example.com"#, "https://example.com", "javascript:alert(1)", "", "snapshots", "/ä",
    "/a b", "/" + String(repeating: "a", count: 2000),
  ])
  func `signing in only redirects to pages of this server`(next: String) async throws {
    let answer = try await browser.signIn(try secret(guarded.token(.read)), next: next)
    #expect(answer.fields[.location] == "/")
    let shown = try await PageBrowser(guarded.api).get("/sign-in?next=\(PercentCoding.encode(next))")
    #expect(shown.text.contains(#"name="next" value="/""#))
  }

  @Test func `a visitor with a session need not sign in again`() async throws {
    try await browser.signIn(guarded.token(.read).fields)
    let answer = try await browser.get("/sign-in?next=\(PercentCoding.encode(path))")
    #expect(answer.status == 303)
    #expect(answer.fields[.location] == path)
  }

  @Test func `a link on another site works, although the browser sends no cookies with it`() async throws {
    try await browser.signIn(guarded.token(.read).fields)
    let kept = browser.cookies
    browser.cookies = [:]
    let dest = try #require(HTTPField.Name("Sec-Fetch-Dest"))
    let entrance = try await browser.get(path, [dest: "document"], site: "cross-site")
    #expect(entrance.text.contains(#"<meta http-equiv="refresh" content="0">"#))
    #expect(entrance.fields[.setCookie] == nil)
    #expect(!entrance.text.contains("\(bundle.id)"))
    browser.cookies = kept
    #expect(try await browser.get(path, [dest: "document"]).status == 200)
    // A visitor without any cookies is not redirected forever.
    browser.cookies = [:]
    #expect(try await browser.get(path, [dest: "document"]).status == 401)
  }

  @Test func `requests with a session count against the token's rate`() async throws {
    let reader = try guarded.token(.read, rate: RateLimit("3/h"))
    try await browser.signIn(reader.fields)
    let page = try await browser.get(path)
    #expect(page.fields[.rateLimit]?.contains("r=1") == true)
    #expect(try await browser.get(path).status == 200)
    let refused = try await browser.get(path)
    #expect(refused.status == 429)
    #expect(refused.fields[.retryAfter] != nil)
    #expect(refused.fields[.contentType] == "text/html; charset=utf-8")
  }
}
