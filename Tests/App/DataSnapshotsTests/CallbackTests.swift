import DataSnapshots
import Foundation
import SystemIO
import TestSupport
import Testing

/// Forms of calls for code that does not await.
struct CallbackTests {
  private struct Offline: Error {}

  private let app: SampleApp

  init() throws { app = try SampleApp() }

  private func result(
    _ mode: SnapshotMode, _ work: @escaping @Sendable () -> Result<Data, any Error>
  ) async -> (text: String?, isCalled: Bool) {
    let isCalled = Lock(false)
    let result = await withCheckedContinuation { continuation in
      mode.process("a") { done in
        isCalled.withLock { $0 = true }
        done(work())
      } completion: {
        continuation.resume(returning: $0)
      }
    }
    let text = try? String(decoding: result.get(), as: UTF8.self)
    return (text, isCalled.withLock { $0 })
  }

  @Test func `a completion handler gets live data, which is recorded, and later the recording`() async {
    let mode = app.launch()
    #expect(await result(mode) { .success(Data("off".utf8)) } == ("off", true))
    mode.state = .recording
    #expect(await result(mode) { .success(Data("live".utf8)) } == ("live", true))
    #expect(await result(mode) { .failure(Offline()) } == (nil, true))
    mode.state = .replaying
    #expect(await result(mode) { .success(Data("new".utf8)) } == ("live", false))
    #expect(app.events.all.isEmpty)
  }

  @Test func `a missing recording gives live data, or the error that the policy wants`() async {
    let mode = app.launch()
    mode.state = .replaying
    #expect(await result(mode) { .success(Data("live".utf8)) } == ("live", true))
    var strict = app
    strict.configuration.policy.missing = .fail { _ in }
    let next = strict.launch()
    next.state = .replaying
    #expect(await result(next) { .success(Data("live".utf8)) } == (nil, false))
  }

  @Test func `recorded data is returned only while replaying, call by call`() {
    var changed = app
    changed.configuration.policy.retention = .history(limit: 5)
    let mode = changed.launch()
    mode.state = .recording
    for text in ["1", "2"] { _ = mode.process(text, "a") }
    #expect(mode.recorded("a") == nil)
    mode.state = .replaying
    #expect([1, 2, 3].map { _ in mode.recorded("a") } == ["1", "2", "2"].map { Data($0.utf8) })
    #expect(mode.recorded("b") == nil)
    #expect(app.events.kinds == [.recordingMissing])
  }

  @Test func `a snapshot is activated with a completion handler`() async throws {
    let mode = app.launch()
    let bundle = try app.bundle("one", ["a": "theirs"])
    let manifest = try await withCheckedThrowingContinuation { continuation in
      mode.activate(bundle: bundle) { continuation.resume(with: $0) }
    }
    #expect(mode.activeManifest == manifest && mode.process("live", "a") == "theirs")
  }

  @Test func `work that throws records nothing, and a history is replayed in the order of return`()
    async throws
  {
    var changed = app
    changed.configuration.policy.retention = .history(limit: 5)
    let mode = changed.launch()
    mode.state = .recording
    await #expect(throws: Offline.self) { try await mode.process("a") { () async throws in throw Offline() } }
    #expect(await mode.report().callCount == 0)
    // The first call returns last.
    let (open, gate) = AsyncStream.makeStream(of: Void.self)
    async let first = mode.process("a") { () async throws -> Data in
      for await _ in open { break }
      return Data("first".utf8)
    }
    _ = try await mode.process("a") { () async throws in Data("second".utf8) }
    gate.yield()
    _ = try await first
    mode.state = .replaying
    #expect([0, 1].map { _ in mode.process("live", "a") } == ["second", "first"])
  }

  @Test func `a folder that moves between launches keeps recordings, state and snapshot`() async throws {
    let mode = app.launch()
    try await mode.activate(bundle: try app.bundle("one", ["a": "theirs"]))
    mode.state = .recording
    _ = mode.process("mine", "b")
    mode.state = .replaying
    await mode.close()
    let moved = app.temporary.file("another container/storage")
    try FileManager.default.createDirectory(
      at: moved.deletingLastPathComponent(), withIntermediateDirectories: true)
    try FileManager.default.moveItem(at: app.storage, to: moved)
    let next = SnapshotMode(folder: moved, configuration: app.configuration)
    #expect(next.process("live", "a") == "theirs")
    try await next.deactivate()
    next.state = .replaying
    #expect(next.process("live", "b") == "mine")
    #expect(app.events.all.isEmpty)
  }
}
