import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import ServerTesting
import SnapshotFormat
import Testing

@testable import SnapshotWeb

/// The effects of forms, and the visitors for whom they have none.
@Suite struct PageFormTests: GuardedPages {
  let guardedPage: GuardedPage

  init() async throws { guardedPage = try await GuardedPage() }

  private func isThere() async throws -> Bool {
    do { return try await guarded.api.store.record(bundle.id).id == bundle.id } catch { return false }
  }

  @Test func `a snapshot is pinned, unpinned, marked as good and deleted`() async throws {
    try await browser.signIn(guarded.token(.read, .delete).fields)
    let token = try await browser.formToken(in: path + "?show=details")
    for (action, isPinned) in [("pin", true), ("pin", true), ("unpin", false)] {
      let answer = try await browser.post("\(path)/\(action)", ["form-token": token])
      #expect(answer.status == 303)
      #expect(answer.fields[.location] == "\(path)?show=details&done=\(action)ned")
      #expect(try await guarded.api.store.record(bundle.id).isPinned == isPinned)
    }
    for (action, isGood, notice) in [("mark-good", true, "good"), ("unmark-good", false, "not-good")] {
      let answer = try await browser.post("\(path)/\(action)", ["form-token": token])
      #expect(answer.status == 303)
      #expect(answer.fields[.location] == "\(path)?show=details&done=\(notice)")
      #expect(try await guarded.api.store.record(bundle.id).isGood == isGood)
    }
    let answer = try await browser.post("\(path)/delete", ["form-token": token])
    #expect(answer.status == 303)
    #expect(answer.fields[.location] == "/reports/BUG-1?done=deleted")
    let gone = try await browser.get(path)
    #expect(gone.status == 410)
    #expect(gone.fields[.contentType] == "text/html; charset=utf-8")
    #expect(try await browser.get("/").status == 200)
    #expect(try await browser.post("\(path)/delete", ["form-token": token]).status == 410)
  }

  @Test func `deleting a snapshot returns to the list that the visitor came from, and to no other server`()
    async throws
  {
    try await browser.signIn(guarded.token(.admin).fields)
    func next(_ referrer: String, _ query: String = "?show=details") async throws -> String? {
      let page = try await browser.get(path + query, [.referer: referrer]).text
      return page.firstMatch(of: /name="next" value="([^"]*)"/).map { String($0.1) }
    }
    let search = "/?text=feed&report=BUG-1"
    #expect(try await next("http://localhost:8080\(search)") == search.replacing("&", with: "&amp;"))
    #expect(
      try await next("http://localhost:8080/reports/BUG-1?done=deleted&cursor=x") == "/reports/BUG-1?cursor=x"
    )
    for other in [
      "https://example.com/?a=b", "http://localhost:9090/", "http://localhost:8080\(path)", "x", "",
    ] {
      #expect(try await next(other) == nil, "\(other)")
    }
    let token = try await browser.formToken(in: path + "?show=details")
    let pinned = try await browser.post("\(path)/pin", ["form-token": token, "next": search])
    let location = try #require(pinned.fields[.location])
    #expect(location.hasPrefix("\(path)?show=details&done=pinned&next="))
    #expect(try await next("http://localhost:8080\(path)", String(location.dropFirst(path.count))) != nil)
    let target = try await browser.post("\(path)/delete", ["form-token": token, "next": search])
    #expect(target.fields[.location] == search + "&done=deleted")
    #expect(try await browser.get(search + "&done=deleted").text.contains("The snapshot was deleted."))
    for next in [
      "https://example.com/", "//example.com/", "/\\example.com", "/sign-out", "/snapshots/x", "/reports/",
      "/reports/a/b", "javascript:alert(1)", "/?a#b", "/?\r\nSet-Cookie: a=b",
    ] {
      let bundle = try ZippedSample("{\"n\":\"\(next.utf8.count)\"}")
      try await guarded.attach(bundle, guarded.token(.admin).fields)
      let answer = try await browser.post(
        "/snapshots/\(bundle.id)/delete", ["form-token": token, "next": next])
      #expect(answer.fields[.location] == "/reports/BUG-1?done=deleted", "\(next)")
    }
    #expect(try await browser.get("/reports/BUG-1?done=deleted").text.contains("The snapshot was deleted."))
  }

  @Test func `a comment is written with the name of the token, and shown as text`() async throws {
    let (token, secret) = try guarded.tokens.create(
      .init(name: "Mira", scopes: [.read, .comment]), now: guarded.clock.now)
    try await browser.signIn(GuardedAPI.bearer(secret))
    let form = try await browser.formToken(in: path + "?show=details")
    let answer = try await browser.post(
      "\(path)/comment", ["form-token": form, "comment": " <b>Seen</b>\r\nagain ", "next": "/?text=a"])
    #expect(answer.status == 303)
    #expect(answer.fields[.location] == "\(path)?show=comments&done=commented&next=%2F%3Ftext%3Da")
    let page = try await browser.get(path + "?show=comments").text
    #expect(page.contains("&lt;b&gt;Seen&lt;/b&gt;<br>again<br>"))
    #expect(page.contains("Mira"))
    let comment = try #require(try await guarded.api.store.record(bundle.id).comments?.first)
    #expect(comment.author == "Mira" && comment.token == token.id)
    for text in ["", " \n", String(repeating: "a", count: 4097)] {
      #expect(try await browser.post("\(path)/comment", ["form-token": form, "comment": text]).status == 422)
    }
    #expect(try await browser.post("\(path)/comment", ["form-token": "x", "comment": "a"]).status == 403)
    let reader = PageBrowser(guarded.api)
    try await reader.signIn(guarded.token(.read).fields)
    let other = try await reader.get(path + "?show=comments").text
    #expect(other.contains("Mira") && !other.contains("\(path)/comment"))
    #expect(
      try await reader.post(
        "\(path)/comment", ["form-token": reader.formToken(in: path + "?show=details"), "comment": "a"]
      ).status == 403)
  }

  @Test func `a link is created, and gives access to the bundle without a token`() async throws {
    try await browser.signIn(guarded.token(.read).fields)
    let token = try await browser.formToken(in: path + "?show=details")
    let answer = try await browser.post("\(path)/link", ["form-token": token, "seconds": "60"])
    #expect(answer.status == 200)
    let found = try #require(
      answer.text.firstMatch(of: /http:\/\/localhost:8080(\/v1\/snapshots\/[^?"]+)\?([^"< ]+)/))
    let query = String(found.2).replacing("&amp;", with: "&")
    let fetched = try await guarded.api.send(.get, String(found.1), query: query)
    #expect(fetched.status == 200)
    #expect(fetched.bytes == bundle.bytes)
    for seconds in ["0", "x", "7776001"] {
      #expect(
        try await browser.post("\(path)/link", ["form-token": token, "seconds": seconds]).status == 400)
    }
  }

  @Test func `a visitor who may only read sees no forms that change, and can submit none`() async throws {
    try await browser.signIn(guarded.token(.read).fields)
    let page = try await browser.get(path + "?show=details")
    #expect(!page.text.contains("\(path)/delete"))
    let token = try await browser.formToken(in: path + "?show=details")
    for action in ["delete", "pin", "unpin", "mark-good", "unmark-good"] {
      let answer = try await browser.post("\(path)/\(action)", ["form-token": token])
      #expect(answer.status == 403)
      #expect(answer.fields[.contentType] == "text/html; charset=utf-8")
    }
    #expect(try await isThere())
  }

  @Test func `a form of another visitor has no effect`() async throws {
    try await browser.signIn(guarded.token(.admin).fields)
    let other = PageBrowser(guarded.api)
    try await other.signIn(guarded.token(.admin).fields)
    let own = try await browser.formToken(in: path + "?show=details")
    let visitor = try await PageBrowser(guarded.api).formToken(in: "/sign-in")
    let foreign = try await other.formToken(in: path + "?show=details")
    #expect(own != foreign)
    for token in [foreign, visitor, "", "x", String(own.dropLast()), own + "A", own.lowercased()] {
      let answer = try await browser.post("\(path)/delete", ["form-token": token])
      #expect(answer.status == 403, "\(token)")
      #expect(answer.text.contains("out of date"))
    }
    #expect(try await isThere())
  }

  @Test func `a page of another site can't submit a form, whatever it knows`() async throws {
    try await browser.signIn(guarded.token(.admin).fields)
    let token = try await browser.formToken(in: path + "?show=details")
    for site in ["cross-site", "same-site"] {
      let answer = try await browser.post("\(path)/delete", ["form-token": token], site: site)
      #expect(answer.status == 403)
    }
    for origin in ["https://example.com", "null", "http://localhost:9090", "http://localhost"] {
      let answer = try await browser.post(
        "\(path)/delete", ["form-token": token], [.origin: origin], site: nil)
      #expect(answer.status == 403, "\(origin)")
    }
    // A client that does not state the origin is not a browser.
    let silent = try await browser.post("\(path)/delete", ["form-token": token], [.origin: ""], site: nil)
    #expect(silent.status == 403)
    #expect(try await isThere())
    #expect(try await browser.post("\(path)/delete", ["form-token": token], site: nil).status == 303)
  }

  @Test func `nothing happens without a session, and signing in leads to the snapshot's page`()
    async throws
  {
    let token = try await browser.formToken(in: "/sign-in")
    for action in ["delete", "pin", "unpin", "mark-good", "unmark-good", "link"] {
      let answer = try await browser.post("\(path)/\(action)", ["form-token": token])
      #expect(answer.status == 401)
      #expect(answer.text.contains(#"name="next" value="\#(path)""#))
    }
    #expect(try await isThere())
  }

  @Test func `the forms of an open store are also bound to the browser`() async throws {
    let api = TestAPI()
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    let browser = PageBrowser(api)
    let token = try await browser.formToken(in: path + "?show=details")
    #expect(Set(browser.cookies.keys) == ["snapshot-visitor-8080"])
    let other = PageBrowser(api)
    let foreign = try await other.formToken(in: path + "?show=details")
    #expect(try await browser.post("\(path)/pin", ["form-token": foreign]).status == 403)
    #expect(try await browser.post("\(path)/pin", ["form-token": token], site: "cross-site").status == 403)
    #expect(try await browser.post("\(path)/pin", ["form-token": token]).status == 303)
    // Another tab keeps using the same cookie.
    try await browser.get(path)
    #expect(try await browser.post("\(path)/unpin", ["form-token": token]).status == 303)
    browser.cookies = [:]
    #expect(try await browser.post("\(path)/delete", ["form-token": token]).status == 403)
    #expect(try await api.store.record(bundle.id).id == bundle.id)
    #expect(try await browser.get("/sign-in?next=\(path)").fields[.location] == path)
  }

  @Test func `the forms of an open store work without TLS beyond loopback, if it answers there`()
    async throws
  {
    let open = try GuardedAPI { $0.answersAnyName = true }
    try await open.api.upload(bundle.bytes, .put, id: bundle.id)
    let browser = PageBrowser(open.api, authority: "snapshots.example.com")
    let token = try await browser.formToken(in: path + "?show=details")
    #expect(browser.cookiesSet.allSatisfy { !$0.contains("Secure") })
    #expect(try await browser.post("\(path)/pin", ["form-token": token]).status == 303)
    let strict = PageBrowser(try GuardedAPI().api, authority: "snapshots.example.com")
    #expect(try await strict.get("/").status == 421)
  }

  @Test func `a form has one value for each field, and a size limit`() async throws {
    try await browser.signIn(guarded.token(.admin).fields)
    let token = try await browser.formToken(in: path + "?show=details")
    let twice = try await browser.post("\(path)/delete", ["form-token": token, "form-token": token])
    #expect(twice.status == 400)
    let overhead = "form-token=\(token)&next=".utf8.count
    for (length, status) in [(-1, 303), (0, 303), (1, 413)] {
      let filler = String(repeating: "a", count: Int(FormFields.limit) - overhead + length)
      let answer = try await browser.post("\(path)/pin", ["form-token": token, "next": filler])
      #expect(answer.status == status, "\(length)")
    }
    let json = try await browser.post("\(path)/delete", [:], [.contentType: "application/json"])
    #expect(json.status == 415)
    #expect(try await isThere())
  }

  @Test func `the limits of a token also apply to its forms`() async throws {
    let limited = try guarded.token(.read, .delete, limits: CallerLimits(reportPrefixes: ["WEB-"]))
    try await browser.signIn(limited.fields)
    let token = try await browser.formToken(in: "/")
    for action in ["delete", "pin", "unpin", "mark-good", "unmark-good", "link"] {
      let absent = try await browser.post("/snapshots/\(SnapshotID())/\(action)", ["form-token": token])
      let answer = try await browser.post("\(path)/\(action)", ["form-token": token])
      #expect(absent.status == 404)
      #expect(answer.status == 404)
      #expect(answer.text == absent.text)
    }
    #expect(try await isThere())
  }
}
