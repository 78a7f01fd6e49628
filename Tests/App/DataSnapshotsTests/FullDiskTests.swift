import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// Recording on a real full disk.
@Suite(.timeLimit(.minutes(5)), .enabled("\(SmallDisk.requirement)") { await SmallDisk.isPossible })
struct FullDiskTests {
  private let disk: SmallDisk
  private let app: SampleApp

  init() async throws {
    disk = try await SmallDisk()
    app = try SampleApp()
  }

  private var storage: URL { disk.file("storage") }

  private func launch() -> SnapshotMode { app.launch(folder: storage) }

  /// The events about recordings. While the disk is full, other files can't be stored either.
  private var pauses: [SnapshotMode.Event.Kind] { app.events.kinds.filter { $0 != .stateNotSaved } }

  private static func page(_ number: Int, count: Int = 100_000) -> Data {
    Data(repeating: UInt8(number), count: count)
  }

  /// Returns the names of the recordings, and checks that each is complete and that there are no other files.
  private func recordings() throws -> [String] {
    let names = try Folder.entries(storage.path + "/recordings")
    for name in names {
      let data = try Data(contentsOf: storage.appending(path: "recordings/\(name)"))
      #expect(data.count == 100_000 && Set(data).count == 1, "\(name) has \(data.count) bytes")
    }
    #expect(try Folder.entries(storage.path).filter { $0.hasSuffix(".staged") } == [])
    return names
  }

  @Test func `a full disk is reported once, the app continues, and recordings stay complete`()
    async throws
  {
    let mode = launch()
    mode.state = .recording
    try disk.fill(leaving: 600_000)
    for number in 0..<20 {
      #expect(mode.process(data: Self.page(number), uniqueIdentifier: "\(number)") == Self.page(number))
      await mode.flush()
    }
    #expect(pauses == [.recordingPaused])
    #expect(await mode.report().isPaused)
    let kept = try recordings()
    #expect((2...5).contains(kept.count))
    // A newer version does not partially replace an existing recording.
    _ = mode.process(data: Self.page(99), uniqueIdentifier: kept[0])
    await mode.flush()
    #expect(try recordings() == kept)

    try disk.empty()
    _ = mode.process(data: Self.page(20), uniqueIdentifier: "20")
    await mode.flush()
    #expect(pauses == [.recordingPaused, .recordingResumed])
    #expect(app.events.all.last?.reason.contains("\(20 - kept.count + 1) were not kept") == true)
    #expect(try recordings() == (kept + ["20"]).sorted())
    #expect(!(await mode.report().isPaused))

    // The next launch finds and replays the existing recordings.
    let next = launch()
    next.state = .replaying
    for name in kept {
      let live = Self.page(50)
      #expect(next.process(data: live, uniqueIdentifier: name) == Self.page(try #require(Int(name))))
    }
  }

  @Test func `a recording that needs most of the disk is stored as soon as there is room`() async throws {
    let mode = launch()
    mode.state = .recording
    let large = Self.page(1, count: 700_000)
    try disk.fill(leaving: 500_000)
    for identifier in ["large", "small"] {
      _ = mode.process(
        data: identifier == "large" ? large : Data(count: 10), uniqueIdentifier: identifier)
      await mode.flush()
    }
    // Small recordings do not resume and pause recording repeatedly.
    #expect(pauses == [.recordingPaused])
    try disk.empty()
    _ = mode.process(data: large, uniqueIdentifier: "large")
    await mode.flush()
    #expect(pauses == [.recordingPaused, .recordingResumed])
    #expect(try Data(contentsOf: storage.appending(path: "recordings/large")) == large)
  }

  @Test func `a state that can't be stored applies to this launch, and the next one has the old state`()
    async throws
  {
    let mode = launch()
    mode.state = .recording
    await mode.flush()
    try disk.fill()
    mode.state = .replaying
    await mode.flush()
    #expect(mode.state == .replaying)
    #expect(app.events.kinds == [.stateNotSaved])
    let next = launch()
    #expect(next.state == .recording)
    try disk.empty()
    next.state = .disabled
    await next.flush()
    #expect(launch().state == .disabled)
  }

  @Test func `with any amount of free space, a snapshot is made completely or not at all`() async throws {
    let mode = launch()
    mode.state = .recording
    for number in 0..<3 { _ = mode.process(data: Self.page(number), uniqueIdentifier: "\(number)") }
    await mode.flush()
    var outcomes: Set<Bool> = []
    for pages in 0..<12 {
      try disk.fill(leaving: Int64(pages) * 4096)
      let zip = disk.file("\(pages).zip")
      let error = await bundleError { _ = try await mode.makeSnapshot(to: zip) }
      if let error, case .system(let reason) = error { #expect(reason.isOutOfSpace) }
      if error == nil { _ = try SnapshotBundle.validate(zip: zip, depth: .full) }
      #expect(try Folder.exists(zip.path) == (error == nil), "\(pages) pages: \(String(describing: error))")
      #expect(try Folder.entries(disk.url.path).filter { $0 != zip.lastPathComponent } == ["storage"])
      #expect(try !Folder.exists(storage.path + "/frozen") || Folder.isFolder(storage.path + "/frozen"))
      #expect(try recordings() == ["0", "1", "2"])
      try Folder.removeIfPresent(zip.path)
      outcomes.insert(error == nil)
    }
    #expect(outcomes == [true, false])
  }

  @Test func `with any amount of free space, a snapshot is activated completely or nothing changes`()
    async throws
  {
    let zip = try app.bundle("a", ["a": String(repeating: "recorded", count: 10_000), "b": "recorded"])
    let mode = launch()
    mode.state = .recording
    _ = mode.process("here", "b")
    await mode.flush()
    var outcomes: Set<Bool> = []
    for pages in 0..<40 where pages % 3 == 0 {
      try disk.fill(leaving: Int64(pages) * 4096)
      let error = await bundleError { try await mode.activate(bundle: zip) }
      #expect(mode.state == (error == nil ? .replaying : .recording), "\(pages) pages")
      #expect((mode.activeManifest == nil) == (error != nil))
      #expect(mode.process("live", "b") == (error == nil ? "recorded" : "live"))
      try disk.empty()
      if error == nil { try await mode.deactivate() }
      mode.state = .recording
      _ = mode.process("here", "b")
      // The partially unpacked files are removed, and so is the snapshot that was active.
      await mode.flush()
      _ = try await mode.makeSnapshot(to: app.temporary.file("\(pages).zip"))
      #expect(try Folder.entries(storage.path + "/snapshots") == [])
      outcomes.insert(error == nil)
    }
    #expect(outcomes == [true, false])
  }

  private func bundleError(_ body: () async throws -> Void) async -> BundleError? {
    do {
      try await body()
      return nil
    } catch let error as BundleError {
      return error
    } catch {
      Issue.record(error)
      return nil
    }
  }
}
