import DataSnapshots
import Foundation
import HTTPEngine
import HTTPTypes
import Logging
import Redaction
import ReplayServer
import SnapshotFormat
import SystemIO
import TestSupport

/// A snapshot with recordings of a test.
struct ReplayFixture {
  private let folder: TemporaryFolder
  private var sources: [SnapshotBundle.Source] = []
  private var counts: [String: Int] = [:]
  var redactions: [String] = []
  var rules = ExchangeRules()

  init() throws { folder = try TemporaryFolder() }

  /// Adds data that is not an exchange.
  mutating func add(_ identifier: String, _ body: String) throws {
    try add(identifier, Data(body.utf8), nil, request: Data())
  }

  /// Adds an exchange. Those with the same identifier are a history.
  mutating func add(
    _ method: String = "GET", url: String, sending request: String = "",
    redactor: Redactor = Redactor(rules: []),
    _ status: Int? = 200, _ fields: KeyValuePairs<String, String> = [:], _ body: String = "",
    redirect: String? = nil, failure: Int? = nil, duration: Int = 0
  ) throws {
    guard let address = URL(string: url) else { throw CocoaError(.fileReadUnknown) }
    let identifier = rules.identifier(method: method, url: address, body: Data(request.utf8), redactor)
    let exchange = Manifest.Exchange(
      request: .init(method: method, url: url),
      response: status.map { .init(status: $0, fields: fields.map { .init($0.key, $0.value) }) },
      redirect: redirect.map { .init(method: "GET", url: $0) },
      failure: failure.map { .init(domain: "NSURLErrorDomain", code: $0) }, startedAt: Date(),
      duration: duration)
    try add(identifier, Data(body.utf8), exchange, request: Data(request.utf8))
  }

  private mutating func add(
    _ identifier: String, _ body: Data, _ exchange: Manifest.Exchange?, request: Data
  ) throws {
    counts[identifier, default: 0] += 1
    let name = "\(sources.count)"
    sources.append(
      .init(
        identifier: identifier, file: try folder.write(body, to: name), recordedAt: Date(),
        call: counts[identifier], exchange: exchange,
        requestBody: request.isEmpty ? nil : try folder.write(request, to: name + ".request")))
  }

  /// Opens the snapshot.
  func open() throws -> OpenSnapshot {
    let zip = folder.file("snapshot.zip")
    try pack(to: zip)
    return try OpenSnapshot(zip: zip)
  }

  /// Writes the snapshot.
  func pack(to zip: URL) throws {
    var manifest = Manifest(
      id: SnapshotID(), createdAt: Date(),
      application: .init(identifier: "com.example.<news>", version: "1", build: "2"),
      device: .init(model: "x", system: "y", systemVersion: "z", locale: "en"))
    manifest.redactions = redactions
    _ = try SnapshotBundle.pack(sources, describedBy: manifest, to: zip)
  }
}

/// A running replay server.
struct RunningReplay: Sendable {
  let port: UInt16
  let table: ReplayTable
  let log: ReplayLog

  /// The lines of the log.
  var lines: [String] { log.state.entries.map(\.description) }

  /// Sends a request on a connection of its own, and returns the response.
  func send(
    _ method: String = "GET", _ target: String, _ fields: [String] = [], body: String = "",
    host: String = "localhost"
  ) async throws -> RawHTTPClient.Response {
    let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
    let lines = fields.map { $0 + "\r\n" }.joined()
    let request = "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\n\(lines)\(length)\r\n\(body)"
    return try await RawHTTPClient.run { [port] in
      let client = try RawHTTPClient(port: port)
      try client.send(request)
      return try client.receiveResponse(toHEAD: method == "HEAD")
    }
  }

  /// Sends a request, and returns everything until the connection ends.
  func everything(_ target: String) async throws -> String {
    try await RawHTTPClient.run { [port] in
      let client = try RawHTTPClient(port: port)
      try client.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
      return String(decoding: try client.receiveAll(), as: UTF8.self)
    }
  }
}

/// Runs `body` with a replay server of the fixture on a free port.
func withReplay(
  of fixture: ReplayFixture, map: [String] = [], afterLast: SnapshotMode.Policy.AfterLast = .repeat,
  ignoring: Set<String> = [], fromHost: String? = nil,
  _ handling: ReplayHandler.Configuration = .init(), _ body: (RunningReplay) async throws -> Void
) async throws {
  let snapshot = try fixture.open()
  var configuration = ReplayTable.Configuration(map: try ReplayMap(map.map { try ReplayMap.Rule($0) }))
  configuration.afterLast = afterLast
  configuration.ignoredQueryItems = ignoring
  configuration.host = fromHost
  let table = ReplayTable(snapshot.manifest, configuration)
  let log = ReplayLog()
  try await withServer(ReplayHandler(snapshot, table, log, handling)) { port in
    try await body(RunningReplay(port: port, table: table, log: log))
  }
}

/// Runs `body` with a server on a free port.
func withServer(_ handler: any HTTPHandler, _ body: (UInt16) async throws -> Void) async throws {
  var configuration = HTTPServer.Configuration(port: 0)
  configuration.eventLoops = 1
  configuration.limits = ReplayLimits.http
  let server = HTTPServer(
    configuration: configuration, handler: handler,
    logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
  let address = try await server.start()
  do { try await body(address.port) } catch {
    await server.shutdown(deadline: .zero)
    throw error
  }
  await server.shutdown(deadline: .zero)
}
