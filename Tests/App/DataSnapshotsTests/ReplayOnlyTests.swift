import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// Instances that replay one snapshot and store nothing.
struct ReplayOnlyTests {
  private var app: SampleApp
  private let folder: URL

  init() throws {
    app = try SampleApp()
    folder = app.temporary.file("unpacked")
    _ = try SnapshotBundle.unpack(zip: app.bundle("one", ["feed": "recorded"]), into: folder)
  }

  /// The names and contents of all files.
  private func files() throws -> [String: Data] {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: app.temporary.path)
    return try paths.reduce(into: [:]) { files, path in
      let file = app.temporary.file(path)
      if !file.hasDirectoryPath, Folder.isRegularFile(file.path) { files[path] = try Data(contentsOf: file) }
    }
  }

  @Test func `a snapshot is replayed, and nothing is stored`() async throws {
    let before = try files()
    let mode = try SnapshotMode(replaying: folder, configuration: app.configuration)
    #expect(mode.state == .replaying && mode.isStateForced && !mode.isShut)
    #expect(mode.process("live", "feed") == "recorded")
    mode.state = .recording
    mode.attach(name: "log", data: Data("x".utf8))
    #expect(mode.state == .replaying && mode.process("live", "feed") == "recorded")
    mode.didEnterBackground()
    await mode.flush()
    await #expect(throws: SystemError.self) { try await mode.clear() }
    await #expect(throws: SystemError.self) { try await mode.deactivate() }
    await #expect(throws: BundleError.self) { try await mode.makeSnapshot(to: app.temporary.file("new.zip")) }
    #expect(await mode.report().state == .replaying)
    #expect(await mode.previousRun == nil)
    await mode.close()
    #expect(mode.isShut && mode.process("live", "feed") == "live")
    #expect(try files() == before)
  }

  @Test func `a folder that is no snapshot is refused with its reason`() throws {
    #expect(throws: BundleError.self) { try SnapshotMode(replaying: app.temporary.file("nowhere")) }
    try app.temporary.write(Data(#"{"formatVersion": 3}"#.utf8), to: "newer/manifest.json")
    let error = #expect(throws: BundleError.self) {
      try SnapshotMode(replaying: app.temporary.file("newer"))
    }
    #expect(error?.description.contains("format version 3") == true)
  }

  @Test func `the environment of a launch replays a snapshot without touching the app's folder`() async throws
  {
    let mode = app.launch()
    mode.state = .recording
    _ = mode.process("mine", "feed")
    await mode.flush()
    await mode.close()
    let before = try files()
    var forced = app
    forced.configuration.launch = .init(environment: [
      "DATA_SNAPSHOTS_REPLAY": folder.path, "DATA_SNAPSHOTS_STATE": "recording",
    ])
    let replaying = forced.launch()
    #expect(replaying.state == .replaying && replaying.process("live", "feed") == "recorded")
    await replaying.flush()
    #expect(try files() == before)
    let next = app.launch()
    #expect(next.state == .recording)
    next.state = .replaying
    #expect(next.process("live", "feed") == "mine")
  }

  @Test func `a launch whose snapshot can't be read is disabled, and says why`() throws {
    var forced = app
    forced.configuration.launch = .init(environment: ["DATA_SNAPSHOTS_REPLAY": "/nowhere"])
    let mode = forced.launch()
    #expect(mode.state == .disabled && mode.isShut)
    mode.state = .recording
    #expect(mode.state == .disabled && mode.process("live", "feed") == "live")
    #expect(app.events.kinds == [.stateNotForced])
    #expect(app.events.all.first?.reason.contains("/nowhere can't be replayed") == true)
  }

  @Test func `each task has its own current instance`() async throws {
    let mode = try SnapshotMode(replaying: folder)
    await SnapshotMode.$current.withValue(mode) {
      #expect(SnapshotMode.current === mode)
      await Task { #expect(SnapshotMode.current === mode) }.value
    }
    #expect(SnapshotMode.current == nil)
  }
}
