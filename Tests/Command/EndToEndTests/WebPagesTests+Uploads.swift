import Foundation
import SystemIO
import TestSupport
import Testing

/// Uploads by the script of a report's page.
extension WebPagesTests {
  static let status = "document.querySelector('[data-status]').textContent"

  /// Chooses a file on the open page of a report, and starts its upload.
  private func upload(_ file: URL, note: String? = nil, with browser: Browser) async throws {
    try await browser.type(file.path, into: "#bundle")
    if let note { try await browser.type(note, into: "#upload-note") }
    try await browser.click(".upload button.main")
  }

  func waitForSnapshot(_ browser: Browser) async throws {
    try await browser.wait(for: "location.pathname.startsWith('/snapshots/')")
  }

  /// Sends only 300 bytes with the first `PATCH`, holds the second until `release()`, and remembers all offsets.
  static let slowly = """
    (() => {
      const {send, setRequestHeader} = XMLHttpRequest.prototype;
      XMLHttpRequest.prototype.setRequestHeader = function (name, value) {
        if (name === "Upload-Offset") sessionStorage.offsets = (sessionStorage.offsets ?? "") + value + " ";
        setRequestHeader.call(this, name, value);
      };
      XMLHttpRequest.prototype.send = function (body) {
        const count = sessionStorage.count = 1 + Number(sessionStorage.count ?? 0);
        if (count === 2) window.release = () => send.call(this, body);
        else send.call(this, count === 1 ? body.slice(0, 300) : body);
      };
    })();
    """

  @Test(arguments: [false, true])
  func `an upload continues after signing in again, and its note arrives`(isOtherTab: Bool) async throws {
    try await withBrowser { server, browser in
      let admin = try await token("--scope", "admin")
      let (bundle, id) = try await Sample.bundle(in: folder)
      try await browser.addScript(Self.slowly)
      try await browser.open(url("/reports/BUG-9", on: server))
      try await browser.type(admin, into: "#token")
      try await browser.follow("main form button")
      try await upload(bundle, note: "It broke", with: browser)
      try await browser.wait(for: "window.release")
      try await browser.command("Network.clearBrowserCookies", [:])
      _ = try await browser.evaluate("window.release()")
      try await browser.wait(for: Self.status + ".includes('signed out')")
      if isOtherTab {
        let signIn = """
          async (done) => {
            const page = new DOMParser().parseFromString(await (await fetch("/sign-in")).text(), "text/html");
            const form = new URLSearchParams(new FormData(page.querySelector("main form")));
            form.set("token", "\(admin)");
            done((await fetch("/sign-in", {method: "POST", body: form})).status);
          }
          """
        #expect(try await browser.result(ofAsync: signIn) == "200")
      } else {
        try await browser.open(url("/reports/BUG-9", on: server))
        try await browser.type(admin, into: "#token")
        try await browser.follow("main form button")
        try await upload(bundle, with: browser)
      }
      try await waitForSnapshot(browser)
      #expect(try await browser.url.contains("/snapshots/\(id)"))
      #expect(try await browser.text(".said-here").contains("It broke"))
      #expect(try await browser.evaluate("sessionStorage.offsets.trim()") == "0 300 300")
      #expect(try await browser.evaluate("localStorage.length") == "0")
    }
  }

  @Test func `another note begins another upload`() async throws {
    try await withBrowser { server, browser in
      let (bundle, id) = try await Sample.bundle(in: folder)
      try await browser.addScript(Self.slowly)
      try await browser.open(url("/reports/BUG-9", on: server))
      try await upload(bundle, note: "First", with: browser)
      try await browser.wait(for: "window.release")
      try await browser.open(url("/reports/BUG-9", on: server))
      try await upload(bundle, note: "Second", with: browser)
      try await waitForSnapshot(browser)
      #expect(try await browser.url.contains("/snapshots/\(id)"))
      #expect(try await browser.text(".said-here").contains("Second"))
      #expect(try await browser.evaluate("sessionStorage.offsets.trim()") == "0 300 0")
    }
  }

  @Test func `an upload works if the browser stores nothing`() async throws {
    try await withBrowser { server, browser in
      let (bundle, id) = try await Sample.bundle(in: folder)
      try await browser.addScript(
        "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError'); }});"
      )
      try await browser.open(url("/reports/BUG-9", on: server))
      try await upload(bundle, note: "It broke", with: browser)
      try await waitForSnapshot(browser)
      #expect(try await browser.url.contains("/snapshots/\(id)"))
      #expect(try await browser.text(".said-here").contains("It broke"))
    }
  }

  /// Drops files and folders on the open page.
  func drop(_ files: URL..., on browser: Browser) async throws {
    for type in ["dragEnter", "dragOver", "drop"] {
      let data: [String: Any] = [
        "items": [String](), "files": files.map(\.path), "dragOperationsMask": 1,
      ]
      try await browser.command(
        "Input.dispatchDragEvent", ["type": type, "x": 200, "y": 200, "data": data])
    }
  }

  @Test(arguments: [true, false])
  func `a dropped HTTP archive, or one in the form, becomes a snapshot`(hasScripts: Bool) async throws {
    try await withBrowser(hasScripts: hasScripts) { server, browser in
      try folder.write(Data("<html>".utf8), to: "page.har")
      try folder.write(Data(ArchiveCommandTests.archive.utf8), to: "shop.har")
      try await browser.open(url("/reports/BUG-9", on: server))
      if hasScripts {
        try await drop(folder.file("page.har"), on: browser)
        try await browser.wait(for: Self.status + ".includes('page.har is no HTTP archive')")
        try await browser.type("It broke", into: "#upload-note")
        try await drop(folder.file("shop.har"), on: browser)
        try await waitForSnapshot(browser)
      } else {
        try await browser.type(folder.file("shop.har").path, into: "#bundle")
        try await browser.type("It broke", into: "#upload-note")
        try await browser.follow(".upload button.main")
      }
      #expect(try await browser.text("body").contains("https://example.com/cart"))
      #expect(try await browser.text(".said-here").contains("It broke"))
    }
  }

  @Test func `a file that can't be read is named at once`() async throws {
    try await withBrowser { server, browser in
      let (bundle, _) = try await Sample.bundle(in: folder)
      try await browser.addScript(
        "Blob.prototype.arrayBuffer = () => Promise.reject(new DOMException('gone', 'NotReadableError'));")
      try await browser.open(url("/reports/BUG-9", on: server))
      try await upload(bundle, with: browser)
      try await browser.wait(for: Self.status + ".includes('read the file')")
      #expect(try await browser.has("[data-status].mistake"))
    }
  }

  @Test func `what a proxy answers ends no upload, and the plain form is tried`() async throws {
    try await withBrowser { server, browser in
      let blocked = Lock((method: "", status: 0))
      let port = UInt16(try #require(server.url.port))
      let proxy = try Middlebox(to: port) { request in
        let (method, status) = blocked.withLock { $0 }
        guard request.method == method, request.target.hasPrefix("/uploads") else { return .forward }
        guard (300...399).contains(status) else { return .page(status) }
        return .answer("\(status) Moved", ["Location: http://127.0.0.1:1/"])
      }
      for (seed, (method, status)) in [
        ("PATCH", 501), ("PATCH", 403), ("POST", 401), ("POST", 404), ("POST", 307), ("PATCH", 413),
        ("POST", 200),
      ].enumerated() {
        blocked.withLock { $0 = (method, status) }
        let (bundle, id) = try await Sample.bundle(in: folder, seed: seed)
        try await browser.open(proxy.url.appending(path: "reports/BUG-9"))
        try await upload(bundle, note: "Note \(seed)", with: browser)
        try await waitForSnapshot(browser)
        #expect(try await browser.url.contains("/snapshots/\(id)"), "\(method) \(status)")
        #expect(try await browser.text(".said-here").contains("Note \(seed)"), "\(method) \(status)")
      }
    }
  }

  @Test func `a full store and a proxy that does not reach the server only delay an upload`() async throws {
    try await withBrowser { server, browser in
      let full = Middlebox.Reaction.answer(
        "507 Full", ["Content-Type: application/problem+json"],
        body:
          #"{"type":"urn:data-snapshots:problem:out-of-space","title":"Full","detail":"The disk is full."}"#)
      let answers = Lock([full, .page(503, title: "Maintenance")])
      let proxy = try Middlebox(to: UInt16(try #require(server.url.port))) { request in
        guard request.method == "PATCH" else { return .forward }
        return answers.withLock { $0.isEmpty ? .forward : $0.removeFirst() }
      }
      let (bundle, id) = try await Sample.bundle(in: folder)
      try await browser.open(proxy.url.appending(path: "reports/BUG-9"))
      try await upload(bundle, note: "It broke", with: browser)
      try await browser.wait(for: Self.status + ".includes('The disk is full. Trying again')")
      try await browser.wait(for: Self.status + ".includes('status 503 (squid/5.7, Maintenance)')")
      try await waitForSnapshot(browser)
      #expect(try await browser.url.contains("/snapshots/\(id)"))
      #expect(try await browser.text(".said-here").contains("It broke"))
      #expect(proxy.requests.count { $0.method == "PATCH" } == 3)
    }
  }

  @Test func `an upload that has expired begins again`() async throws {
    try await withBrowser { server, browser in
      let gone = Middlebox.Reaction.answer(
        "404 Not Found", ["Content-Type: application/problem+json"],
        body: #"{"type":"urn:data-snapshots:problem:no-such-upload","detail":"There is no such upload."}"#)
      let left = Lock(["PATCH", "HEAD"])
      let proxy = try Middlebox(to: UInt16(try #require(server.url.port))) { request in
        left.withLock { left in
          guard left.first == request.method else { return .forward }
          left.removeFirst()
          return gone
        }
      }
      let (bundle, id) = try await Sample.bundle(in: folder)
      try await browser.open(proxy.url.appending(path: "reports/BUG-9"))
      try await upload(bundle, note: "It broke", with: browser)
      try await waitForSnapshot(browser)
      #expect(try await browser.url.contains("/snapshots/\(id)"))
      #expect(try await browser.text(".said-here").contains("It broke"))
      let created = proxy.requests.count { $0.method == "POST" && $0.target.hasPrefix("/uploads") }
      #expect(created == 2)
    }
  }
}
