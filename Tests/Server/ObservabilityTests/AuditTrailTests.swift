import Foundation
import Logging
import Observability
import SnapshotFormat
import TestSupport
import Testing

@Suite struct AuditTrailTests {
  private let folder: TemporaryFolder
  private let id = SnapshotID()
  private static let start = Date(timeIntervalSince1970: 1_800_000_000)

  init() throws { folder = try TemporaryFolder() }

  private func open(_ change: (inout AuditLog.Configuration) -> Void = { _ in }) throws -> AuditLog {
    var configuration = AuditLog.Configuration(path: folder.file("audit.log").path)
    change(&configuration)
    return try AuditLog(configuration, logger: Logger(label: "test"))
  }

  private func event(_ number: Int, about id: SnapshotID?, _ result: AuditEvent.Result = .done) -> AuditEvent
  {
    AuditEvent(
      .fetchBundle, result, time: Self.start.addingTimeInterval(Double(number)), token: "t\(number)",
      usesLink: number == 1, snapshot: id, address: "192.0.2.1")
  }

  @Test func `the trail has the actions on one snapshot, newest first`() async throws {
    let log = try open()
    #expect(try log.trail(of: id) == AuditTrail())
    for number in 0..<3 {
      try await log.write(event(number, about: id))
      try await log.write(event(number, about: SnapshotID()))
      try await log.write(event(number, about: nil))
    }
    try await log.writeRefusal(event(7, about: id, .refused))
    try await log.write(
      AuditEvent(.compareSnapshots, .failed, time: Self.start, snapshot: SnapshotID(), comparedWith: id))
    let trail = try log.trail(of: id)
    #expect(trail.events.map(\.action) == ["compareSnapshots", "fetchBundle", "fetchBundle", "fetchBundle"])
    #expect(trail.events.map(\.token) == [nil, "t2", "t1", "t0"])
    #expect(trail.events.map(\.usesLink) == [false, false, true, false])
    #expect(trail.events.map(\.result) == ["failed", "done", "done", "done"])
    #expect(trail.events.last?.time == Self.start)
    #expect(trail.events.last?.token == "t0" && trail.events.last?.address == "192.0.2.1")
    #expect(!trail.isCut)
    await log.close()
  }

  @Test func `the trail continues in older files`() async throws {
    let log = try open {
      $0.fileBytes = 1000
      $0.keptFiles = 50
    }
    for number in 0..<40 { try await log.write(event(number, about: number % 2 == 0 ? id : SnapshotID())) }
    #expect(try Set(log.trail(of: id).events.map(\.token)).count == 20)
    #expect(try log.trail(of: id).events.map(\.token) == (0..<20).reversed().map { "t\(2 * $0)" })
    await log.close()
  }

  @Test(arguments: [(19, true), (20, false), (21, false)])
  func `the number of actions is limited`(limit: Int, isCut: Bool) async throws {
    let log = try open()
    for number in 0..<20 { try await log.write(event(number, about: id)) }
    var limits = AuditTrail.Limits()
    limits.events = limit
    let trail = try log.trail(of: id, limits: limits)
    #expect(trail.events.count == min(limit, 20))
    #expect(trail.events.first?.token == "t19")
    #expect(trail.isCut == isCut)
    await log.close()
  }

  @Test func `the number of bytes that are read is limited, at any place in a line`() async throws {
    let log = try open()
    for number in 0..<3 { try await log.write(event(number, about: id)) }
    let size =
      event(0, about: id).bytes.count + event(1, about: id).bytes.count + event(2, about: id).bytes.count
    for bytes in 0...size + 1 {
      var limits = AuditTrail.Limits()
      limits.bytes = Int64(bytes)
      let trail = try log.trail(of: id, limits: limits)
      #expect(trail.isCut == (bytes < size))
      let all = ["t2", "t1", "t0"]
      #expect(trail.events.map(\.token) == Array(all.prefix(trail.events.count)))
      if bytes >= size { #expect(trail.events.count == 3) }
    }
    await log.close()
  }

  @Test func `lines that are damaged, or contain the id elsewhere, are skipped`() async throws {
    let log = try open()
    try await log.write(event(0, about: id))
    try await log.write(AuditEvent(.scrub, .done, request: "\(id)"))
    let file = folder.file("audit.log")
    let handle = try FileHandle(forWritingTo: file)
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("\"\(id)\n{\"snapshot\":\"\(id)\",\n\n".utf8))
    try handle.close()
    try await log.write(event(1, about: id))
    #expect(try log.trail(of: id).events.map(\.token) == ["t1", "t0"])
    await log.close()
  }

  @Test func `long lines and many lines of others are read in pieces`() async throws {
    let log = try open()
    try await log.write(event(0, about: id))
    try await log.write(
      AuditEvent(.scrub, .done, request: String(repeating: "r", count: 700_000), snapshot: id))
    for number in 0..<20 { try await log.write(event(number, about: SnapshotID())) }
    #expect(try log.trail(of: id).events.map(\.action) == ["scrub", "fetchBundle"])
    await log.close()
  }
}
