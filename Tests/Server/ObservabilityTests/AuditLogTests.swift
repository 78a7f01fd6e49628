import Dispatch
import Foundation
import Logging
import Observability
import ServerTesting
import SnapshotFormat
import SnapshotServer
import StoreTesting
import SystemIO
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct AuditLogTests {
  private let folder: TemporaryFolder
  private let messages = CapturedLog()
  private var path: String { folder.file("audit.log").path }

  init() throws { folder = try TemporaryFolder() }

  private func open(_ change: (inout AuditLog.Configuration) -> Void = { _ in }) throws -> AuditLog {
    var configuration = AuditLog.Configuration.together(path)
    configuration.flushInterval = .milliseconds(1)
    change(&configuration)
    return try AuditLog(configuration, logger: Logger(label: "test") { _ in messages })
  }

  private func lines(_ name: String = "audit.log") throws -> [Substring] {
    try String(contentsOf: folder.file(name), encoding: .utf8).split(separator: "\n")
  }

  /// Returns an event whose line has `length` bytes.
  private func event(_ length: Int, _ token: String = "a") -> AuditEvent {
    var event = AuditEvent(.scrub, .done, time: Date(timeIntervalSince1970: 0), request: "", token: token)
    event.request = String(repeating: "r", count: length - event.bytes.count)
    return event
  }

  @Test func `a line is a JSON object with the known values`() throws {
    let id = try #require(SnapshotID("3f2b8c1e-0000-4000-8000-00000000000A"))
    let time = Date(timeIntervalSince1970: 1_700_000_000.125)
    let event = AuditEvent(
      .fetchBundle, .done, time: time, request: "r1", token: "t1", usesLink: true, snapshot: id,
      report: try ReportID(validating: "BUG-1"), address: "127.0.0.1:80", status: 200, problem: "p", count: 2)
    #expect(
      event.line == #"{"time":"2023-11-14T22:13:20.125Z","request":"r1","token":"t1","link":true,"#
        + #""action":"fetchBundle","snapshot":"3f2b8c1e-0000-4000-8000-00000000000a","report":"BUG-1","#
        + #""address":"127.0.0.1:80","result":"done","status":200,"problem":"p","count":2}"# + "\n")
    #expect(
      AuditEvent(.expire, .failed, time: time).line
        == #"{"time":"2023-11-14T22:13:20.125Z","action":"expire","result":"failed"}"# + "\n")
  }

  @Test(
    .enabled("\(SmallDisk.requirement)") { await SmallDisk.isPossible }, arguments: [0, 64 << 10] as [Int64])
  func `on a full disk, lines use the space that is reserved for them`(reserved: Int64) async throws {
    let disk = try await SmallDisk()
    var configuration = AuditLog.Configuration(path: disk.file("audit.log").path)
    configuration.reservedBytes = reserved
    let log = try AuditLog(configuration, logger: Logger(label: "test") { _ in messages })
    try disk.fill()
    var written = 0
    // Twice as many as fit.
    for _ in 0..<(2 * 64) {
      do throws(AuditLog.Failure) {
        try await log.write(event(1024))
        written += 1
      } catch {
        #expect(log.isFailing)
        break
      }
    }
    #expect(written == reserved / 1024)
    try disk.empty()
    try await log.write(event(1024))
    await log.close()
  }

  @Test func `control and bidirectional characters are escaped`() throws {
    let text = "a\"b\\c\n\r\t\u{1B}[2J\u{7F}\u{9B}\u{2028}\u{202E}\u{2066}\u{FEFF}ü🙂"
    let line = AuditEvent(.expire, .refused, request: text, address: text).line
    #expect(
      line.contains(
        #""request":"a\"b\\c\u000a\u000d\u0009\u001b[2J\u007f\u009b\u2028\u202e\u2066\ufeffü🙂""#))
    let read = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
    #expect(read["address"] == text)
    #expect(line.unicodeScalars.filter { $0.value < 32 } == ["\n"])
  }

  @Test func `lines are in order, in a file that only the server's user can read`() async throws {
    let log = try open()
    for number in 0..<100 { try await log.write(AuditEvent("\(number)", .done)) }
    #expect(try lines().map { $0.contains(#""token":""#) }.count == 100)
    for (number, line) in try lines().enumerated() { #expect(line.contains("\"token\":\"\(number)\"")) }
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    await log.close()
  }

  @Test func `many tasks write whole lines, each once`() async throws {
    let log = try open {
      $0.fileBytes = 8192
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<1000 { group.addTask { try await log.write(AuditEvent("\(number)", .done)) } }
      try await group.waitForAll()
    }
    await log.close()
    var seen: [String] = []
    for name in try Folder.entries(folder.url.path) {
      for line in try lines(name) {
        let event = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
        seen.append(try #require(event["token"]))
      }
    }
    // 15 files and the newest one contain all of them.
    #expect(Set(seen) == Set((0..<1000).map(String.init)))
    #expect(seen.count == 1000)
  }

  @Test func `existing lines are kept, and an incomplete last line is ended`() async throws {
    try Data("{\"time\":\"x\"}\n{\"broken".utf8).write(to: folder.file("audit.log"))
    let log = try open()
    try await log.write(AuditEvent("a", .done))
    try await log.write(AuditEvent("b", .done))
    await log.close()
    let lines = try lines()
    #expect(lines.prefix(2) == ["{\"time\":\"x\"}", "{\"broken"])
    #expect(lines.count == 4)
    #expect(lines[2].contains(#""token":"a""#) && lines[3].contains(#""token":"b""#))
  }

  @Test(arguments: [(99, 1), (100, 1), (101, 2)])
  func `a file grows up to its limit`(second: Int, files: Int) async throws {
    let log = try open { $0.fileBytes = 200 }
    try await log.write(event(100))
    try await log.write(event(second))
    await log.close()
    #expect(try Folder.entries(folder.url.path).count == files)
  }

  @Test func `a limited number of files is kept, the newest last`() async throws {
    let log = try open {
      $0.fileBytes = 100
      $0.keptFiles = 2
    }
    for token in ["a", "b", "c", "d", "e"] { try await log.write(event(100, token)) }
    await log.close()
    #expect(try Folder.entries(folder.url.path) == ["audit.log", "audit.log.1", "audit.log.2"])
    #expect(try lines().map { $0.contains(#""e""#) } == [true])
    #expect(try lines("audit.log.1").map { $0.contains(#""d""#) } == [true])
    #expect(try lines("audit.log.2").map { $0.contains(#""c""#) } == [true])
  }

  @Test func `a line that exceeds the limit has its own file`() async throws {
    let log = try open { $0.fileBytes = 100 }
    for length in [300, 300] { try await log.write(event(length)) }
    await log.close()
    #expect(try lines().count == 1)
    #expect(try lines("audit.log.1").count == 1)
  }

  @Test func `a log that was removed or moved is created again`() async throws {
    let log = try open()
    try await log.write(AuditEvent("a", .done))
    try Folder.remove(path)
    try await log.write(AuditEvent("b", .done))
    try Folder.replace(path + ".moved", with: path)
    try await log.write(AuditEvent("c", .done))
    await log.close()
    #expect(try lines("audit.log.moved").map { $0.contains(#""b""#) } == [true])
    #expect(try lines().map { $0.contains(#""c""#) } == [true])
  }

  @Test func `a failed write is reported, and the log continues when it can`() async throws {
    let log = try open()
    try Folder.remove(path)
    try Folder.create(path)
    await #expect(throws: AuditLog.Failure.self) { try await log.write(AuditEvent("a", .done)) }
    #expect(log.isFailing)
    #expect(messages.lines.contains { $0.hasPrefix("error Events can't be written") })
    try Folder.remove(path)
    try await log.write(AuditEvent("b", .done))
    #expect(!log.isFailing)
    await log.close()
    #expect(try lines().map { $0.contains(#""b""#) } == [true])
  }

  @Test func `a symbolic link in place of the log is not followed`() throws {
    try Data().write(to: folder.file("elsewhere"))
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: folder.file("elsewhere").path)
    #expect(throws: SystemError.self) { try open() }
  }

  @Test func `a full queue refuses events, and so does a closed log`() async throws {
    let full = try open { $0.waitingEvents = 0 }
    await #expect(throws: AuditLog.Failure.self) { try await full.write(AuditEvent("a", .done)) }
    await full.close()
    let log = try open()
    await log.close()
    await #expect(throws: AuditLog.Failure.self) { try await log.write(AuditEvent("a", .done)) }
    #expect(try lines().isEmpty)
    log.record(AuditEvent("expire", .done))
    #expect(messages.lines.contains { $0.hasPrefix("error An event is missing") && $0.contains("expire") })
  }

  @Test func `a line that is reported as written is written, even while the log is being closed`()
    async throws
  {
    let log = try open()
    let written = await withTaskGroup(of: Int?.self) { group in
      for number in 0..<500 {
        group.addTask {
          if number == 250 { await log.close() }
          do throws(AuditLog.Failure) {
            try await log.write(AuditEvent("\(number)", .done))
            return number
          } catch {
            return nil
          }
        }
      }
      return await group.reduce(into: Set<Int>()) { if let number = $1 { $0.insert(number) } }
    }
    let seen = try lines().map {
      try JSONDecoder().decode([String: String].self, from: Data($0.utf8))["token"]
    }
    #expect(Set(seen) == Set(written.map(String.init)))
    #expect(seen.count == written.count)
  }

  @Test(arguments: [Duration.seconds(1), .seconds(3600)])
  func `lines that were not flushed, or could not be, are flushed when the log is closed`(
    interval: Duration
  ) async throws {
    let (refusals, moved) = (folder.file("refusals").path, folder.file("moved").path)
    try Folder.create(refusals)
    let log = try open {
      $0.refusalsPath = refusals + "/audit.log"
      $0.flushInterval = interval
    }
    func failures() -> Int { messages.lines.count { $0.hasPrefix("error The audit log can't be flushed") } }
    let isScheduled = interval < .seconds(10)
    try await log.write(AuditEvent("a", .refused))
    // The name of the file can't be flushed any more.
    try Folder.replace(moved, with: refusals)
    try await eventually { !isScheduled || failures() > 0 }
    await log.close()
    #expect(failures() == (isScheduled ? 2 : 1))
  }

  @Test func `closing a log ends after the flush of its last lines`() async throws {
    let refusals = folder.file("refusals").path
    try Folder.create(refusals)
    var configuration = AuditLog.Configuration(path: path)
    configuration.refusalsPath = refusals + "/audit.log"
    configuration.flushInterval = .seconds(3600)
    let handler = WaitingLog()
    let log = try AuditLog(configuration, logger: Logger(label: "test") { _ in handler })
    try await log.write(AuditEvent("a", .refused))
    // The flush fails, and logs this.
    try Folder.removeTree(refusals)
    await log.close()
    #expect(handler.hasWaited)
    handler.release()
  }

  /// Waits before it logs. Nothing releases it meanwhile, unless the caller did not wait for it.
  private final class WaitingLog: LogHandler, Sendable {
    private let released = DispatchSemaphore(value: 0)
    private let waited = Lock(false)

    var hasWaited: Bool { waited.withLock(\.self) }

    func release() { released.signal() }

    func log(event: LogEvent) {
      _ = released.wait(timeout: .now() + .milliseconds(50))
      waited.withLock { $0 = true }
    }

    subscript(metadataKey _: String) -> Logger.Metadata.Value? {
      get { nil }
      set {}
    }
    var metadata: Logger.Metadata {
      get { [:] }
      set {}
    }
    var logLevel: Logger.Level {
      get { .error }
      set {}
    }
  }

  /// Opens a log in the same way as servers, with separate files for refusals.
  private func openApart(_ change: (inout AuditLog.Configuration) -> Void = { _ in }) throws -> AuditLog {
    try open {
      $0.refusalsPath = AuditLog.Configuration(path: path).refusalsPath
      change(&$0)
    }
  }

  @Test func `refusals never displace completed actions`() async throws {
    let log = try openApart {
      $0.fileBytes = 1000
      $0.keptFiles = 1
      $0.refusalWindow = .seconds(3600)
    }
    try await log.write(AuditEvent(.deleteSnapshot, .done, token: "t1"))
    for number in 0..<200 {
      try await log.writeRefusal(
        AuditEvent(.fetchBundle, .refused, token: "t\(number)", address: "192.0.2.1:1", status: 404))
    }
    try await log.write(AuditEvent(.fetchBundle, .done, token: "t1"))
    await log.close()
    #expect(
      try Folder.entries(folder.url.path) == ["audit-refused.log", "audit-refused.log.1", "audit.log"])
    #expect(try lines().map { $0.contains(#""result":"done""#) } == [true, true])
    let refused = try lines("audit-refused.log")
    #expect(!refused.isEmpty && refused.allSatisfy { $0.contains(#""result":"refused""#) })
  }

  @Test func `refusals of a known token share lines, and are separate from another token's`() async throws {
    let log = try openApart { $0.refusalWindow = .seconds(3600) }
    for number in 1...100 {
      for token in ["t1", "t2"] {
        try await log.writeRefusal(
          AuditEvent(
            .fetchBundle, .refused, request: "r\(number)", token: token, address: "192.0.2.1:\(number)",
            status: 404))
      }
    }
    await log.close()
    #expect(try lines().isEmpty)
    let lines = try lines("audit-refused.log")
    #expect(lines.count == 4)
    for token in ["t1", "t2"] {
      let own = lines.filter { $0.contains("\"token\":\"\(token)\"") }
      #expect(own.count == 2)
      #expect(own.last?.contains(#""count":99}"#) == true)
    }
  }

  @Test func `similar refusals of unknown callers share a line`() async throws {
    let log = try open { $0.refusalWindow = .seconds(3600) }
    for port in 1...1000 {
      try await log.writeRefusal(
        AuditEvent(.fetchBundle, .refused, request: "r\(port)", address: "192.0.2.1:\(port)", status: 401))
    }
    try await log.writeRefusal(AuditEvent(.fetchBundle, .refused, address: "192.0.2.2:1", status: 401))
    try await log.writeRefusal(AuditEvent(.listSnapshots, .refused, address: "192.0.2.1:1", status: 401))
    await log.close()
    let lines = try lines()
    #expect(lines.count == 4)
    #expect(lines[0].contains(#""request":"r1""#) && !lines[0].contains("count"))
    #expect(lines[3].contains(#""request":"r1000""#) && lines[3].contains(#""count":999}"#))
  }

  @Test func `after the window has ended, the next refusal has a new line`() async throws {
    let log = try open { $0.refusalWindow = .milliseconds(1) }
    let event = AuditEvent(.fetchBundle, .refused, address: "192.0.2.1:1", status: 401)
    var attempts = 0
    // Each window ends on its own, so there is eventually one more line than at the start.
    while try lines().count < 3, attempts < 1_000_000 {
      try await log.writeRefusal(event)
      attempts += 1
    }
    #expect(try lines().count >= 3)
    await log.close()
  }

  @Test func `refusals of all addresses share lines if there are too many`() async throws {
    let log = try open { $0.refusalWindow = .seconds(3600) }
    try await withThrowingTaskGroup { group in
      for number in 0..<3000 {
        let address = "198.51.\(number / 256).\(number % 256):1"
        group.addTask {
          try await log.writeRefusal(AuditEvent(.fetchBundle, .refused, address: address, status: 401))
        }
      }
      try await group.waitForAll()
    }
    await log.close()
    let lines = try lines()
    #expect(lines.count == 1002)
    #expect(lines.last?.contains(#""count":1999}"#) == true)
    #expect(lines.last?.contains("address") == false)
  }
}

extension AuditEvent {
  /// An event that its token distinguishes from others.
  fileprivate init(_ token: String, _ result: Result) { self.init(.scrub, result, token: token) }
}
