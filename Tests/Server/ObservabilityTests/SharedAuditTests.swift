import AccessControl
import Foundation
import Logging
import PostgreSQLClient
import PostgreSQLStore
import PostgreSQLTesting
import ServerTesting
import SnapshotFormat
import SnapshotServer
import StoreTesting
import SystemIO
import TestSupport
import Testing

@testable import Observability

/// Servers that share their snapshots copy their audit logs into one table.
@Suite(.enabled("PostgreSQL isn't installed") { PostgreSQLServer.isInstalled }, .timeLimit(.minutes(5)))
struct SharedAuditTests {
  private static let start = Date(timeIntervalSince1970: 1_800_000_000)
  private let id = SnapshotID()

  /// A server's audit log, and its folder, which outlives the server.
  private struct Server {
    let folder: TemporaryFolder
    let shared: any SharedAudit
    let configuration: AuditLog.Configuration
    let log: AuditLog
    let forwarder: AuditForwarder

    init(
      _ shared: any SharedAudit, in folder: TemporaryFolder? = nil,
      _ change: (inout AuditLog.Configuration) -> Void = { _ in }
    ) throws {
      self.shared = shared
      self.folder = try folder ?? TemporaryFolder()
      var configuration = AuditLog.Configuration(path: self.folder.file("audit.log").path)
      change(&configuration)
      self.configuration = configuration
      log = try AuditLog(configuration, logger: .quiet)
      forwarder = try AuditForwarder(
        configuration, to: shared, idPath: self.folder.file("audit-id").path, logger: .quiet)
    }

    /// Copies everything, whatever fails in between.
    func copyAll() async throws {
      try await eventually {
        do { return try await !forwarder.forward() } catch { return false }
      }
    }

    /// The lines in all files.
    var written: [String] {
      get throws {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("audit") }
          .filter { $0 != "audit-id" }
          .flatMap { name in
            try String(contentsOf: folder.file(name), encoding: .utf8).split(separator: "\n").map(String.init)
          }
      }
    }

    func append(_ text: String, to name: String = "audit.log") throws {
      let handle = try FileHandle(forWritingTo: folder.file(name))
      try handle.seekToEnd()
      try handle.write(contentsOf: Data(text.utf8))
      try handle.close()
    }
  }

  private func withRows(_ body: (PostgreSQLAudit, PostgreSQLPool) async throws -> Void) async throws {
    try await withDatabase { configuration in
      let pool = PostgreSQLPool(configuration)
      defer { pool.close() }
      try await body(try await PostgreSQLAudit(pool), pool)
    }
  }

  private func event(_ number: Int, _ result: AuditEvent.Result = .done, about other: SnapshotID? = nil)
    -> AuditEvent
  {
    AuditEvent(
      .fetchFile, result, time: Self.start.addingTimeInterval(Double(number)), request: "r\(number)",
      token: "t\(number)", snapshot: other ?? id, address: "192.0.2.1")
  }

  /// The texts of all lines in the table, as the documentation reads them.
  private func lines(_ pool: PostgreSQLPool) async throws -> [String] {
    try await pool.perform { connection in
      try connection.query("SELECT line FROM snapshot_audit_1.line ORDER BY time, file, position")
        .map { try $0.text(0) }
    }
  }

  @Test func `every server shows the actions at all servers`() async throws {
    try await withRows { rows, pool in
      let (one, other) = (try Server(rows), try Server(rows))
      for number in 0..<20 {
        try await (number % 2 == 0 ? one : other).log.write(event(number))
        try await one.log.write(event(100 + number, about: SnapshotID()))
      }
      try await other.log.writeRefusal(event(50, .refused))
      try await one.log.write(
        AuditEvent(
          .compareSnapshots, .failed, time: Self.start + 60, snapshot: SnapshotID(), comparedWith: id))
      try await other.forwarder.forward()
      // A server copies its own lines first.
      let trail = try await one.forwarder.trail(of: id)
      #expect(trail.events.map(\.token) == [nil] + (0..<20).reversed().map { "t\($0)" })
      #expect(trail.events.first?.result == "failed" && trail.events.last?.token == "t0")
      #expect(!trail.isCut && !trail.isIncomplete)
      #expect(try await other.forwarder.trail(of: id) == trail)
      var limits = AuditTrail.Limits()
      limits.events = 5
      let short = try await other.forwarder.trail(of: id, limits: limits)
      #expect(short.events == Array(trail.events.prefix(5)) && short.isCut)
      let all = try await lines(pool)
      #expect(try all.sorted() == (one.written + other.written).sorted())
      for server in [one, other] { await server.log.close() }
    }
  }

  @Test func `each line is copied once, whatever fails, and across restarts and rotations`() async throws {
    try await withRows { rows, pool in
      let flaky = FlakyAudit(rows)
      let folder = try TemporaryFolder()
      for run in 0..<4 {
        let server = try Server(flaky, in: folder) { ($0.fileBytes, $0.keptFiles) = (2000, 50) }
        for number in 0..<40 {
          try await server.log.write(event(run * 1000 + number))
          if number % 3 == 0 { try await server.log.writeRefusal(event(run * 1000 + number, .refused)) }
          if number % 5 == 0 { try await server.copyAll() }
        }
        // The last lines of some runs are copied by the next one.
        if run % 2 == 0 { try await server.copyAll() }
        await server.log.close()
      }
      let server = try Server(flaky, in: folder) { ($0.fileBytes, $0.keptFiles) = (2000, 50) }
      try await server.copyAll()
      #expect(try await lines(pool).sorted() == server.written.sorted())
      #expect(flaky.failures > 10)
      await server.log.close()
      // A new table gets what the files have.
      try await withRows { rows, pool in
        let server = try Server(rows, in: folder) { ($0.fileBytes, $0.keptFiles) = (2000, 50) }
        try await server.copyAll()
        #expect(try await lines(pool).sorted() == server.written.sorted())
        await server.log.close()
      }
    }
  }

  @Test func `lines that a crash left incomplete are omitted, and those after them are not`() async throws {
    try await withRows { rows, pool in
      let server = try Server(rows)
      try await server.log.write(event(0))
      try server.append("{\"time\":\"2026-")
      try await server.copyAll()
      #expect(try await lines(pool).count == 1)
      try server.append("\n\nnot JSON \u{0}\n{}\n" + String(repeating: "x", count: 700_000))
      try await server.copyAll()
      try server.append("\n")
      try await server.log.write(event(1))
      try await server.log.write(
        AuditEvent(.scrub, .done, request: String(repeating: "r", count: 100_000), snapshot: id))
      try await server.copyAll()
      #expect(
        try await server.forwarder.trail(of: id).events.map(\.action).sorted() == [
          "fetchFile", "fetchFile", "scrub",
        ])
      await server.log.close()
    }
  }

  @Test func `a line is copied when its end is written`() async throws {
    try await withRows { rows, pool in
      let server = try Server(rows)
      try await server.log.write(event(0))
      let line = event(1).line
      try server.append(String(line.prefix(20)))
      for _ in 0..<2 { try await server.copyAll() }
      #expect(try await lines(pool).count == 1)
      try server.append(String(line.dropFirst(20)))
      try await server.copyAll()
      #expect(try await lines(pool).map { $0 + "\n" } == [event(0).line, line])
      await server.log.close()
    }
  }

  @Test func `lines that do not continue their file are not added`() async throws {
    try await withRows { rows, pool in
      let (server, file) = (SnapshotID(), ContentDigest.of([1]))
      let batches: [(range: Range<Int64>, isAdded: Bool)] = [
        (0..<10, true), (0..<10, false), (20..<30, false), (10..<20, true),
      ]
      for (range, isAdded) in batches {
        let line = AuditBatch.Line(position: range.lowerBound, time: Self.start, text: "\(range)")
        let batch = AuditBatch(file: file, isRefused: false, range: range, lines: [line])
        let wasAdded = try await rows.append(batch, of: server)
        #expect(wasAdded == isAdded)
      }
      #expect(try await rows.positions(of: server) == [file: 20])
      #expect(try await lines(pool) == ["0..<10", "10..<20"])
    }
  }

  @Test func `lines that the database has lost are copied again`() async throws {
    try await withRows { rows, pool in
      let server = try Server(rows)
      try await server.log.write(event(0))
      try await server.copyAll()
      try await pool.perform { try $0.execute("TRUNCATE snapshot_audit_1.file, snapshot_audit_1.line") }
      try await server.log.write(event(1))
      try await server.copyAll()
      #expect(try await lines(pool).sorted() == server.written.sorted())
      await server.log.close()
    }
  }

  @Test func `a pass copies a limited number of bytes, and reports that some remain`() async throws {
    try await withRows { rows, pool in
      let server = try Server(rows)
      let bytes = Int(AuditLimits.passBytes) / 40
      for _ in 0..<50 {
        try await server.log.write(
          AuditEvent(.scrub, .done, request: String(repeating: "r", count: bytes), snapshot: id))
      }
      let remains = try await server.forwarder.forward()
      #expect(remains)
      let copied = try await lines(pool).count
      #expect((35...45).contains(copied))
      try await server.copyAll()
      #expect(try await lines(pool).count == 50)
      await server.log.close()
    }
  }

  @Test func `the table keeps the lines of as many files as the log`() async throws {
    try await withRows { rows, pool in
      let server = try Server(rows) { ($0.fileBytes, $0.keptFiles) = (1000, 2) }
      for number in 0..<40 {
        try await server.log.write(event(number))
        try await server.copyAll()
      }
      #expect(try await lines(pool).sorted() == server.written.sorted())
      // Another program moves all files away: the copies remain until there are newer ones.
      let kept = try await lines(pool)
      for name in ["audit.log", "audit.log.1", "audit.log.2"] {
        try FileManager.default.removeItem(at: server.folder.file(name))
      }
      try await server.copyAll()
      #expect(try await lines(pool) == kept)
      // The lines of a server that does not return are removed after a year.
      let other = try Server(rows)
      try await pool.perform {
        try $0.execute("UPDATE snapshot_audit_1.server SET seen = now() - interval '366 days'")
      }
      try await other.log.write(event(100))
      try await other.copyAll()
      #expect(try await lines(pool) == other.written)
      for server in [server, other] { await server.log.close() }
    }
  }

  @Test func `without the database, the actions at this server are shown`() async throws {
    try await withRows { rows, pool in
      let flaky = FlakyAudit(rows)
      flaky.isDown = true
      let server = try Server(flaky)
      var observation = Observation(audit: server.log)
      observation.forwarder = server.forwarder
      let guarded = try GuardedAPI(observation: observation)
      let bundle = try ZippedSample()
      try await guarded.attach(bundle, guarded.token(.attach).fields)
      let admin = PageBrowser(guarded.api)
      try await admin.signIn(guarded.token(.admin).fields)
      let path = "/snapshots/\(bundle.id)/history"
      let page = try await admin.get(path)
      #expect(page.status == 200 && page.text.contains("Uploaded"))
      #expect(page.text.contains("The database does not answer."))
      flaky.isDown = false
      let other = try Server(rows)
      try await other.log.write(
        AuditEvent(.fetchBundle, .done, time: Self.start, snapshot: bundle.id, address: "192.0.2.7"))
      try await other.copyAll()
      while true {
        let page = try await admin.get(path)
        if page.text.contains("The database does not answer.") { continue }
        #expect(page.text.contains("192.0.2.7") && page.text.contains("Uploaded"))
        break
      }
      for server in [server, other] { await server.log.close() }
    }
  }
}

/// A table whose calls fail regularly, before or after they have an effect.
private final class FlakyAudit: SharedAudit {
  struct Down: Error {}

  private let rows: PostgreSQLAudit
  private let state = Lock((calls: 0, failures: 0, isDown: false))

  init(_ rows: PostgreSQLAudit) { self.rows = rows }

  var failures: Int { state.withLock { $0.failures } }
  /// Whether all calls fail.
  var isDown: Bool {
    get { state.withLock { $0.isDown } }
    set { state.withLock { $0.isDown = newValue } }
  }

  private func failing<Value>(_ body: () async throws -> Value) async throws -> Value {
    let fault = state.withLock { state -> Int in
      state.calls += 1
      let fault = state.isDown ? 1 : state.calls % 3
      if fault > 0 { state.failures += 1 }
      return fault
    }
    if fault == 1 { throw Down() }
    let value = try await body()
    if fault == 2 { throw Down() }
    return value
  }

  func positions(of server: SnapshotID) async throws -> [ContentDigest: Int64] {
    if isDown { throw Down() }
    return try await rows.positions(of: server)
  }

  func append(_ batch: AuditBatch, of server: SnapshotID) async throws -> Bool {
    try await failing { try await rows.append(batch, of: server) }
  }

  func trim(_ server: SnapshotID, keeping count: Int) async throws {
    try await rows.trim(server, keeping: count)
  }

  func lines(about id: SnapshotID, limit: Int) async throws -> [String] {
    try await rows.lines(about: id, limit: limit)
  }
}
