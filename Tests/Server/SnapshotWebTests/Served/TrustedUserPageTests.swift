import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import ServerTesting
import SnapshotFormat
import SystemIO
import Testing

/// The web pages for users whom a proxy names.
@Suite struct TrustedUserPageTests {
  private let guarded: GuardedAPI
  private let bundle: ZippedSample
  private let browser: PageBrowser

  init() async throws {
    guarded = try GuardedAPI { $0.users = .ofLoopback }
    bundle = try ZippedSample()
    try await guarded.attach(bundle, guarded.token(.admin).fields)
    browser = PageBrowser(guarded.api)
    browser.proxyFields = .user("mira@example.org", "admins")
  }

  private var path: String { "/snapshots/\(bundle.id)" }
  /// The page with a form.
  private var comments: String { path + "?show=comments" }

  @Test func `pages name the user, and have no form for signing in or out`() async throws {
    for path in ["/", path, "/reports/BUG-1", "/docs"] {
      let answer = try await browser.get(path)
      #expect(answer.status == 200)
      if path != "/docs" { #expect(answer.text.contains("mira@example.org"), "\(path)") }
      #expect(!answer.text.contains("/sign-in") && !answer.text.contains("/sign-out"), "\(path)")
    }
    #expect(!browser.cookiesSet.contains { $0.contains("snapshot-session") })
  }

  @Test func `the pages for signing in and out lead home`() async throws {
    let form = try await browser.formToken(in: comments)
    let answer = try await browser.get("/sign-in?next=/reports/BUG-1")
    #expect(answer.status == 303 && answer.fields[.location] == "/reports/BUG-1")
    for path in ["/sign-in", "/sign-out"] {
      let answer = try await browser.post(path, ["form-token": form])
      #expect(answer.status == 303 && answer.fields[.location] == "/", "\(path)")
    }
  }

  @Test func `a comment has the name of the user`() async throws {
    let form = try await browser.formToken(in: comments)
    let answer = try await browser.post(path + "/comment", ["form-token": form, "comment": "Seen."])
    #expect(answer.status == 303)
    let record = try await guarded.api.store.record(bundle.id)
    #expect(record.comments?.first?.author == "mira@example.org")
  }

  @Test(arguments: ["cross-site", "same-site", "none"])
  func `forms are accepted from pages of this server only`(site: String) async throws {
    let form = try await browser.formToken(in: comments)
    let answer = try await browser.post(
      path + "/comment", ["form-token": form, "comment": "No."], site: site)
    #expect(answer.status == (site == "none" ? 303 : 403))
    let without = try await browser.post(
      path + "/comment", ["form-token": form, "comment": "No."], [.origin: ""], site: nil)
    #expect(without.status == 403)
  }

  @Test func `the form of another user is refused`() async throws {
    // With the same cookie, which another application below the host may have set.
    let form = try await browser.formToken(in: comments)
    browser.proxyFields = .user("otto", "admins")
    let answer = try await browser.post(path + "/comment", ["form-token": form, "comment": "No."])
    #expect(answer.status == 403)
    let own = try await browser.formToken(in: comments)
    #expect(try await browser.post(path + "/comment", ["form-token": own, "comment": "Yes."]).status == 303)
  }

  @Test func `a removed group ends the access at once`() async throws {
    #expect(try await browser.get(path).status == 200)
    browser.proxyFields = .user("mira@example.org", "guests")
    let answer = try await browser.get(path)
    #expect(answer.status == 403 && answer.text.contains("mira@example.org"))
    #expect(answer.text.contains("a group with the scope read or admin"))
    #expect(!answer.text.contains("/sign-in"))
    browser.proxyFields = [:]
    #expect(try await browser.get(path).status == 401)
  }

  @Test func `a user goes before a session, and a session remains for those without a user`() async throws {
    browser.proxyFields = [:]
    try await browser.signIn(guarded.token(.admin).fields)
    #expect(try await browser.get(path).text.contains("/sign-out"))
    browser.proxyFields = .user("mira@example.org", "guests")
    #expect(try await browser.get(path).status == 403)
    browser.proxyFields = [:]
    #expect(try await browser.get(path).status == 200)
  }

  @Test func `a forged field is shown as a problem, also where no page is`() async throws {
    for path in [path, "/nothing", "/assets/style.css"] {
      let answer = try await guarded.api.send(
        .get, path, browser.fields() + browser.proxyFields, from: IPAddress("127.0.0.2"))
      #expect(answer.status == 403, "\(path)")
      #expect(answer.text.contains("Only the proxy is allowed to state a user"))
    }
  }

  @Test func `the page of an upload names the user`() async throws {
    let form = try await browser.formToken(in: "/reports/BUG-1")
    let other = try ZippedSample(#"{"news":[{"id":2}]}"#)
    let answer = try await browser.submit(
      "/reports/BUG-1/snapshots", [("form-token", Array(form.utf8)), ("snapshot", other.bytes)])
    #expect(answer.status == 303, "\(answer.text)")
    let page = try #require(answer.fields[.location]).prefix { $0 != "?" }
    #expect(try await browser.get("\(page)?show=details").text.contains("mira@example.org"))
  }

  @Test func `a link to attach needs no user, and works with one`() async throws {
    let maker = try guarded.token(.read, .attach)
    let made = try await guarded.api.send(.post, "/v1/reports/BUG-1/links", maker.fields)
    let link = try #require(made.fields[.location])
    #expect(try await browser.get(link).status == 200)
    let guest = PageBrowser(guarded.api)
    #expect(try await guest.get(link).status == 200)
  }
}
