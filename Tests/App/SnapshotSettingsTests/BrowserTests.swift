import DataSnapshots
import Foundation
import HTTPEngine
import HTTPTypes
import Logging
import SnapshotClient
import SnapshotFormat
import SnapshotSettings
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// A tester's use of the page in a real browser, with a real `BugReporter` and a real snapshot server.
@Suite(
  .serialized, .timeLimit(.minutes(5 * Sanitizer.slowness)),
  .enabled(if: Browser.isInstalled, "Install chromium and chromium-driver: make setup"))
struct BrowserTests {
  private final class Network: Sendable {
    private let state = Lock(true)
    var isThere: Bool {
      get { state.withLock { $0 } }
      set { state.withLock { $0 = newValue } }
    }
  }

  /// An app, and a browser that shows its settings.
  private struct Scene {
    let app: SampleApp
    let queue: UploadQueue
    let network: Network
    let link: URL
    let browser: Browser
  }

  /// Runs `body` with an app, its settings' link and a browser, and stops all of them afterwards.
  private func withBrowser(_ body: (Scene) async throws -> Void) async throws {
    let snapshots = try await SampleServer()
    let network = Network()
    var configuration = UploadQueue.Configuration()
    configuration.network = .onlyWiFi { network.isThere }
    let (app, queue) = try SampleApp(server: snapshots.url).reporting(configuration)
    let settings = BetaSettingsServer(app.settings)
    let link = try await settings.start()
    try await Browser.run { browser in
      try await body(Scene(app: app, queue: queue, network: network, link: link, browser: browser))
    }
    await settings.stop()
    await queue.close()
    await snapshots.stop()
  }

  @Test func `a tester records and uploads, pastes the UUID, and sees the app replay`() async throws {
    try await withBrowser { scene in
      let (app, link, browser) = (scene.app, scene.link, scene.browser)
      try await browser.open(link)
      try await browser.wait(for: "document.title === 'Beta Settings' && location.search === ''")

      try await browser.click("#state-recording")
      try await browser.wait(for: "document.querySelector('#state-recording').ariaPressed === 'true'")
      #expect(app.mode.state == .recording)
      #expect(try await browser.text("#module-0-title").contains("2 missing"))
      app.show("forecast/today", live: "sunny")
      app.show("forecast/week", live: "mixed")
      // The page refreshes automatically.
      try await browser.wait(for: "document.querySelector('#module-0-title').innerText.includes('Complete')")
      #expect(try await browser.text("#module-1-title").contains("1 missing"))

      try await browser.type("BUG-123", into: "#report")
      try await browser.click("form[action='/upload'] button")
      try await browser.wait(for: "document.querySelector('#outcome.done .uuid')")
      let uuid = try await browser.text("#outcome .uuid")
      let id = try #require(SnapshotID(uuid))
      #expect(try await browser.text("#recent").contains(uuid))
      try await browser.wait(for: "document.querySelector('#queue').innerText.includes('Sent')")
      #expect(try await browser.text("#queue").contains("BUG-123"))
      #expect(scene.queue.items.map(\.id) == [id])
      // The server has stored the snapshot.
      #expect(try await app.client.page(of: ReportID(validating: "BUG-123")).records.map(\.id) == [id])

      try await app.settings.clearRecordings()
      // The page moves when it refreshes, and a click at that moment misses its target.
      try await browser.wait(for: "document.querySelector('#module-0-title').innerText.includes('missing')")
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

  @Test func `a waiting upload is shown with its reason, starts when it is permitted, and can be cancelled`()
    async throws
  {
    try await withBrowser { scene in
      let (app, link, browser) = (scene.app, scene.link, scene.browser)
      scene.network.isThere = false
      app.recordAll()
      try await browser.open(link)
      try await browser.wait(for: "document.title === 'Beta Settings' && location.search === ''")
      for report in ["BUG-1", "BUG-2"] {
        try await browser.type(report, into: "#report")
        try await browser.click("form[action='/upload'] button")
        try await browser.wait(
          for: "document.querySelector('#outcome.done')?.innerText.includes('made for \(report)')")
      }
      try await browser.wait(
        for: "document.querySelector('#queue').innerText.split('no permitted network').length === 3"
      )
      let names =
        "[...document.querySelectorAll('#queue .actions button')].map((button) => button.textContent)"
      #expect(try await browser.evaluate("new Set(\(names)).size") == "2")
      let (first, second) = (scene.queue.items[0].id, scene.queue.items[1].id)

      try await browser.click("#remove-\(first)")
      try await browser.wait(for: "!document.querySelector('#remove-\(first)')")
      #expect(scene.queue.items.map(\.id) == [second])

      scene.network.isThere = true
      scene.queue.networkChanged()
      // The page refreshes automatically.
      try await browser.wait(for: "document.querySelector('#queue').innerText.includes('Sent')")
      #expect(try await app.client.page().records.map(\.id) == [second])
    }
  }

  @Test(arguments: ["same-origin", "no-referrer"])
  func `a form of another server on this machine has no effect, although the browser sends the cookie`(
    policy: String
  ) async throws {
    try await withBrowser { scene in
      let (app, link, browser) = (scene.app, scene.link, scene.browser)
      try await browser.open(link)
      try await browser.wait(for: "document.title === 'Beta Settings' && location.search === ''")
      let settings = "http://127.0.0.1:\(try #require(link.port))"
      let server = HTTPServer(
        configuration: .init(port: 0), handler: ForeignPage(target: settings, policy: policy), logger: .quiet
      )
      let address = try await server.start()
      try await browser.open(try #require(URL(string: "http://127.0.0.1:\(address.port)/")))
      try await browser.click("#go")
      try await browser.wait(for: "document.title.startsWith('Request from another site')")
      #expect(app.mode.state == .disabled)
      await server.shutdown(deadline: .zero)
    }
  }

  @Test(arguments: ["light", "dark"])
  func `all text has a contrast of at least 4.5`(scheme: String) async throws {
    try await withBrowser { scene in
      let (app, link, browser) = (scene.app, scene.link, scene.browser)
      let media: [String: Any] = ["features": [["name": "prefers-color-scheme", "value": scheme]]]
      try await browser.command("Emulation.setEmulatedMedia", media)
      try await browser.open(link)
      try await browser.wait(for: "document.title === 'Beta Settings' && location.search === ''")
      let isDark = try await browser.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
      #expect(isDark == "\(scheme == "dark")")
      app.settings.state = .recording
      app.show("forecast/today", live: "sunny")
      app.show("user/profile", live: "Ada")
      app.show("in/no/module", live: "x")
      try await browser.type("BUG-123", into: "#report")
      try await browser.click("form[action='/upload'] button")
      try await browser.wait(for: "document.querySelector('#queue').innerText.includes('Sent')")
      #expect(try await browser.evaluate(Self.poorContrasts) == "")
      try await browser.type("\(SnapshotID())", into: "#snapshot")
      try await browser.click("form[action='/activate'] button")
      try await browser.wait(for: "document.querySelector('#outcome.failed')")
      #expect(try await browser.evaluate(Self.poorContrasts) == "")
      try await browser.type("not a UUID", into: "#snapshot")
      try await browser.click("form[action='/activate'] button")
      try await browser.wait(for: "document.title === 'Error – Beta Settings'")
      #expect(try await browser.evaluate(Self.poorContrasts) == "")
    }
  }

  /// Lists the texts whose contrast is below that of WCAG 2.2, 1.4.3.
  private static let poorContrasts = """
    (() => {
      const parts = (color) => color.match(/[\\d.]+/g).map(Number);
      const linear = (part) => part <= 10.03 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4;
      const light = ([red, green, blue]) =>
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
      const back = (element) => {
        const color = element ? parts(getComputedStyle(element).backgroundColor) : [255, 255, 255];
        return color[3] === 0 ? back(element.parentElement) : color;
      };
      return [...document.querySelectorAll("body *")].filter((element) => {
        const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
        if (!hasText || !element.checkVisibility()) return false;
        const lights = [light(parts(getComputedStyle(element).color)), light(back(element))];
        return (Math.max(...lights) + 0.05) / (Math.min(...lights) + 0.05) < 4.5;
      }).map((element) => element.innerText).join("; ");
    })()
    """

  @Test func `invalid input is reported beside the field, which has the focus`() async throws {
    try await withBrowser { scene in
      let (link, browser) = (scene.link, scene.browser)
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

  @Test func `the page works without JavaScript`() async throws {
    try await withBrowser { scene in
      let (app, link, browser) = (scene.app, scene.link, scene.browser)
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
      // While an operation is running, the page refreshes automatically.
      while try await !browser.source.contains("id=\"activate-\(id)\"") {}
      try await browser.click("#activate-\(id)")
      while app.mode.activeManifest?.id != id { _ = try await browser.source }
      while try await !browser.source.contains("Snapshot active") {}
    }
  }

  @Test func `the page fits a phone, and every control has a name`() async throws {
    try await withBrowser { scene in
      let (app, link, browser) = (scene.app, scene.link, scene.browser)
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

/// A page that tries to use the settings at `target`.
private struct ForeignPage: HTTPHandler {
  let target: String
  let policy: String

  func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    let html = """
      <!DOCTYPE html><title>Elsewhere</title><meta name="referrer" content="\(policy)">
      <form method="post" action="\(target)/state"><button id="go" name="state" value="recording">Go</button></form>
      """
    return HTTPServerResponse(
      status: .ok, headerFields: [.contentType: "text/html; charset=utf-8"], body: .bytes(Array(html.utf8)))
  }
}
