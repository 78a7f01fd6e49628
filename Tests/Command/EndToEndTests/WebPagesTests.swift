import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// The web pages of the real command in a real browser.
@Suite(
  .serialized, .timeLimit(.minutes(5 * Sanitizer.slowness)),
  .enabled(if: Browser.isInstalled, "Install chromium and chromium-driver: make setup"))
struct WebPagesTests {
  let folder: TemporaryFolder
  let storage: URL

  init() throws {
    folder = try TemporaryFolder()
    storage = folder.file("storage")
  }

  /// Calls `body` with a server and a browser, and ends both afterwards.
  func withBrowser(
    width: Int = 1280, hasScripts: Bool = true, _ body: (TestServer, Browser) async throws -> Void
  ) async throws {
    let server = try await TestServer(storage: storage)
    try await Browser.run(width: width, hasScripts: hasScripts) { try await body(server, $0) }
    await server.program.stop()
  }

  func attach(
    _ files: [String: String], report: String = "BUG-7", to server: TestServer, token: String? = nil
  ) async throws -> String {
    let source = "source-\(UUID())"
    for (name, text) in files { try folder.write(Data(text.utf8), to: "\(source)/\(name)") }
    let outcome = try await Product.run(
      ["upload", folder.file(source).path, "--report", report, "--server", server.url.absoluteString],
      environment: token.map { ["SNAPSHOT_TOKEN": $0] } ?? [:])
    try #require(outcome.status == 0, "\(outcome.errors)")
    return outcome.lines[0]
  }

  func token(_ arguments: String...) async throws -> String {
    let outcome = try await Product.run(["token", "create", "--storage", storage.path] + arguments)
    try #require(outcome.status == 0, "\(outcome.errors)")
    return outcome.lines[0]
  }

  func url(_ path: String, on server: TestServer) throws -> URL {
    try #require(URL(string: server.address(path)))
  }

  /// Whether the page fits into the width of the screen. Otherwise phones would shrink it.
  func fits(_ browser: Browser) async throws -> Bool {
    try await browser.evaluate("document.documentElement.scrollWidth <= screen.width") == "true"
  }

  @Test func `a developer signs in, searches, inspects a snapshot, compares, and signs out`() async throws {
    try await withBrowser { server, browser in
      let admin = try await token("--scope", "admin", "--name", "Ada")
      let good = try await attach(["feed.json": #"{"unread": 1, "seldom": 2}"#], to: server, token: admin)
      let bad = try await attach(["feed.json": #"{"unread": -1, "seldom": 2}"#], to: server, token: admin)

      try await browser.open(url("/snapshots/\(bad)", on: server))
      #expect(try await browser.text("h1") == "Sign in")
      try await browser.type("wrong", into: "#token")
      try await browser.follow("main form button")
      #expect(try await browser.has("#mistake"))
      try await browser.type(admin, into: "#token")
      try await browser.follow("main form button")
      #expect(try await browser.url == server.address("/snapshots/\(bad)"))
      #expect(try await browser.text("header").contains("Ada"))
      #expect(try await browser.evaluate("document.cookie") == "")

      // The file, formatted.
      try await browser.follow(".work-list a[href*='/files/']")
      #expect(try await browser.text("main").contains("-1"))
      #expect(try await browser.has(".json details"))

      // From the start page: a text search, and then the other snapshot's UUID.
      try await browser.open(url("/", on: server))
      try await browser.type("feed", into: "#text")
      try await browser.follow("form.search button.main")
      #expect(try await browser.text("main table").contains(String(good.prefix(8))))
      try await browser.open(url("/", on: server))
      try await browser.type(good, into: "#text")
      try await browser.follow("form.search button.main")
      #expect(try await browser.url == server.address("/snapshots/\(good)"))

      try await browser.open(url("/snapshots/\(good)/diff", on: server))
      try await browser.follow(".candidates a.button")
      #expect(try await browser.url == server.address("/snapshots/\(good)/diff?with=\(bad)"))
      #expect(try await browser.text("main").contains("unread"))
      #expect(try await !browser.text("main").contains("seldom"))

      try await browser.follow("form[action='/sign-out'] button")
      #expect(try await browser.text("h1") == "Signed out")
      try await browser.open(url("/snapshots/\(good)", on: server))
      #expect(try await browser.text("h1") == "Sign in")
    }
  }

  @Test(arguments: [true, false])
  func `a snapshot is pinned, shared and deleted, with scripts and without`(hasScripts: Bool) async throws {
    try await withBrowser(width: 360, hasScripts: hasScripts) { server, browser in
      let id = try await attach(["feed.json": "{}"], to: server)
      try await browser.open(url("/snapshots/\(id)?show=details", on: server))
      try await browser.follow("form[action$='/pin'] button")
      #expect(try await browser.text("[role=status]").lowercased().contains("pin"))
      #expect(try await browser.has("form[action$='/unpin']"))
      try await browser.follow("form[action$='/link'] button")
      let link = try await browser.text(".commands code")
      #expect(link.hasPrefix(server.address("/v1/snapshots/\(id).zip?")))
      #expect(try await Curl([link]).status == 200)
      try await browser.open(url("/", on: server))
      try await browser.follow("main a[href='/snapshots/\(id)']")
      try await browser.follow("main a[href*='show=details']")
      try await browser.click("details.danger summary")
      try await browser.follow("form[action$='/delete'] button")
      #expect(try await browser.url == server.address("/?done=deleted"))
      #expect(try await browser.has("[role=status]"))
      #expect(try await Curl([server.address("/v1/snapshots/\(id)")]).status == 410)
      try await browser.open(url("/snapshots/\(id)", on: server))
      #expect(try await browser.text("main").contains("410"))
    }
  }

  @Test func `matches, long lines, images and the contents of strings are shown without scripts`()
    async throws
  {
    let gif = "R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw=="
    let json =
      #"{"body":"{\"a\":[\"needle\"]}","image":"data:image/gif;base64,\#(gif)","c":"needle","d":"needle"}"#
    try await withBrowser(width: 360, hasScripts: false) { server, browser in
      let log = (0..<300).map { "line \($0) \(String(repeating: "x", count: $0))" }.joined(separator: "\n")
      let id = try await attach(["a.json": json, "b.log": log], to: server)
      let file = "/snapshots/\(id)/files/recordings"
      try await browser.open(url("\(file)/a.json?find=needle", on: server))
      try await browser.follow(".hits a")
      #expect(try await browser.text(".hit strong") == "Hit 1 of 3")
      try await browser.follow("a[rel=next]")
      #expect(try await browser.text(".hit strong") == "Hit 2 of 3")
      #expect(try await browser.text("p:has(> #hit)").contains("needle"))
      try await browser.open(url("\(file)/a.json", on: server))
      try await browser.follow("a[href$='?decode=%2Fbody']")
      #expect(try await browser.text(".json").contains("needle"))
      try await browser.open(url("\(file)/a.json?decode=/image", on: server))
      #expect(try await browser.has(".picture img"))
      #expect(try await fits(browser))
      try await browser.open(url("\(file)/b.log?view=text", on: server))
      #expect(try await fits(browser))
      try await browser.click("label[for=wrap]")
      #expect(try await browser.has(".lines:has(#wrap:not(:checked))"))
      #expect(try await fits(browser))
    }
  }

  @Test func `scripts in a hostile snapshot never run`() async throws {
    let attack = "document.title='hacked';window.hacked=1"
    let names = [
      "<img src=x onerror=\(attack)>.json", "\"><svg onload=\(attack)>.txt", "{{{constructor}}}.json",
      "javascript:\(attack).html", "\u{202E}gnp.js.html",
    ]
    let text =
      "</script></title></textarea><script>\(attack)</script><img src=x onerror=\"\(attack)\">{{name}}"
    let json = "{\"\(text.replacing("\"", with: "\\\""))\":\"\(text.replacing("\"", with: "\\\""))\"}"
    try await withBrowser(width: 360) { server, browser in
      var files = Dictionary(uniqueKeysWithValues: names.map { ($0, $0.hasSuffix("json") ? json : text) })
      files["deep.json"] = String(repeating: "[", count: 400) + json + String(repeating: "]", count: 400)
      let other = files.mapValues { $0 + " " }
      let id = try await attach(files, to: server)
      let second = try await attach(other, to: server)
      try await browser.open(url("/snapshots/\(id)", on: server))
      let count = Int(
        try await browser.evaluate("document.querySelectorAll('.work-list a[href*=\"/files/\"]').length"))
      #expect(count == files.count)
      var pages = [
        "/", "/?text=%3Cscript%3E\(attack)%3C%2Fscript%3E", "/snapshots/\(id)",
        "/snapshots/\(id)/diff?with=\(second)",
      ]
      for index in 0..<files.count {
        let path = try await browser.evaluate(
          "document.querySelectorAll('.work-list a[href*=\"/files/\"]')[\(index)].getAttribute('href')")
        pages += [path, path.replacing("/files/", with: "/raw/")]
      }
      for page in pages where !page.contains("/raw/") || page.contains(".json") || page.contains(".txt") {
        try await browser.open(url(page, on: server))
        #expect(try await browser.evaluate("window.hacked") == "undefined", "\(page)")
        #expect(try await browser.evaluate("document.title") != "hacked", "\(page)")
        #expect(
          try await browser.evaluate("document.querySelectorAll('main script, main img[src=x]').length")
            == "0")
        if !page.contains("/raw/") { #expect(try await fits(browser), "\(page)") }
      }
    }
  }

  @Test func `a link on another site opens the page if the user has signed in`() async throws {
    try await withBrowser { server, browser in
      let admin = try await token("--scope", "admin")
      let id = try await attach(["feed.json": "{}"], to: server, token: admin)
      try await browser.open(url("/sign-in", on: server))
      try await browser.type(admin, into: "#token")
      try await browser.follow("main form button")
      // For browsers, a page from a file belongs to another site.
      let tracker = try folder.write(
        Data(#"<a id="link" href="\#(server.address("/snapshots/\(id)"))">BUG-7</a>"#.utf8),
        to: "tracker.html")
      try await browser.open(tracker)
      try await browser.follow("#link")
      try await browser.wait(for: "document.querySelector('.work-list') !== null")
      #expect(try await browser.url == server.address("/snapshots/\(id)"))
    }
  }

  @Test func `a form on another site has no effect`() async throws {
    try await withBrowser { server, browser in
      let id = try await attach(["feed.json": "{}"], to: server)
      try await browser.open(url("/snapshots/\(id)?show=details", on: server))
      let token = try await browser.evaluate("document.querySelector('[name=form-token]').value")
      let form = """
        <form method="post" action="\(server.address("/snapshots/\(id)/delete"))">
        <input name="form-token" value="\(token)"><button>Free money</button></form>
        """
      try await browser.open(folder.write(Data(form.utf8), to: "attack.html"))
      try await browser.follow("button")
      try await browser.wait(for: "document.title !== ''")
      #expect(try await browser.text("main").contains("403"))
      #expect(try await Curl([server.address("/v1/snapshots/\(id)")]).status == 200)
    }
  }
}
