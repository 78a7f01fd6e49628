import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Logging
import Observability
import ServerTesting
import SnapshotFormat
import TestSupport
import Testing

/// The timeline of a report, uploads from its page, and the access history.
@Suite struct ReportPageTests: GuardedPages {
  let guardedPage: GuardedPage

  init() async throws { guardedPage = try await GuardedPage() }

  private func attach(_ number: Int, report: String = "BUG-1") async throws -> SnapshotID {
    let bundle = try ZippedSample("{\"n\":\(number)}") { $0.application.version = "3.\(number)" }
    // Two snapshots are not received in the same millisecond, so that their order is known.
    let before = Date()
    while SnapshotJSON.text(of: Date()) == SnapshotJSON.text(of: before) { await Task.yield() }
    try await guarded.attach(bundle, report: report, guarded.token(.admin).fields)
    return bundle.id
  }

  @Test func `a snapshot's page shows the ones before and after it in its report`() async throws {
    let second = try await attach(2)
    _ = try await attach(9, report: "WEB-1")
    let third = try await attach(3)
    try await browser.signIn(guarded.token(.read).fields)
    let middle = try await browser.get("/snapshots/\(second)?show=details").text
    #expect(middle.contains("href=\"\(path)\" rel=\"prev\""))
    #expect(middle.contains("href=\"/snapshots/\(third)\" rel=\"next\""))
    #expect(middle.contains("href=\"/snapshots/\(bundle.id)/diff?with=\(second)\""))
    #expect(middle.contains("href=\"/snapshots/\(second)/diff?with=\(third)\""))
    #expect(middle.contains("Version: 3.1.4 (15) → 3.2 (15)"))
    let first = try await browser.get(path + "?show=details").text
    #expect(!first.contains("rel=\"prev\"") && first.contains("/snapshots/\(second)\" rel=\"next\""))
    let last = try await browser.get("/snapshots/\(third)?show=details").text
    #expect(!last.contains("rel=\"next\"") && last.contains("/snapshots/\(second)\" rel=\"prev\""))
    let report = try await browser.get("/reports/BUG-1").text
    #expect(report.contains("Version: 3.2 (15) → 3.3 (15)"))
    #expect(report.contains("Version: 3.1.4 (15) → 3.2 (15)"))
    #expect(report.contains("1 of 1 module complete"))
    // The same pages for a token that may not see all of them.
    let limited = PageBrowser(guarded.api)
    try await limited.signIn(
      guarded.token(.read, limits: .init(reportPrefixes: ["WEB-"])).fields)
    #expect(try await limited.get("/snapshots/\(second)").status == 404)
  }

  // MARK: - Uploads

  private func uploader() async throws -> (browser: PageBrowser, form: String) {
    let browser = PageBrowser(guarded.api)
    try await browser.signIn(guarded.token(.read, .attach).fields)
    return (browser, try await browser.formToken(in: "/reports/BUG-1"))
  }

  @Test func `a form without a script attaches a bundle and its note`() async throws {
    let (browser, form) = try await uploader()
    let sample = try ZippedSample("{\"form\":1}")
    let answer = try await browser.submit(
      "/reports/BUG-1/snapshots",
      [("form-token", Array(form.utf8)), ("snapshot", sample.bytes), ("note", Array("It broke".utf8))])
    #expect(answer.status == 303)
    #expect(answer.fields[.location] == "/snapshots/\(sample.id)?done=attached")
    let record = try await guarded.api.store.record(sample.id)
    #expect(record.metadata == ["note": "It broke"])
    #expect(try await browser.get("/snapshots/\(sample.id)?done=attached").text.contains("was uploaded"))
    let invalid = try await browser.submit(
      "/reports/BUG-1/snapshots", [("form-token", Array(form.utf8)), ("snapshot", [1, 2]), ("note", [])])
    #expect(invalid.status == 422)
    #expect(invalid.fields[.contentType] == "text/html; charset=utf-8")
  }

  @Test func `a form of another page or site attaches nothing`() async throws {
    let (browser, form) = try await uploader()
    let sample = try ZippedSample("{\"form\":2}")
    for (token, site) in [
      ("", "same-origin"), ("x", "same-origin"), (form, "cross-site"), (form, "same-site"),
    ] {
      let parts = [("form-token", Array(token.utf8)), ("snapshot", sample.bytes)]
      let answer = try await browser.submit("/reports/BUG-1/snapshots", parts, site: site)
      #expect(answer.status == 403)
      let script = try await browser.script(
        .post, "/uploads", fields(token, sample.bytes.count), site: site)
      #expect(script.status == 403)
    }
    #expect(try await browser.submit("/reports/BUG-1/snapshots", [("snapshot", sample.bytes)]).status == 403)
    #expect(try await browser.submit("/reports/WEB-1/snapshots", [("snapshot", sample.bytes)]).status == 403)
    let visitor = PageBrowser(guarded.api)
    let token = try await visitor.formToken(in: "/sign-in")
    let outside = try await visitor.submit(
      "/reports/BUG-1/snapshots", [("form-token", Array(token.utf8)), ("snapshot", sample.bytes)])
    #expect(outside.status == 401)
    #expect(outside.text.contains(#"name="next" value="/reports/BUG-1""#))
    await #expect(throws: (any Error).self) { try await guarded.api.store.record(sample.id) }
  }

  private func fields(_ form: String, _ length: Int? = nil, at offset: Int? = nil) -> HTTPFields {
    var fields: HTTPFields = [.tusResumable: "1.0.0"]
    if let name = HTTPField.Name("Snapshot-Form-Token") { fields[name] = form }
    if let length {
      fields[.uploadLength] = "\(length)"
      fields[.uploadMetadata] = TestAPI.metadata([("report", "BUG-1"), ("note", "Dropped")])
    }
    if let offset {
      fields[.uploadOffset] = "\(offset)"
      fields[.contentType] = TestAPI.tusType
    }
    return fields
  }

  @Test func `a script uploads in several requests, with the session`() async throws {
    let (browser, form) = try await uploader()
    let sample = try ZippedSample("{\"script\":1}")
    let opened = try await browser.script(.post, "/uploads", fields(form, sample.bytes.count))
    #expect(opened.status == 201)
    let place = try #require(opened.fields[.location])
    #expect(place.hasPrefix("/uploads/"))
    let half = sample.bytes.count / 2
    let first = try await browser.script(
      .patch, place, fields(form, at: 0), body: Array(sample.bytes[..<half]))
    #expect(first.status == 204)
    let status = try await browser.script(.head, place, fields(form))
    #expect(status.fields[.uploadOffset] == "\(half)")
    #expect(try await browser.script(.patch, place, fields("x", at: half), body: [1]).status == 403)
    // Another visitor can't see the upload, nor a client of the API without its token.
    let other = try await uploader()
    #expect(try await other.browser.script(.head, place, fields(other.form)).status == 404)
    #expect(try await guarded.api.tus(.head, "/v1" + place).status == 401)
    let last = try await browser.script(
      .patch, place, fields(form, at: half), body: Array(sample.bytes[half...]))
    #expect(last.status == 204)
    #expect(last.fields[.link] == "</v1/snapshots/\(sample.id)>; rel=\"describedby\"")
    #expect(try await guarded.api.store.record(sample.id).metadata == ["note": "Dropped"])
    #expect(try await browser.script(.delete, place, fields(form)).status == 204)
  }

  @Test func `a script gets problems as JSON, also if the session has ended`() async throws {
    let (browser, form) = try await uploader()
    var (asked, outdated) = (fields(form, 10), fields("x", 10))
    asked[.accept] = "application/problem+json"
    outdated[.accept] = "application/problem+json"
    let open = try await browser.script(.post, "/uploads", asked)
    #expect(open.status == 201)
    let place = try #require(open.fields[.location])
    let stale = try await browser.script(.post, "/uploads", outdated)
    #expect(stale.status == 403 && stale.kind == "stale-form")
    browser.cookies = [:]
    for (method, path) in [(HTTPRequest.Method.post, "/uploads"), (.head, place)] {
      let answer = try await browser.script(method, path, asked)
      #expect(answer.status == 401 && answer.kind == "token-needed")
    }
    // A browser that shows the response gets a page.
    asked[.accept] = "application/problem+json, text/html"
    let page = try await browser.script(.post, "/uploads", asked)
    #expect(page.status == 401 && page.fields[.contentType] == "text/html; charset=utf-8")
  }

  @Test func `only pages whose scripts send requests allow them, and only to this server`() async throws {
    let (browser, _) = try await uploader()
    let page = try await browser.get("/reports/BUG-1")
    let policy = try #require(page.fields[.contentSecurityPolicy])
    #expect(policy.hasPrefix("default-src 'none';") && policy.hasSuffix("; connect-src 'self'"))
    #expect(page.text.contains("data-uploads=\"/uploads\""))
    let details = try await browser.get(path + "?show=details")
    #expect(details.fields[.contentSecurityPolicy]?.contains("connect-src") == false)
    // The values of the first file are loaded when they are opened.
    #expect(
      try await browser.get(path).fields[.contentSecurityPolicy]?.hasSuffix("; connect-src 'self'") == true)
    try await self.browser.signIn(guarded.token(.read).fields)
    let reader = try await self.browser.get("/reports/BUG-1")
    #expect(reader.fields[.contentSecurityPolicy]?.contains("connect-src") == false)
    #expect(!reader.text.contains("data-uploads"))
  }

  // MARK: - History

  @Test func `administrators see who accessed a snapshot`() async throws {
    let folder = try TemporaryFolder()
    let audit = try AuditLog(.init(path: folder.file("audit.log").path), logger: Logger(label: "test"))
    let guarded = try GuardedAPI(observation: Observation(audit: audit))
    let (_, secret) = try guarded.tokens.create(
      .init(name: "Lab <b>phone</b>", scopes: [.admin]), now: guarded.clock.now)
    try await guarded.attach(bundle, GuardedAPI.bearer(secret))
    let admin = PageBrowser(guarded.api)
    try await admin.signIn(GuardedAPI.bearer(secret))
    #expect(try await admin.get(path + "?show=details").text.contains("\(path)/history"))
    let page = try await admin.get("\(path)/history")
    #expect(page.status == 200)
    #expect(page.text.contains("Uploaded") && page.text.contains("Viewed"))
    #expect(page.text.contains("Lab &lt;b&gt;phone"))
    let reader = PageBrowser(guarded.api)
    try await reader.signIn(guarded.token(.read, .delete).fields)
    #expect(try await !reader.get(path).text.contains("history"))
    #expect(try await reader.get("\(path)/history").status == 403)
    await audit.close()
  }

  @Test func `a server without an audit log has no history`() async throws {
    try await browser.signIn(guarded.token(.admin).fields)
    #expect(try await !browser.get(path).text.contains("\(path)/history"))
  }
}
