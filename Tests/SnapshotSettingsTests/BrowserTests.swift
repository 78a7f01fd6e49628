import DataSnapshots
import Foundation
import SnapshotFormat
import SnapshotSettings
import TestSupport
import Testing

/// The page as a person uses it, in a real browser, against a real snapshot server.
@Suite(
  .serialized, .timeLimit(.minutes(3 * Sanitizer.slowness)),
  .enabled(if: Browser.isInstalled, "Install chromium and chromium-driver: make setup"))
struct BrowserTests {
  /// Runs `body` with an app, its settings' link and a browser; all of them are gone afterwards.
  private func withBrowser(_ body: (SampleApp, URL, Browser) async throws -> Void) async throws {
    let snapshots = try await SampleServer()
    let app = try SampleApp(server: snapshots.url)
    let settings = BetaSettingsServer(app.settings)
    let link = try await settings.start()
    let browser = try await Browser()
    do {
      try await body(app, link, browser)
    } catch {
      try await browser.quit()
      throw error
    }
    try await browser.quit()
    await settings.stop()
    await snapshots.stop()
  }

  @Test func `a tester records and uploads, pastes the UUID, and sees the app replay`() async throws {
    try await withBrowser { app, link, browser in
      try await browser.open(link)
      try await browser.wait(for: "document.title === 'Beta Settings' && location.search === ''")

      try await browser.click("#state-recording")
      try await browser.wait(for: "document.querySelector('#state-recording').ariaPressed === 'true'")
      #expect(app.mode.state == .recording)
      #expect(try await browser.text("#module-0-title").contains("2 missing"))
      app.show("forecast/today", live: "sunny")
      app.show("forecast/week", live: "mixed")
      // Nobody reloads: the page sees to that.
      try await browser.wait(for: "document.querySelector('#module-0-title').innerText.includes('Complete')")
      #expect(try await browser.text("#module-1-title").contains("1 missing"))

      try await browser.type("BUG-123", into: "#report")
      try await browser.click("form[action='/upload'] button")
      try await browser.wait(for: "document.querySelector('#outcome.done .uuid')")
      let uuid = try await browser.text("#outcome .uuid")
      let id = try #require(SnapshotID(uuid))
      #expect(try await browser.text("#recent").contains(uuid))
      try await browser.wait(for: "document.querySelector('#queue').innerText.includes('Sent')")

      try await app.settings.clearRecordings()
      try await browser.type("  \(uuid.uppercased()) ", into: "#snapshot")
      try await browser.click("form[action='/activate'] button")
      try await browser.wait(for: "document.querySelector('#mode').innerText.includes('com.example.weather')")
      #expect(app.mode.activeManifest?.id == id)
      #expect(app.show("forecast/today", live: "rain") == "sunny")
      #expect(try await browser.evaluate("document.querySelector('#state-replaying').ariaPressed") == "true")

      try await browser.click("#deactivate")
      try await browser.wait(for: "document.querySelector('#outcome').innerText.includes('live data again')")
      #expect(app.show("forecast/today", live: "rain") == "rain")
    }
  }

  @Test func `what was entered wrongly is told beside the field, which has the focus`() async throws {
    try await withBrowser { _, link, browser in
      try await browser.open(link)
      try await browser.wait(for: "document.title === 'Beta Settings'")
      try await browser.type("not a UUID", into: "#snapshot")
      try await browser.click("form[action='/activate'] button")
      try await browser.wait(for: "document.title === 'Error – Beta Settings'")
      #expect(try await browser.text("#snapshot-mistake").contains("is neither a UUID"))
      #expect(try await browser.evaluate("document.activeElement.id") == "snapshot")
      #expect(try await browser.evaluate("document.activeElement.value") == "not a UUID")
    }
  }

  @Test func `all of it works without a script`() async throws {
    try await withBrowser { app, link, browser in
      try await browser.command("Emulation.setScriptExecutionDisabled", ["value": true])
      try await browser.open(link)
      while try await browser.url.contains("token") {}
      try await browser.click("#state-recording")
      while app.mode.state != .recording { _ = try await browser.source }
      app.recordAll()
      try await browser.type("BUG-123", into: "#report")
      try await browser.click("form[action='/upload'] button")
      while await app.settings.overview().activity?.snapshot == nil { _ = try await browser.source }
      let id = try #require(await app.settings.overview().activity?.snapshot)
      // While something goes on the page comes again by itself.
      while try await !browser.source.contains("id=\"activate-\(id)\"") {}
      try await browser.click("#activate-\(id)")
      while app.mode.activeManifest?.id != id { _ = try await browser.source }
      while try await !browser.source.contains("Snapshot active") {}
    }
  }

  @Test func `the page fits a phone, and every control has a name`() async throws {
    try await withBrowser { app, link, browser in
      app.recordAll()
      app.mode.register(
        module: String(repeating: "long", count: 40), files: [String(repeating: "x/", count: 100)])
      try await browser.command(
        "Emulation.setDeviceMetricsOverride",
        ["width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": true])
      try await browser.open(link)
      try await browser.wait(for: "document.title === 'Beta Settings'")
      #expect(try await browser.evaluate("document.documentElement.scrollWidth <= 360") == "true")
      let nameless = try await browser.evaluate(
        """
        [...document.querySelectorAll('input:not([type=hidden])')].filter((field) => !field.labels.length).length \
        + [...document.querySelectorAll('button')].filter((button) => !button.textContent.trim()).length
        """)
      #expect(nameless == "0")
      #expect(
        try await browser.evaluate("document.querySelectorAll('h1, main, [role=status]').length") == "3")
      let ids = "[...document.querySelectorAll('[id]')].map((element) => element.id)"
      #expect(try await browser.evaluate("new Set(\(ids)).size === \(ids).length") == "true")
    }
  }
}
