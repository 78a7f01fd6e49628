import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

struct PreviousRunTests {
  private let app: SampleApp

  init() throws { app = try SampleApp() }

  /// Runs the app until it is killed, or until the end that `ending` gives it.
  private func run(_ recordings: [String: String], ending: (SnapshotMode) async -> Void) async {
    let mode = app.launch()
    mode.state = .recording
    for (identifier, text) in recordings { _ = mode.process(text, identifier) }
    await mode.flush()
    await ending(mode)
    app.crash()
  }

  private func contents(of run: SnapshotMode.Run, _ mode: SnapshotMode) async throws -> [String: String] {
    let zip = app.temporary.file("\(run).zip")
    let packed = try await mode.makeSnapshot(of: run, to: zip)
    let folder = app.temporary.file("\(SnapshotID())")
    _ = try SnapshotBundle.unpack(zip: zip, into: folder)
    return try Dictionary(
      uniqueKeysWithValues: packed.manifest.recordings.map { recording in
        (
          recording.identifier,
          try String(contentsOf: folder.appending(path: recording.path), encoding: .utf8)
        )
      })
  }

  @Test func `a new app has no previous run`() async throws {
    let mode = app.launch()
    #expect(await mode.previousRun == nil)
    try await mode.discardPreviousRun()
    #expect(try !Folder.exists(app.storage.path + "/previous"))
  }

  @Test func `the run that crashed keeps its data, whatever the next run records`() async throws {
    await run(["a": "crashed", "b": "same"]) { mode in mode.attach(name: "log.txt", data: Data("log".utf8)) }
    let mode = app.launch()
    _ = mode.process("new", "a")
    let run = try #require(await mode.previousRun)
    #expect(!run.endedInGoodOrder && run.recordings == 2 && run.bytes == 11)
    #expect(run.began == SampleApp.time && run.ended == SampleApp.time)
    #expect(try await contents(of: .previous, mode) == ["a": "crashed", "b": "same"])
    #expect(try await contents(of: .current, mode) == ["a": "new", "b": "same"])
    #expect(app.events.all.isEmpty)
  }

  @Test func `a run that was closed or was in the background has ended in good order`() async throws {
    for isClosed in [true, false] {
      await run(["a": "1"]) { mode in
        if isClosed { await mode.close() } else { mode.didEnterBackground() }
        await mode.flush()
      }
      let mode = app.launch()
      #expect(try #require(await mode.previousRun).endedInGoodOrder)
      try await mode.discardPreviousRun()
      #expect(await mode.previousRun == nil)
      #expect(try !Folder.exists(app.storage.path + "/previous"))
      #expect(await mode.report().recordingCount == 1)
    }
  }

  @Test func `a crash in the foreground after a visit to the background is a crash`() async throws {
    await run(["a": "1"]) { mode in
      mode.didEnterBackground()
      mode.willEnterForeground()
      await mode.flush()
    }
    #expect(try #require(await app.launch().previousRun).endedInGoodOrder == false)
  }

  @Test func `it is kept over launches that record nothing, and replaced by the next run that does`()
    async throws
  {
    await run(["a": "crashed"]) { _ in }
    for _ in 0..<2 {
      let mode = app.launch()
      #expect(try await contents(of: .previous, mode) == ["a": "crashed"])
      mode.state = .disabled
      await mode.flush()
      app.crash()
    }
    await run(["a": "second"]) { _ in }
    let mode = app.launch()
    #expect(try await contents(of: .previous, mode) == ["a": "second"])
  }

  @Test func `clearing removes it, and its data counts towards the limit`() async throws {
    let half = String(repeating: "x", count: 50)
    await run(["a": half, "b": half]) { _ in }
    var limited = app
    limited.configuration.limits.totalBytes = 150
    limited.configuration.clock = { SampleApp.time.addingTimeInterval(60) }
    let mode = limited.launch()
    _ = mode.process(half + "1", "a")
    await mode.flush()
    #expect(try #require(await mode.previousRun).recordings == 1)
    #expect(try await contents(of: .current, mode) == ["a": half + "1", "b": half])
    #expect(try await contents(of: .previous, mode) == ["b": half])
    #expect(app.events.kinds == [.recordingsRemoved])
    try await mode.clear()
    #expect(await mode.previousRun == nil)
  }

  @Test func `rules that are new apply to it, too`() async throws {
    await run(["a": #"{"password":"hunter2"}"#]) { _ in }
    let disabled = app.launch()
    _ = await disabled.previousRun
    disabled.state = .disabled
    await disabled.flush()
    var changed = app
    changed.configuration.redaction = .usualSecrets
    let mode = changed.launch()
    #expect(try await contents(of: .previous, mode)["a"]?.contains("hunter2") == false)
  }
}
