import Foundation
import TestSupport
import Testing

/// Links to attach: their page, and the forms that make and revoke them.
extension WebPagesTests {
  func link(_ options: String..., on server: TestServer) async throws -> (url: URL, admin: String) {
    let admin = try await token("--scope", "admin")
    let outcome = try await Product.run(
      ["link", "--attach", "BUG-9", "--server", server.url.absoluteString] + options,
      environment: ["SNAPSHOT_TOKEN": admin])
    try #require(outcome.status == 0, "\(outcome.errors)")
    return (try #require(URL(string: outcome.lines[0])), admin)
  }

  @Test(arguments: [true, false])
  func `a customer attaches a bundle by a link, and sees nothing else`(hasScripts: Bool) async throws {
    try await withBrowser(width: hasScripts ? 1280 : 390, hasScripts: hasScripts) { server, browser in
      let (url, admin) = try await link("--count", "1", on: server)
      let (bundle, id) = try await Sample.bundle(in: folder)
      try await browser.open(url)
      #expect(try await browser.text("h1").contains("BUG-9"))
      #expect(try await fits(browser))
      #expect(try await !browser.has("a[href*='sign-in'], a[href*='/reports/'], a[href*='/snapshots/']"))
      try await browser.type(bundle.path, into: "#bundle")
      try await browser.type("It broke", into: "#upload-note")
      if hasScripts {
        try await browser.click(".upload button.main")
        try await browser.wait(for: "location.search.includes('done=attached')")
      } else {
        try await browser.follow(".upload button.main")
      }
      #expect(try await browser.text("main").contains("The snapshot was uploaded."))
      #expect(try await browser.text("main").contains("used up"))
      #expect(try await !browser.has("form.upload, [type=file]"))
      let shown = try await Product.run(
        ["list", "--report", "BUG-9", "--json", "--server", server.url.absoluteString],
        environment: ["SNAPSHOT_TOKEN": admin])
      #expect(shown.text.contains("\(id)"))
      #expect(shown.text.contains("It broke"))
    }
  }

  @Test func `an upload by a link continues after an interruption`() async throws {
    try await withBrowser { server, browser in
      let (url, _) = try await link(on: server)
      let (bundle, _) = try await Sample.bundle(in: folder)
      try await browser.addScript(
        """
        (() => {
          const {send, setRequestHeader} = XMLHttpRequest.prototype;
          XMLHttpRequest.prototype.setRequestHeader = function (name, value) {
            if (name === "Upload-Offset") sessionStorage.offsets = (sessionStorage.offsets ?? "") + value + " ";
            setRequestHeader.call(this, name, value);
          };
          XMLHttpRequest.prototype.send = function (body) {
            const count = sessionStorage.count = 1 + Number(sessionStorage.count ?? 0);
            if (count === 2) window.isHeld = true;
            else send.call(this, count === 1 ? body.slice(0, 300) : body);
          };
        })();
        """)
      for _ in 0..<2 {
        try await browser.open(url)
        try await browser.type(bundle.path, into: "#bundle")
        try await browser.click(".upload button.main")
        try await browser.wait(for: "window.isHeld || location.search.includes('done=attached')")
      }
      #expect(try await browser.evaluate("location.search.includes('done=attached')") == "true")
      #expect(try await browser.evaluate("sessionStorage.offsets.trim()") == "0 300 300")
    }
  }

  @Test func `a revoked link is named on its page, also during an upload`() async throws {
    try await withBrowser { server, browser in
      let (url, admin) = try await link(on: server)
      let (bundle, _) = try await Sample.bundle(in: folder)
      try await browser.open(url)
      let listed = try await Product.run(
        ["link", "--attach", "BUG-9", "--list", "--server", server.url.absoluteString],
        environment: ["SNAPSHOT_TOKEN": admin])
      let id = String(listed.lines[0].prefix(12))
      let revoked = try await Product.run(
        ["link", "--attach", "BUG-9", "--revoke", id, "--server", server.url.absoluteString],
        environment: ["SNAPSHOT_TOKEN": admin])
      #expect(revoked.status == 0, "\(revoked.errors)")
      try await browser.type(bundle.path, into: "#bundle")
      try await browser.click(".upload button.main")
      try await browser.wait(for: Self.status + ".includes('not valid any more')")
      try await browser.open(url)
      #expect(try await browser.text("main").contains("was revoked"))
      #expect(try await !browser.has("[type=file]"))
    }
  }

  @Test(arguments: [true, false])
  func `a member of the team makes a link for a report, and revokes it`(hasScripts: Bool) async throws {
    try await withBrowser(width: hasScripts ? 1280 : 390, hasScripts: hasScripts) { server, browser in
      let admin = try await token("--scope", "admin")
      try await browser.open(url("/reports/BUG-9", on: server))
      try await browser.type(admin, into: "#token")
      try await browser.follow("main form button")
      #expect(try await fits(browser))
      try await browser.follow("a[href$='/links']")
      #expect(try await fits(browser))
      try await browser.follow(".attach-links > form button")
      let link = try await browser.text("code.whole")
      #expect(link.hasPrefix(server.address("/attach?link=snapshot_")))
      #expect(try await fits(browser))
      try await browser.open(url("/reports/BUG-9/links", on: server))
      #expect(try await browser.text(".attach-links").contains("0 of 5 snapshots"))
      try await browser.follow(".attach-links li button")
      #expect(try await browser.text("main").contains("The link is revoked."))
      #expect(try await !browser.has(".attach-links li"))
    }
  }
}
