public import Foundation

/// A headless Chromium, controlled with WebDriver (W3C).
public struct Browser: Sendable {
  /// Whether Chromium and its driver are in PATH.
  public static var isInstalled: Bool { Tool.find("chromedriver") != nil && Tool.find("chromium") != nil }

  private static let elementKey = "element-6066-11e4-a52e-4f735466cecf"

  private let driver: RunningProgram
  private let port: UInt16
  private let session: String

  /// Starts a driver on a free port, and a browser, which runs scripts if `hasScripts` is set.
  public init(width: Int = 1280, height: Int = 900, hasScripts: Bool = true) async throws {
    driver = try await Self.startDriver()
    port = UInt16(driver.firstLine) ?? 0
    let arguments = [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
      "--window-size=\(width),\(height)",
      // While the page scrolls smoothly, a click misses its target.
      "--force-prefers-reduced-motion",
    ]
    let scripts = ["profile.managed_default_content_settings.javascript": hasScripts ? 1 : 2]
    let options: [String: Any] = [
      "browserName": "chrome", "goog:chromeOptions": ["args": arguments, "prefs": scripts],
    ]
    let timeouts = ["script": 120_000, "pageLoad": 60_000]
    let capabilities: [String: Any] = [
      "capabilities": ["alwaysMatch": options.merging(["timeouts": timeouts]) { old, _ in old }]
    ]
    let answer = try await Self.call(port, "POST", "/session", capabilities)
    guard let session = (answer as? [String: Any])?["sessionId"] as? String else {
      throw Failure(description: "no session: \(answer)")
    }
    self.session = session
    // A window cannot be as narrow as a phone.
    let screen: [String: Any] = [
      "width": width, "height": height, "screenWidth": width, "screenHeight": height, "deviceScaleFactor": 1,
      "mobile": width < 500,
    ]
    try await command("Emulation.setDeviceMetricsOverride", screen)
  }

  /// Starts the driver, and tries again if that fails: it selects a free port for IPv4 and then needs the same port for
  /// IPv6, which another process can have taken.
  private static func startDriver(attempts: Int = 5) async throws -> RunningProgram {
    // `exec` makes the driver the process. Its output is reduced to the port.
    let script =
      #"exec chromedriver --port=0 > >(sed -u -n 's/.*started successfully on port \([0-9]*\).*/\1/p')"#
    do {
      return try await RunningProgram("/bin/bash", ["-c", script])
    } catch let failure as RunningProgram.Failure where attempts > 1 {
      guard failure.errors.contains("Address already in use") else { throw failure }
      return try await startDriver(attempts: attempts - 1)
    }
  }

  /// An error of the driver.
  public struct Failure: Error, CustomStringConvertible {
    /// The message of the driver.
    public let description: String

    var isTimeout: Bool { description.contains(#""error":"timeout""#) }
  }

  /// Runs `body` with a browser, and closes it afterwards.
  public static func run<Value>(
    width: Int = 1280, hasScripts: Bool = true, _ body: (Browser) async throws -> Value
  ) async throws -> Value {
    let browser = try await Browser(width: width, hasScripts: hasScripts)
    let value: Value
    do {
      value = try await body(browser)
    } catch {
      // A browser that no longer answers must not hide the reason.
      do { try await browser.quit() } catch let second { print("The browser was not closed: \(second)") }
      throw error
    }
    try await browser.quit()
    return value
  }

  /// Closes the browser, and ends the driver.
  public func quit() async throws {
    // The driver was started by a thread that blocks gentler signals, and inherits the mask. Its end is not awaited,
    // because helper processes of the browser can exist a little longer.
    defer { kill(driver.identifier, SIGKILL) }
    _ = try await call("DELETE", "")
  }

  /// Opens a page, and waits until it is loaded.
  public func open(_ url: URL) async throws {
    try await repeatingAfterTimeout { _ = try await call("POST", "/url", ["url": url.absoluteString]) }
  }

  /// Repeats `work` if the driver reports a timeout: when a page replaces itself on a busy machine, the driver can miss
  /// that it was loaded.
  private func repeatingAfterTimeout<Value>(_ work: () async throws -> Value) async throws -> Value {
    for _ in 1...2 {
      do { return try await work() } catch let failure as Failure where failure.isTimeout { continue }
    }
    return try await work()
  }

  /// The address of the open page.
  public var url: String { get async throws { try await call("GET", "/url") as? String ?? "" } }

  /// The HTML of the page.
  public var source: String { get async throws { try await call("GET", "/source") as? String ?? "" } }

  /// Clicks the element that matches a CSS selector.
  public func click(_ selector: String) async throws {
    let element = try await element(selector)
    do {
      _ = try await call("POST", "/element/\(element)/click", [:])
    } catch let failure as Failure where failure.isTimeout {
      // The element was clicked; the driver missed that the next page was loaded.
    }
  }

  /// Clicks a link or a submit button, and waits for the next page.
  ///
  /// The driver can report the end of the click before the browser leaves the page, so the old page could be read
  /// again.
  public func follow(_ selector: String) async throws {
    let left = try await element(selector)
    _ = try await call("POST", "/element/\(left)/click", [:])
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline {
      do {
        _ = try await call("GET", "/element/\(left)/name")
      } catch let failure as Failure where failure.description.contains("stale element reference") {
        return
      } catch let failure as Failure where failure.description.contains("does not belong to the document") {
        // The browser is between the two pages.
      }
    }
    throw Failure(description: "no page follows after \(selector)")
  }

  /// Types text into an element.
  public func type(_ text: String, into selector: String) async throws {
    _ = try await call("POST", "/element/\(try await element(selector))/value", ["text": text])
  }

  /// Presses keys one after the other, wherever the focus is.
  public func press(_ keys: Key...) async throws { try await press(keys) }

  /// Presses keys one after the other, wherever the focus is.
  public func press(_ keys: [Key]) async throws {
    let actions = keys.flatMap { key in
      ["keyDown", "keyUp"].map { ["type": $0, "value": key.rawValue] }
    }
    let keyboard: [String: Any] = ["type": "key", "id": "keyboard", "actions": actions]
    _ = try await call("POST", "/actions", ["actions": [keyboard]])
  }

  /// A key, by its code in WebDriver.
  public enum Key: String, Sendable {
    case tab = "\u{E004}"
    case enter = "\u{E007}"
    case left = "\u{E012}"
    case right = "\u{E014}"
    case up = "\u{E013}"
    case down = "\u{E015}"
    case slash = "/"
    case c, f, n, p
  }

  /// Executes `script` in each page before its own scripts.
  public func addScript(_ script: String) async throws {
    try await command("Page.addScriptToEvaluateOnNewDocument", ["source": script])
  }

  /// Calls a JavaScript function with a callback as its only argument, and returns what it is called with as text.
  public func result(ofAsync function: String) async throws -> String {
    let script = "const done = arguments[0]; (\(function))(value => done(String(value)))"
    return try await call("POST", "/execute/async", ["script": script, "args": [String]()]) as? String ?? ""
  }

  /// The visible text of an element.
  public func text(_ selector: String) async throws -> String {
    try await call("GET", "/element/\(try await element(selector))/text") as? String ?? ""
  }

  /// Waits in the page until a JavaScript expression is true.
  public func wait(for condition: String) async throws {
    let script = """
      const done = arguments[0];
      const look = () => { if (\(condition)) done(true); else setTimeout(look, 25); };
      look();
      """
    // If the page is replaced meanwhile, the call fails, sometimes with an early timeout. The wait then starts again in
    // the new page.
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      do {
        _ = try await call("POST", "/execute/async", ["script": script, "args": [String]()])
        return
      } catch let failure as Failure {
        guard ContinuousClock.now < deadline else {
          throw Failure(description: "never true: \(condition); \(failure)")
        }
      }
    }
  }

  /// The value of a JavaScript expression as text.
  public func evaluate(_ expression: String) async throws -> String {
    let value = try await call(
      "POST", "/execute/sync", ["script": "return String(\(expression))", "args": [String]()])
    return value as? String ?? ""
  }

  /// A screenshot as PNG.
  public func screenshot() async throws -> Data {
    let text = try await call("GET", "/screenshot") as? String ?? ""
    return Data(base64Encoded: text) ?? Data()
  }

  /// Whether an element exists.
  public func has(_ selector: String) async throws -> Bool {
    let found = try await call("POST", "/elements", ["using": "css selector", "value": selector])
    return (found as? [Any])?.isEmpty == false
  }

  /// Sends a command of Chromium's DevTools protocol.
  public func command(_ name: String, _ parameters: [String: Any]) async throws {
    _ = try await call("POST", "/goog/cdp/execute", ["cmd": name, "params": parameters])
  }

  private func element(_ selector: String) async throws -> String {
    let found = try await repeatingAfterTimeout {
      try await call("POST", "/element", ["using": "css selector", "value": selector])
    }
    guard let id = (found as? [String: Any])?[Self.elementKey] as? String else {
      throw Failure(description: "no element \(selector)")
    }
    return id
  }

  private func call(
    _ method: String, _ path: String, _ parameters: [String: Any]? = nil
  ) async throws -> Any {
    try await Self.call(port, method, "/session/\(session)\(path)", parameters)
  }

  private static func call(
    _ port: UInt16, _ method: String, _ path: String, _ parameters: [String: Any]?
  ) async throws -> Any {
    let body = try parameters.map { [UInt8](try JSONSerialization.data(withJSONObject: $0)) } ?? []
    let response = try await RawHTTPClient.run {
      let client = try RawHTTPClient(port: port, timeoutSeconds: 120)
      let head = """
        \(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Type: application/json\r\n\
        Content-Length: \(body.count)\r\nConnection: close\r\n\r\n
        """
      try client.send(Array(head.utf8) + body)
      return try client.receiveResponse()
    }
    let json = try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any]
    guard response.status == 200, let value = json?["value"] else {
      throw Failure(description: "\(path): \(response.text.prefix(1000))")
    }
    return value
  }
}
