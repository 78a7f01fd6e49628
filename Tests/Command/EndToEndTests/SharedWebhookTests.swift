import Foundation
import PostgreSQLClient
import PostgreSQLTesting
import S3Testing
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// Events of real servers that share their snapshots.
@Suite(.enabled("PostgreSQL isn't installed") { PostgreSQLServer.isInstalled }, .timeLimit(.minutes(5)))
struct SharedWebhookTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The settings of a server that sends events to `port` of loopback. Each server has another number of secrets, so that
  /// the number of signatures shows which one has sent an event.
  private func environment(
    _ objects: FakeS3Server, _ database: PostgreSQLConfiguration, _ port: UInt16, secrets: UInt8
  ) throws -> [String: String] {
    let text = (1...secrets).map { number in
      "whsec_" + Data(repeating: number, count: 32).base64EncodedString()
    }
    let file = try folder.write(Data(text.joined(separator: "\n").utf8), to: "secrets-\(secrets)")
    return FakeS3Server.environment.merging([
      "SNAPSHOT_SERVER_SHARED_STORE": "s3://\(FakeS3Server.bucket)/webhooks",
      "SNAPSHOT_SERVER_SHARED_ENDPOINT": objects.endpoint.absoluteString,
      "SNAPSHOT_SERVER_SHARED_DATABASE": "postgres://tests@\(database)",
      "SNAPSHOT_SERVER_WEBHOOKS_ENDPOINTS": "http://127.0.0.1:\(port)/events",
      "SNAPSHOT_SERVER_WEBHOOKS_SECRET_FILE": file.path,
      "SNAPSHOT_SERVER_WEBHOOKS_ALLOWED_NETWORKS": "127.0.0.0/8",
    ]) { $1 }
  }

  /// Attaches a bundle under new ids, until a server does not answer or `count` are attached. Calls `attached` after each.
  /// - Returns: the events.
  private static func attach(
    _ zip: URL, to server: TestServer, count: Int, attached: (Int) async -> Void = { _ in }
  ) async throws -> [String] {
    var events: [String] = []
    while events.count < count {
      let id = SnapshotID()
      let outcome = try await Tool.run(
        "curl",
        [
          "-s", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "60", "-T", zip.path, "-H",
          "Content-Type: application/zip", server.address("/v1/reports/BUG-1/snapshots/\(id)"),
        ])
      guard outcome.text == "201" else { break }
      events.append("attached_\(id)")
      await attached(events.count)
    }
    return events
  }

  @Test func `one server sends the events of all, and another one when it is killed`() async throws {
    let (zip, _) = try await Sample.bundle(in: folder)
    try await withFakeS3 { objects in
      try await withDatabase { database in
        try await EventReceiver.run { receiver, port in
          let first = try await TestServer(
            storage: folder.file("first"), environment: try environment(objects, database, port, secrets: 1))
          // The only server, so that it sends.
          var events = try await Self.attach(zip, to: first, count: 1)
          try await eventually { receiver.events.count == 1 }
          let second = try await TestServer(
            storage: folder.file("second"), environment: try environment(objects, database, port, secrets: 2))
          events += try await Self.attach(zip, to: second, count: 1)
          try await eventually { receiver.events.count == 2 }
          #expect(receiver.events.map(\.id) == events)
          #expect(receiver.events.map(\.signatures) == [1, 1])
          async let others = Self.attach(zip, to: second, count: 10)
          events += try await Self.attach(zip, to: first, count: 100) { count in
            if count == 5 { _ = await first.program.stop(SIGKILL) }
          }
          events += try await others
          #expect(events.count == 17)
          events += try await Self.attach(zip, to: second, count: 1)
          try await eventually { Set(receiver.events.map(\.id)) == Set(events) }
          #expect(receiver.events.last { $0.id == events.last }?.signatures == 2)
          #expect(await second.program.stop() == 0)
        }
      }
    }
  }

  @Test func `a deletion whose server ended before it was announced has its event when it is repeated`()
    async throws
  {
    let (zip, _) = try await Sample.bundle(in: folder)
    try await withFakeS3 { objects in
      try await withDatabase { database in
        try await EventReceiver.run { receiver, port in
          let server = try await TestServer(
            storage: folder.file("first"), environment: try environment(objects, database, port, secrets: 1))
          let event = try #require(try await Self.attach(zip, to: server, count: 1).first)
          let id = event.dropFirst("attached_".count)
          let pool = PostgreSQLPool(database)
          defer { pool.close() }
          for (status, count) in [(204, 2), (410, 3)] {
            #expect(
              try await Curl(["-X", "DELETE", server.address("/v1/snapshots/\(id)")]).status == status)
            try await eventually { receiver.events.count == count }
            // As it was before the announcement.
            try await pool.perform { connection in
              try connection.execute(
                """
                DELETE FROM snapshot_webhooks_1.delivery WHERE event = 'deleted_\(id)';
                UPDATE snapshot_webhooks_1.event SET held = true WHERE id = 'deleted_\(id)'
                """)
            }
          }
          #expect(receiver.events.map(\.id) == [event, "deleted_\(id)", "deleted_\(id)"])
          #expect(await server.program.stop() == 0)
        }
      }
    }
  }

  @Test func `a server that starts leaves the deletions that others have prepared`() async throws {
    try await withFakeS3 { objects in
      try await withDatabase { database in
        try await EventReceiver.run { receiver, port in
          let environment = try environment(objects, database, port, secrets: 1)
          let first = try await TestServer(storage: folder.file("first"), environment: environment)
          let pool = PostgreSQLPool(database)
          defer { pool.close() }
          let now = Int64(Date().timeIntervalSince1970 * 1000)
          try await pool.perform { connection in
            _ = try connection.query(
              "INSERT INTO snapshot_webhooks_1.event VALUES ('deleted', $1, '', $2, true)",
              [.text("\(SnapshotID())"), .int(now)])
          }
          let second = try await TestServer(storage: folder.file("second"), environment: environment)
          let held = try await pool.perform { connection in
            try connection.query("SELECT count(*) FROM snapshot_webhooks_1.event WHERE held")[0].int(0)
          }
          #expect(held == 1)
          for server in [first, second] { #expect(await server.program.stop() == 0) }
        }
      }
    }
  }
}
