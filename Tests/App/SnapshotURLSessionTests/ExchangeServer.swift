import DataSnapshots
import Foundation
import HTTPEngine
import HTTPTypes
import Logging
import SnapshotFormat
import SnapshotURLSession
import SystemIO
import TestSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The server of an app. Its answers contain the number of the request.
final class ExchangeServer: HTTPHandler {
  private struct State {
    var count = 0
    var requests: [String] = []
    var fields: [HTTPFields] = []
  }

  private let state = Lock(State())
  /// Fired when a request to `/stall` arrives.
  let isStalled = Signal()

  /// The requests, such as `GET /feed`.
  var requests: [String] { state.withLock { $0.requests } }
  var fields: [HTTPFields] { state.withLock { $0.fields } }

  func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    let target = request.path + (request.query.map { "?" + $0 } ?? "")
    let body = try await request.body.collect(upTo: 32 << 20)
    let count = state.withLock { state in
      state.count += 1
      state.requests.append("\(request.method) \(target)")
      state.fields.append(request.headerFields)
      return state.count
    }
    let words = request.path.split(separator: "/")
    switch words.first {
    case "status":
      return answer(.init(code: Int(words[1]) ?? 500), "status \(count)")
    case "redirect":
      var fields: HTTPFields = [.contentType: "text/plain"]
      fields[.location] = request.query ?? "/feed"
      return HTTPServerResponse(
        status: .init(code: Int(words[1]) ?? 302), headerFields: fields, body: .bytes(Array("moved".utf8)))
    case "stall":
      isStalled.fire()
      try await Signal.waitForCancellation()
      return answer(.ok, "never")
    case "echo":
      return answer(.ok, "\(request.method) " + String(decoding: body, as: UTF8.self))
    case "gzip":
      let packed = "H4sIAAAAAAACA6tWKsksyUlVslIqSEzOTk1RqgUAYC9OZxIAAAA="
      return HTTPServerResponse(
        status: .ok,
        headerFields: [.contentType: "application/json", .contentEncoding: "gzip"],
        body: .bytes(Array(Data(base64Encoded: packed) ?? Data())))
    case "bytes":
      let size = Int(words[1]) ?? 0
      return HTTPServerResponse(
        status: .ok, headerFields: [.contentType: "application/octet-stream"],
        body: .bytes((0..<size).map { UInt8(ascii: "a") + UInt8(truncatingIfNeeded: $0 % 26) }))
    case "secret":
      return HTTPServerResponse(
        status: .ok,
        headerFields: [.contentType: "application/json", .setCookie: "session=s3cr3t; Path=/"],
        body: .bytes(Array(#"{"token":"s3cr3t"}"#.utf8)))
    default:
      return answer(.ok, "answer \(count)")
    }
  }

  private func answer(_ status: HTTPResponse.Status, _ text: String) -> HTTPServerResponse {
    HTTPServerResponse(
      status: status, headerFields: [.contentType: "text/plain"], body: .bytes(Array(text.utf8)))
  }
}

/// An app that speaks URLSession, with a mode and a server of its own.
struct SessionApp {
  let server = ExchangeServer()
  let engine: HTTPServer
  let port: UInt16
  let temporary: TemporaryFolder
  let events = EventList()
  let mode: SnapshotMode

  /// Starts the server.
  static func with(
    _ change: (inout SnapshotMode.Configuration) -> Void = { _ in },
    _ body: (SessionApp) async throws -> Void
  ) async throws {
    let app = try await SessionApp(change)
    do {
      try await body(app)
    } catch {
      await app.close()
      throw error
    }
    await app.close()
  }

  private init(_ change: (inout SnapshotMode.Configuration) -> Void) async throws {
    temporary = try TemporaryFolder()
    engine = HTTPServer(
      configuration: .init(port: 0), handler: server,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    port = try await engine.start().port
    var configuration = SnapshotMode.Configuration()
    configuration.onEvent = { [events] event in events.all.withLock { $0.append(event) } }
    change(&configuration)
    mode = SnapshotMode(folder: temporary.file("storage"), configuration: configuration)
  }

  private func close() async {
    await engine.shutdown(deadline: .zero)
    await mode.close()
  }

  func url(_ path: String) throws -> URL {
    struct NoURL: Error {}
    guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { throw NoURL() }
    return url
  }

  func session(
    rules: ExchangeRules = ExchangeRules(), delegate: (any URLSessionDelegate)? = nil,
    _ change: (URLSessionConfiguration) -> Void = { _ in }
  ) -> URLSession {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    change(configuration)
    return URLSession(
      configuration: mode.record(configuration, rules: rules), delegate: delegate, delegateQueue: nil)
  }

  /// The text of the answer, behind its status unless that is 200.
  func text(_ session: URLSession, _ request: URLRequest) async throws -> String {
    let (data, response) = try await session.data(for: request)
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    return (status == 200 ? "" : "\(status) ") + String(decoding: data, as: UTF8.self)
  }

  func get(_ session: URLSession, _ path: String) async throws -> String {
    try await text(session, URLRequest(url: url(path)))
  }

  func post(
    _ session: URLSession, _ path: String, _ body: String, method: String = "POST"
  ) async throws -> String {
    var request = URLRequest(url: try url(path))
    request.httpMethod = method
    request.httpBody = Data(body.utf8)
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    return try await text(session, request)
  }

  /// Makes a snapshot of the recordings.
  func pack() async throws -> (zip: URL, manifest: Manifest) {
    let zip = temporary.file("\(SnapshotID()).zip")
    return (zip, try await mode.makeSnapshot(to: zip).manifest)
  }

  /// Replays what was recorded, from a snapshot.
  func replay() async throws { try await mode.activate(bundle: await pack().zip) }
}

final class EventList: Sendable {
  let all = Lock<[SnapshotMode.Event]>([])

  var kinds: [SnapshotMode.Event.Kind] { all.withLock { $0.map(\.kind) } }
  var texts: [String] { all.withLock { $0.map { "\($0)" } } }
}
