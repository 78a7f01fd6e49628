import Foundation
import HTTPTransport
import HTTPTypes
import SnapshotClient
import TestSupport

/// A headless Chromium, driven by WebDriver (W3C).
struct Browser: Sendable {
  /// Whether a browser and its driver are on PATH.
  static var isInstalled: Bool { Tool.find("chromedriver") != nil && Tool.find("chromium") != nil }

  private static let elementKey = "element-6066-11e4-a52e-4f735466cecf"

  private let driver: RunningProgram
  private let authority: String
  private let transport: any Transport = SnapshotAPIClient.makeDefaultTransport()
  private let session: String

  /// Starts a driver on a port that it chooses, and a browser with it.
  init(width: Int = 1280, height: Int = 900) async throws {
    driver = try await Self.startDriver()
    authority = "127.0.0.1:\(driver.firstLine)"
    let arguments = [
      "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
      "--window-size=\(width),\(height)",
    ]
    let options: [String: Any] = ["browserName": "chrome", "goog:chromeOptions": ["args": arguments]]
    let capabilities: [String: Any] = ["capabilities": ["alwaysMatch": options]]
    let answer = try await Self.call(transport, authority, .post, "/session", capabilities)
    guard let session = (answer as? [String: Any])?["sessionId"] as? String else {
      throw Failure(description: "no session: \(answer)")
    }
    self.session = session
  }

  /// Starts the driver, again where that fails: it takes a free port for IPv4 and then wants the same for IPv6, which
  /// somebody else may have by then.
  private static func startDriver(attempts: Int = 5) async throws -> RunningProgram {
    // The driver is the process; what it says is cut to the port, which is all that is waited for.
    let script =
      #"exec chromedriver --port=0 > >(sed -u -n 's/.*started successfully on port \([0-9]*\).*/\1/p')"#
    do {
      return try await RunningProgram("/bin/bash", ["-c", script])
    } catch let failure as RunningProgram.Failure where attempts > 1 {
      guard failure.errors.contains("Address already in use") else { throw failure }
      return try await startDriver(attempts: attempts - 1)
    }
  }

  /// What the driver says is wrong.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Closes the browser, and ends the driver.
  func quit() async throws {
    _ = try await call(.delete, "")
    // It was started by a thread that blocks the gentler signals, and blocks them too; its end is not waited for,
    // because helpers of the browser may outlive it for a moment.
    kill(driver.identifier, SIGKILL)
  }

  func open(_ url: URL) async throws { _ = try await call(.post, "/url", ["url": url.absoluteString]) }

  var url: String { get async throws { try await call(.get, "/url") as? String ?? "" } }

  var source: String { get async throws { try await call(.get, "/source") as? String ?? "" } }

  /// Clicks the element that a CSS selector finds, and waits for the page that comes of it.
  func click(_ selector: String) async throws {
    _ = try await call(.post, "/element/\(try await element(selector))/click", [:])
  }

  /// Types into an element.
  func type(_ text: String, into selector: String) async throws {
    _ = try await call(.post, "/element/\(try await element(selector))/value", ["text": text])
  }

  /// The text of an element, as it is seen.
  func text(_ selector: String) async throws -> String {
    try await call(.get, "/element/\(try await element(selector))/text") as? String ?? ""
  }

  /// Waits in the page until a JavaScript expression is true.
  func wait(for condition: String) async throws {
    let script = """
      const done = arguments[0];
      const look = () => { if (\(condition)) done(true); else setTimeout(look, 25); };
      look();
      """
    // A page that another one takes the place of meanwhile ends the wait, as a timeout at times, long before its time:
    // then it begins anew there.
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      do {
        _ = try await call(.post, "/execute/async", ["script": script, "args": [String]()])
        return
      } catch let failure as Failure {
        guard ContinuousClock.now < deadline else {
          throw Failure(description: "never true: \(condition); \(failure)")
        }
      }
    }
  }

  /// What a JavaScript expression gives, as text.
  func evaluate(_ expression: String) async throws -> String {
    let value = try await call(
      .post, "/execute/sync", ["script": "return String(\(expression))", "args": [String]()])
    return value as? String ?? ""
  }

  /// A picture of what is seen, as PNG.
  func screenshot() async throws -> Data {
    let text = try await call(.get, "/screenshot") as? String ?? ""
    return Data(base64Encoded: text) ?? Data()
  }

  /// Sends a command of Chromium's own protocol.
  func command(_ name: String, _ parameters: [String: Any]) async throws {
    _ = try await call(.post, "/goog/cdp/execute", ["cmd": name, "params": parameters])
  }

  private func element(_ selector: String) async throws -> String {
    let found = try await call(.post, "/element", ["using": "css selector", "value": selector])
    guard let id = (found as? [String: Any])?[Self.elementKey] as? String else {
      throw Failure(description: "no element \(selector)")
    }
    return id
  }

  private func call(
    _ method: HTTPRequest.Method, _ path: String, _ parameters: [String: Any]? = nil
  ) async throws -> Any {
    try await Self.call(transport, authority, method, "/session/\(session)\(path)", parameters)
  }

  private static func call(
    _ transport: any Transport, _ authority: String, _ method: HTTPRequest.Method, _ path: String,
    _ parameters: [String: Any]?
  ) async throws -> Any {
    var request = HTTPRequest(method: method, scheme: "http", authority: authority, path: path)
    request.headerFields[.contentType] = "application/json"
    let body = try parameters.map { TransportBody.bytes(try JSONSerialization.data(withJSONObject: $0)) }
    let response = try await transport.send(
      request, body: body ?? .none, destination: .memory(limit: 64 << 20), timeouts: .init(), events: nil)
    let json = try JSONSerialization.jsonObject(with: response.body) as? [String: Any]
    guard response.head.status == .ok, let value = json?["value"] else {
      throw Failure(description: "\(path): \(String(decoding: response.body.prefix(1000), as: UTF8.self))")
    }
    return value
  }
}
