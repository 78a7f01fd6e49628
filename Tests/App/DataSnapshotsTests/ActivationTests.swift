import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// Making and replaying snapshots.
struct ActivationTests {
  private let app: SampleApp

  init() throws { app = try SampleApp() }

  /// The folder of the active snapshot.
  private func activeFolder() throws -> String {
    try "storage/snapshots/" + #require(app.names(in: "snapshots").first)
  }

  @Test func `a snapshot contains the recordings and describes their origin`() async throws {
    let mode = app.launch()
    mode.state = .recording
    mode.register(module: "News", files: ["news/feed"])
    _ = mode.process("feed", "news/feed")
    _ = mode.process("other", "Other")
    let report = try ReportID(validating: "BUG-1")
    let zip = app.temporary.file("a.zip")
    let packed = try await mode.makeSnapshot(report: report, to: zip)
    let manifest = try SnapshotBundle.validate(zip: zip, depth: .full)
    #expect(manifest == packed.manifest)
    #expect(manifest.report == report)
    #expect(manifest.createdAt == SampleApp.time)
    #expect(manifest.application == app.configuration.application)
    #expect(manifest.device == app.configuration.device)
    #expect(manifest.modules == [Module(name: "News", files: ["news/feed"])])
    #expect(Set(manifest.recordings.map(\.identifier)) == ["news/feed", "Other"])
    #expect(manifest.recordings.allSatisfy { $0.recordedAt == SampleApp.time })
    #expect(try app.names(in: "frozen") == [])
    #expect(try await mode.makeSnapshot(to: zip).manifest.id != manifest.id)
  }

  @Test func `a snapshot that is made while recording goes on is consistent`() async throws {
    let mode = app.launch()
    mode.state = .recording
    let recording = Task {
      var value: UInt8 = 0
      repeat {
        value &+= 1
        for identifier in ["a", "b", "c"] {
          _ = mode.process(
            data: Data(repeating: value, count: 10_000 + Int(value)), uniqueIdentifier: identifier)
        }
        await mode.flush()
      } while !Task.isCancelled
    }
    for round in 0..<5 {
      let zip = app.temporary.file("\(round).zip")
      let packed = try await mode.makeSnapshot(to: zip)
      #expect(try SnapshotBundle.validate(zip: zip, depth: .full) == packed.manifest)
    }
    recording.cancel()
    await recording.value
    #expect(app.events.all.isEmpty)
  }

  @Test func `a path that can't be written is reported, and no file remains`() async throws {
    let mode = app.launch()
    mode.state = .recording
    _ = mode.process("1", "a")
    await #expect(throws: BundleError.self) {
      try await mode.makeSnapshot(to: app.temporary.file("nowhere/a.zip"))
    }
    #expect(try app.names(in: "frozen") == [])
  }

  @Test func `an activated snapshot is replayed, in this launch and the next`() async throws {
    let mode = app.launch()
    mode.state = .recording
    _ = mode.process("mine", "a")
    let manifest = try await mode.activate(bundle: try app.bundle("one", ["a": "theirs"]))
    #expect(mode.state == .replaying)
    #expect(mode.activeManifest == manifest)
    #expect(mode.process("live", "a") == "theirs")
    #expect(mode.process("live", "b") == "live")
    let next = app.launch()
    #expect(next.state == .replaying)
    #expect(next.activeManifest == manifest)
    #expect(next.process("live", "a") == "theirs")
    #expect(app.events.kinds == [.recordingMissing])
  }

  @Test func `an app replays the recordings of another app`() async throws {
    let mode = app.launch()
    mode.state = .recording
    let identifiers = ["news/feed?page=2", "CON", "😀", String(repeating: "x", count: 4096)]
    for identifier in identifiers { _ = mode.process(identifier + "!", identifier) }
    let zip = app.temporary.file("a.zip")
    _ = try await mode.makeSnapshot(to: zip)
    let other = try SampleApp()
    let replaying = other.launch()
    try await replaying.activate(bundle: zip)
    for identifier in identifiers { #expect(replaying.process("live", identifier) == identifier + "!") }
    #expect(other.events.all.isEmpty)
  }

  @Test func `a snapshot replaces the previous one, whose folder is removed`() async throws {
    let mode = app.launch()
    try await mode.activate(bundle: try app.bundle("one", ["a": "1", "b": "1"]))
    let two = try app.bundle("two", ["a": "2"])
    try await mode.activate(bundle: two)
    #expect(mode.process("live", "a") == "2")
    #expect(mode.process("live", "b") == "live")
    try await mode.activate(bundle: two)
    #expect(mode.process("live", "a") == "2")
    try await mode.deactivate()
    try await mode.deactivate()
    #expect(try app.names(in: "snapshots") == [])
    #expect(app.events.kinds == [.recordingMissing])
  }

  @Test func `after deactivation live data is used, in this launch and the next`() async throws {
    let mode = app.launch()
    mode.state = .recording
    _ = mode.process("mine", "a")
    try await mode.activate(bundle: try app.bundle("one", ["a": "1"]))
    try await mode.deactivate()
    #expect(mode.state == .disabled)
    #expect(mode.activeManifest == nil)
    #expect(mode.process("live", "a") == "live")
    let next = app.launch()
    #expect(next.state == .disabled)
    next.state = .replaying
    #expect(next.process("live", "a") == "mine")
  }

  @Test func `deactivating does not change another state`() async throws {
    let mode = app.launch()
    try await mode.activate(bundle: try app.bundle("one", ["a": "1"]))
    mode.state = .recording
    try await mode.deactivate()
    #expect(mode.state == .recording)
    #expect(app.launch().state == .recording)
  }

  @Test func `every call sees the old snapshot or the new, never live data or a mixture`() async throws {
    let mode = app.launch()
    let bundles = try (0..<2).map { version in
      try app.bundle("\(version)", ["a": "version \(version)", "b": "version \(version)"])
    }
    try await mode.activate(bundle: bundles[0])
    let readers = (0..<3).map { reader in
      Task {
        var seen: Set<String> = []
        repeat {
          seen.insert(mode.process("live", reader == 0 ? "a" : "b"))
          await Task.yield()
        } while !Task.isCancelled
        return seen
      }
    }
    for round in 1...20 { try await mode.activate(bundle: bundles[round % 2]) }
    for reader in readers {
      reader.cancel()
      #expect(await reader.value.isSubset(of: ["version 0", "version 1"]))
    }
    #expect(app.events.all.isEmpty)
  }

  @Test func `an invalid bundle does not replace the active snapshot`() async throws {
    let mode = app.launch()
    let one = try app.bundle("one", ["a": "theirs"])
    let manifest = try await mode.activate(bundle: one)
    let kept = try app.names(in: "snapshots")

    let bytes = try Data(contentsOf: one)
    var damaged = bytes
    let place = try #require(bytes.firstRange(of: Data("theirs".utf8))?.lowerBound)
    damaged[place] ^= 1
    let refused = try [
      app.temporary.write(Data("no zip".utf8), to: "refused/0"),
      app.temporary.write(Data(), to: "refused/1"),
      app.temporary.write(bytes.dropLast(10), to: "refused/2"),
      app.temporary.write(damaged, to: "refused/3"),
      app.temporary.file("refused/nowhere"),
      app.temporary.path.isEmpty ? one : app.temporary.url,
    ]
    for zip in refused {
      await #expect(throws: BundleError.self) { try await mode.activate(bundle: zip) }
      #expect(mode.activeManifest == manifest)
      #expect(mode.process("live", "a") == "theirs")
      #expect(try app.names(in: "snapshots") == kept)
    }
    #expect(app.launch().process("live", "a") == "theirs")
    #expect(app.events.all.isEmpty)
  }

  @Test func `if the activation can't be stored, the active snapshot does not change`() async throws {
    let mode = app.launch()
    mode.state = .recording
    await mode.flush()
    try Folder.remove(app.storage.path + "/mode.json")
    try app.temporary.write(Data(), to: "storage/mode.json/in-the-way")
    await #expect(throws: BundleError.self) {
      try await mode.activate(bundle: try app.bundle("one", ["a": "theirs"]))
    }
    #expect(mode.state == .recording)
    #expect(mode.activeManifest == nil)
    #expect(app.events.kinds == [.stateNotSaved])
    try Folder.removeTree(app.storage.path + "/mode.json")
    try await mode.activate(bundle: app.temporary.file("one.zip"))
    #expect(mode.process("live", "a") == "theirs")
    let next = app.launch()
    try await next.deactivate()
    try await next.deactivate()
    #expect(try app.names(in: "snapshots") == [])
  }

  @Test func `a temporary failure to read the state does not lose the active snapshot`() async throws {
    try await app.launch().activate(bundle: try app.bundle("one", ["a": "theirs"]))
    let (file, aside) = (app.storage.path + "/mode.json", app.storage.path + "/aside.json")
    try Folder.publish(file, as: aside)
    try Folder.create(file)
    let mode = app.launch()
    #expect(mode.process("live", "a") == "live")
    _ = try await mode.makeSnapshot(to: app.temporary.file("a.zip"))
    try Folder.remove(file)
    try Folder.publish(aside, as: file)
    #expect(app.launch().process("live", "a") == "theirs")
    #expect(app.events.kinds == [.stateNotRestored])
  }

  @Test func `a modified recording is reported, and live data is used`() async throws {
    let mode = app.launch()
    try await mode.activate(bundle: try app.bundle("one", ["a": "theirs", "b": "fine"]))
    let file = try activeFolder() + "/recordings/a"
    for bytes in ["theirS", "their", "theirs!", ""] {
      try app.temporary.write(Data(bytes.utf8), to: file)
      #expect(mode.process("live", "a") == "live")
      #expect(mode.process("live", "b") == "fine")
    }
    try Folder.remove(app.temporary.file(file).path)
    #expect(mode.process("live", "a") == "live")
    #expect(app.events.kinds == Array(repeating: .replayFailed, count: 5))
    #expect(app.events.all.allSatisfy { $0.identifier == "a" })
  }

  @Test func `a missing active snapshot is reported, and live data is used`() async throws {
    let mode = app.launch()
    try await mode.activate(bundle: try app.bundle("one", ["a": "theirs"]))
    try Folder.removeTree(app.storage.path)
    #expect(mode.process("live", "a") == "live")
    #expect(app.events.kinds == [.replayFailed])
    try await mode.activate(bundle: app.temporary.file("one.zip"))
    #expect(mode.process("live", "a") == "theirs")
  }

  @Test func `after a kill at any moment of activation the next launch has the old snapshot or the new`()
    async throws
  {
    let bundles = try (0..<2).map { version in
      let recordings = (0..<30).map { ("\($0)", "version \(version)") }
      return try app.bundle("\(version)", Dictionary(uniqueKeysWithValues: recordings)).path
    }
    for delay in [0, 3, 9, 17, 30] {
      let folder = app.storage.path
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [
          folder = folder as String, bundles = bundles as [String], delay = delay as Int
        ] in
        let mode = SnapshotMode(folder: URL(filePath: folder))
        try await mode.activate(bundle: URL(filePath: bundles[0]))
        Thread.detachNewThread {
          usleep(UInt32(delay) * 1000)
          kill(getpid(), SIGKILL)
        }
        for round in 1... { try await mode.activate(bundle: URL(filePath: bundles[round % 2])) }
      }
      let next = app.launch()
      let seen = Set((0..<30).map { next.process("live", "\($0)") })
      #expect(seen == ["version 0"] || seen == ["version 1"])
      _ = try await next.makeSnapshot(to: app.temporary.file("a.zip"))
      #expect(try app.names(in: "snapshots").count == 1)
      await next.close()
    }
    #expect(app.events.all.isEmpty)
  }
}
