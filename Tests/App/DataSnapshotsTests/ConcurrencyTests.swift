import DataSnapshots
import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// Concurrent operations, mainly for ThreadSanitizer.
struct ConcurrencyTests {
  @Test func `recording, replaying, activating and inspecting can run at the same time`() async throws {
    var app = try SampleApp()
    app.configuration.policies["h*"] = .init(retention: .history(limit: 5))
    app.configuration.redaction = .usualSecrets
    app.configuration.limits.totalBytes = 200_000
    let bundle = try app.bundle("one", ["a": "theirs", "h1": "theirs"])
    let mode = app.launch()
    let temporary = app.temporary
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          for round in 0..<60 {
            let live = Data("{\"mail\":\"a\(worker)@example.com\",\"round\":\(round)}".utf8)
            let answer = mode.process(
              data: live, uniqueIdentifier: round.isMultiple(of: 2) ? "a" : "h\(worker)")
            #expect(!answer.isEmpty)
            let worked = try await mode.process("b\(round % 7)") { () async throws in live }
            #expect(!worked.isEmpty)
          }
        }
      }
      group.addTask {
        for round in 0..<40 {
          mode.state = SnapshotMode.State.allCases[round % 3]
          mode.register(module: "M\(round % 3)", files: ["a", "b\(round)"])
          mode.attach(name: "log \(round % 3).txt", data: Data("line \(round)".utf8))
          if round.isMultiple(of: 5) { mode.rewind() }
          await Task.yield()
        }
      }
      group.addTask {
        for round in 0..<6 {
          try await mode.activate(bundle: bundle)
          _ = await mode.report()
          _ = try await mode.makeSnapshot(to: temporary.file("\(round).zip"))
          if round == 3 { try await mode.clear() }
          try await mode.deactivate()
        }
      }
      try await group.waitForAll()
    }
    mode.state = .recording
    _ = mode.process("last", "a")
    let zip = temporary.file("last.zip")
    let packed = try await mode.makeSnapshot(to: zip)
    #expect(try SnapshotBundle.validate(zip: zip, depth: .full) == packed.manifest)
    mode.state = .replaying
    #expect(mode.process("live", "a") == "last")
  }
}
