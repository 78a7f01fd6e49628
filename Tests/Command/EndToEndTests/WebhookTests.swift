import Foundation
import HTTPEngine
import HTTPTypes
import Logging
import SnapshotFormat
import SystemIO
import TestSupport
import Testing
import Webhooks

/// Events that a real server sends.
@Suite struct WebhookTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The settings of a server that sends events to `port` of loopback.
  private func environment(_ port: UInt16, _ more: [String: String] = [:]) throws -> [String: String] {
    let secret = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
    let file = try folder.write(Data(secret.utf8), to: "webhook-secrets")
    return [
      "SNAPSHOT_SERVER_WEBHOOKS_ENDPOINTS": "http://127.0.0.1:\(port)/events",
      "SNAPSHOT_SERVER_WEBHOOKS_SECRET_FILE": file.path,
      "SNAPSHOT_SERVER_WEBHOOKS_ALLOWED_NETWORKS": "127.0.0.0/8",
    ].merging(more) { $1 }
  }

  private static func attach(_ zip: URL, _ id: SnapshotID, to server: TestServer) async throws -> Int? {
    try await status([
      "-T", zip.path, "-H", "Content-Type: application/zip",
      server.address("/v1/reports/BUG-1/snapshots/\(id)"),
    ])
  }

  private static func comment(on id: SnapshotID, of server: TestServer) async throws -> Int? {
    try await status([
      "--json", #"{"text":"Seen"}"#, server.address("/v1/snapshots/\(id)/comments"),
    ])
  }

  private static func delete(_ id: SnapshotID, on server: TestServer) async throws -> Int? {
    try await status(["-X", "DELETE", server.address("/v1/snapshots/\(id)")])
  }

  /// The status of a request; `nil` if there is no final response.
  private static func status(_ arguments: [String]) async throws -> Int? {
    let outcome = try await Tool.run(
      "curl", ["-s", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "60"] + arguments)
    return Int(outcome.text).flatMap { $0 < 200 ? nil : $0 }
  }

  @Test func `no event contains recorded data or an identifier of a recording`() async throws {
    let canary = "canary-7f3a9c"
    for (path, text) in [
      "\(canary)-identifier/feed.json": #"{"\#(canary)-name":"\#(canary)-value"}"#,
      "\(canary)-other.txt": "\(canary)-text",
    ] {
      try folder.write(Data(text.utf8), to: "source/\(path)")
    }
    let zip = folder.file("bundle.zip")
    let packed = try await Product.run(["pack", folder.file("source").path, "--output", zip.path])
    let id = try #require(SnapshotID(packed.lines[0]))
    #expect(try String(contentsOf: zip, encoding: .isoLatin1).contains(canary))
    try await EventReceiver.run { receiver, port in
      let fields = """
        application, attachedBy, comment, createdAt, device, expiresAt, metadata, modules, note, problemCount, \
        receivedAt, recordingCount, sealed, sha256, size, verified
        """
      let server = try await TestServer(
        storage: folder.file("storage"),
        environment: try environment(port, ["SNAPSHOT_SERVER_WEBHOOKS_FIELDS": fields]))
      #expect(try await Self.attach(zip, id, to: server) == 201)
      #expect(try await Self.comment(on: id, of: server) == 201)
      #expect(try await Self.delete(id, on: server) == 204)
      try await eventually { receiver.events.count == 3 }
      #expect(
        receiver.events.map(\.id) == ["attached_\(id)", "commented_\(id)_0", "deleted_\(id)"])
      #expect(receiver.events[1].body.contains(#""text":"Seen""#))
      for event in receiver.events { #expect(!event.body.contains(canary), "\(event.body)") }
      #expect(await server.program.stop() == 0)
    }
  }

  @Test func `the command lists and tests webhooks, and sends their events again`() async throws {
    let (zip, id) = try await Sample.bundle(in: folder)
    try await EventReceiver.run { receiver, port in
      let server = try await TestServer(
        storage: folder.file("storage"), environment: try environment(port))
      let name = try #require(WebhookEndpoint("http://127.0.0.1:\(port)/events")).name
      func run(_ arguments: String...) async throws -> Tool.Outcome {
        try await Product.run(
          ["webhooks"] + arguments, environment: ["SNAPSHOT_SERVER": server.url.absoluteString])
      }
      receiver.status.set(410)
      let refused = try await run("test", name)
      #expect(refused.status == 1)
      #expect(refused.errors == "Error: \(name) did not accept the event: status 410.\n")
      #expect(try await Self.attach(zip, id, to: server) == 201)
      try await eventually { try await run("list").text.contains("disabled") }
      #expect(
        try await run("list").lines
          == ["\(name)  disabled  0 waiting  0 delivered  1 failed  0 dropped  last try: status 410"])

      let doctor = try await Product.run(
        ["doctor", "--storage", folder.file("storage").path],
        environment: try environment(port, ["SNAPSHOT_SERVER_PORT": "\(try #require(server.url.port))"]))
      #expect(doctor.status == 2)
      #expect(doctor.text.contains("The webhook \(name) answered 410, and gets no events."))
      let metrics = String(decoding: try await Curl([server.address("/metrics")]).body, as: UTF8.self)
      #expect(metrics.contains(#"snapshot_webhook_disabled{webhook="\#(name)"} 1"#))
      #expect(metrics.contains(#"snapshot_webhook_deliveries{state="failed",webhook="\#(name)"} 1"#))

      receiver.status.set(204)
      let accepted = try await run("test", name)
      #expect(accepted.status == 0 && accepted.lines == ["\(name) accepted the event: status 204"])
      #expect(try await run("redeliver", name).lines == ["1 event sent again"])
      try await eventually { try await run("list").text.contains("1 delivered") }
      let list = try await run("list", name).text
      #expect(list.hasPrefix("attached_\(id)  delivered  1 try  "))
      let one = try await run("redeliver", name, "--event", "attached_\(id)")
      #expect(one.status == 0 && one.lines == ["1 event sent again"])
      try await eventually { receiver.events.count { $0.id == "attached_\(id)" } == 3 }
      let unknown = try await run("redeliver", name, "--event", "attached_0")
      #expect(unknown.status == 1 && unknown.errors.contains("attached_0 is not sent again"))
      for arguments in [["test", "other"], ["redeliver", "other"], ["list", "other"]] {
        let outcome = try await Product.run(
          ["webhooks"] + arguments, environment: ["SNAPSHOT_SERVER": server.url.absoluteString])
        #expect(outcome.status == 2 && outcome.errors.contains("have no webhook other;"))
      }
      #expect(try await run("list", name, "--limit", "1001").status == 64)
      #expect(try await run("list", "--limit", "1").status == 64)
      #expect(await server.program.stop() == 0)
    }
  }

  /// Writes the settings of a server that sends events to `port` of loopback, with these secrets.
  private func write(_ port: UInt16, secrets: [UInt8]) throws {
    let text = secrets.map { "whsec_" + Data(repeating: $0, count: 32).base64EncodedString() }
    let file = try folder.write(Data(text.joined(separator: "\n").utf8), to: "webhook-secrets")
    let settings = """
      server:
        webhooks:
          endpoints: http://127.0.0.1:\(port)/events
          secretFile: \(file.path)
          allowedNetworks: 127.0.0.0/8

      """
    try folder.write(Data(settings.utf8), to: "server.yaml")
  }

  @Test func `SIGHUP changes endpoints and secrets, and changes nothing if a secret is malformed`()
    async throws
  {
    let (zip, _) = try await Sample.bundle(in: folder)
    try await EventReceiver.run { first, firstPort in
      try await EventReceiver.run { second, secondPort in
        try write(firstPort, secrets: [7])
        let server = try await TestServer(
          storage: folder.file("storage"), ["--config", folder.file("server.yaml").path])
        func reload(_ text: String, count: Int) async throws {
          server.program.signal(SIGHUP)
          try await eventually {
            try server.program.errors.components(separatedBy: text).count == count + 1
          }
        }
        #expect(try await Self.attach(zip, SnapshotID(), to: server) == 201)
        try await eventually { first.events.count == 1 }
        #expect(first.events[0].signatures == 1)

        try write(secondPort, secrets: [7, 8])
        try await reload("The settings were read again", count: 1)
        #expect(try await Self.attach(zip, SnapshotID(), to: server) == 201)
        try await eventually { second.events.count == 1 }
        #expect(second.events[0].signatures == 2)

        // Only the contents of the file have changed.
        try write(secondPort, secrets: [8])
        try await reload("The settings were read again", count: 2)
        #expect(try await Self.attach(zip, SnapshotID(), to: server) == 201)
        try await eventually { second.events.count == 2 }
        #expect(second.events[1].signatures == 1)

        #expect(try !server.program.errors.contains("/events"))
        try write(firstPort, secrets: [])
        try await reload("nothing was changed", count: 1)
        #expect(try await Self.attach(zip, SnapshotID(), to: server) == 201)
        try await eventually { second.events.count == 3 }
        #expect(first.events.count == 1)
        #expect(await server.program.stop() == 0)
      }
    }
  }

  @Test func `an endpoint that does not answer delays neither uploads nor another endpoint`() async throws {
    let (zip, _) = try await Sample.bundle(in: folder)
    try await EventReceiver.run { slow, slowPort in
      try await EventReceiver.run { fast, fastPort in
        let endpoints = [slowPort, fastPort].map { "http://127.0.0.1:\($0)/events" }
        let server = try await TestServer(
          storage: folder.file("storage"),
          environment: try environment(
            slowPort, ["SNAPSHOT_SERVER_WEBHOOKS_ENDPOINTS": endpoints.joined(separator: ", ")]))
        slow.isHeld.set(true)
        var ids: Set<String> = []
        for _ in 0..<8 {
          let id = SnapshotID()
          #expect(try await Self.attach(zip, id, to: server) == 201)
          ids.insert("attached_\(id)")
        }
        try await eventually { Set(fast.events.map(\.id)) == ids }
        #expect(slow.answered.value == 0)
        slow.isHeld.set(false)
        // A try that was held for too long is repeated.
        try await eventually { Set(slow.events.map(\.id)) == ids }
        #expect(await server.program.stop() == 0)
      }
    }
  }

  /// A change that a client makes until it is acknowledged.
  private enum Change: Sendable, Hashable {
    case attach(SnapshotID)
    case comment(SnapshotID)
    case delete(SnapshotID)

    var event: String {
      switch self {
      case .attach(let id): "attached_\(id)"
      case .comment(let id): "commented_\(id)_0"
      case .delete(let id): "deleted_\(id)"
      }
    }

    /// The next change of the snapshot; of a new one after the last.
    var next: Change {
      switch self {
      case .attach(let id): .comment(id)
      case .comment(let id): .delete(id)
      case .delete: .attach(SnapshotID())
      }
    }
  }

  @Test func `every acknowledged change has its event, also if the server is killed again and again`()
    async throws
  {
    let kills = ProcessInfo.processInfo.environment["WEBHOOK_KILLS"].flatMap(Int.init) ?? 10
    let (zip, _) = try await Sample.bundle(in: folder)
    try await EventReceiver.run { receiver, port in
      let environment = try environment(port)
      let storage = folder.file("storage")
      var acknowledged: Set<String> = []
      // Each lane makes one change after the other, and repeats the one that was interrupted.
      var changes = (0..<4).map { _ in Change.attach(SnapshotID()) }
      for round in 0...kills {
        let server = try await TestServer(storage: storage, environment: environment)
        let left = Lock(5 + round % 7)
        let lanes = changes
        let ended = try await withThrowingTaskGroup(of: (Change, [String]).self) { group in
          for change in lanes {
            group.addTask { try await Self.make(change, on: server, zip, left, kills: round < kills) }
          }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        changes = ended.map(\.0)
        acknowledged.formUnion(ended.flatMap(\.1))
        if round == kills {
          do {
            try await eventually { acknowledged.isSubset(of: receiver.events.map(\.id)) }
          } catch {
            #expect(acknowledged.subtracting(receiver.events.map(\.id)).isEmpty)
          }
          #expect(await server.program.stop() == 0)
        }
      }
      #expect(acknowledged.count >= 5 * kills)
      Self.check(receiver.events)
    }
  }

  /// Makes changes until the server ends, or until `left` are made. The lane that makes the last one kills the server, while
  /// the others wait for responses.
  /// - Returns: the change that was not acknowledged, and the events of the others.
  private static func make(
    _ first: Change, on server: TestServer, _ zip: URL, _ left: Lock<Int>, kills: Bool
  ) async throws -> (Change, [String]) {
    var change = first
    var events: [String] = []
    while left.value > 0 {
      let status =
        switch change {
        case .attach(let id): try await attach(zip, id, to: server)
        case .comment(let id): try await comment(on: id, of: server)
        case .delete(let id): try await delete(id, on: server)
        }
      guard let status else { break }
      // A deletion that was repeated is answered with 410.
      #expect([200, 201, 204, 410].contains(status), "\(change)")
      events.append(change.event)
      change = change.next
      let isLast = left.withLock { left in
        left -= 1
        return left == 0
      }
      if isLast, kills { _ = await server.program.stop(SIGKILL) }
    }
    return (change, events)
  }

  /// Checks that an event has one body however often it arrives, and that the events of a snapshot arrived in order.
  private static func check(_ events: [EventReceiver.Event]) {
    var bodies: [String: Set<String>] = [:]
    var order: [Substring: [String]] = [:]
    for event in events {
      if bodies[event.id] == nil {
        let snapshot = event.id.split(separator: "_")[1]
        order[snapshot, default: []].append(event.id)
      }
      bodies[event.id, default: []].insert(event.body)
    }
    #expect(bodies.values.allSatisfy { $0.count == 1 })
    // The words have the order of the alphabet.
    for ids in order.values { #expect(ids == ids.sorted()) }
  }
}

/// A receiver of events on loopback.
final class EventReceiver: HTTPHandler {
  struct Event: Sendable, Hashable {
    let id: String
    /// The number of signatures.
    let signatures: Int
    let body: String
  }

  private let received = Lock<[Event]>([])
  /// The status of responses.
  let status = Lock(204)
  /// Whether events are not answered for now.
  let isHeld = Lock(false)
  /// The number of responses.
  let answered = Lock(0)

  var events: [Event] { received.withLock { $0 } }

  func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    func field(_ name: String) -> String { HTTPField.Name(name).flatMap { request.headerFields[$0] } ?? "" }
    let event = Event(
      id: field("webhook-id"), signatures: field("webhook-signature").split(separator: " ").count,
      body: String(decoding: try await request.body.collect(upTo: 1 << 20), as: UTF8.self))
    received.withLock { $0.append(event) }
    while isHeld.value {
      try Task.checkCancellation()
      await Task.yield()
    }
    answered.add(1)
    return HTTPServerResponse(status: .init(code: status.value))
  }

  /// Runs a receiver on a free port, and passes it and its port to `body`.
  static func run(_ body: (EventReceiver, UInt16) async throws -> Void) async throws {
    let receiver = EventReceiver()
    let server = HTTPServer(
      configuration: HTTPServer.Configuration(port: 0), handler: receiver,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let port = try await server.start().port
    do { try await body(receiver, port) } catch {
      await server.shutdown(deadline: .zero)
      throw error
    }
    await server.shutdown(deadline: .zero)
  }
}
