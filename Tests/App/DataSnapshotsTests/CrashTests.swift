import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// What is kept when the app ends in the moment in which it records.
struct CrashTests {
  private let app: SampleApp

  init() throws { app = try SampleApp() }

  private static func page(_ count: Int) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
  }

  @Test(arguments: [1, 1000, 100_000, 1 << 20])
  func `what was passed before a kill is kept, if it is written before the call returns`(count: Int) async {
    let folder = app.storage.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String, count = count as Int] in
      var configuration = SnapshotMode.Configuration()
      configuration.durability = .beforeReturn
      let mode = SnapshotMode(folder: URL(filePath: folder), configuration: configuration)
      mode.state = .recording
      _ = mode.process(data: Self.page(count), uniqueIdentifier: "last words")
      kill(getpid(), SIGKILL)
    }
    let mode = app.launch()
    mode.state = .replaying
    #expect(mode.process(data: Data("live".utf8), uniqueIdentifier: "last words") == Self.page(count))
    #expect(app.events.all.isEmpty)
  }

  @Test func `a trap keeps the data of all calls before it, redacted, and the next launch replaces none`()
    async throws
  {
    let folder = app.storage.path
    await #expect(processExitsWith: .failure) { [folder = folder as String] in
      var configuration = SnapshotMode.Configuration()
      configuration.durability = .beforeReturn
      configuration.redaction = .usualSecrets
      configuration.policies["h"] = .init(retention: .history(limit: 9))
      let mode = SnapshotMode(folder: URL(filePath: folder), configuration: configuration)
      mode.state = .recording
      // The state is stored for the next launch.
      await mode.flush()
      for round in 0..<5 {
        _ = mode.process(#"{"round":\#(round),"password":"hunter-\#(round)-2"}"#, "a")
        _ = mode.process("call \(round)", "h")
      }
      fatalError("the bug")
    }
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder) {
      let file = app.storage.appending(path: path)
      guard Folder.isRegularFile(file.path) else { continue }
      #expect(try Data(contentsOf: file).range(of: Data("hunter".utf8)) == nil, "\(path)")
    }
    var changed = app
    changed.configuration.redaction = .usualSecrets
    let mode = changed.launch()
    #expect(mode.state == .recording)
    _ = mode.process("new", "a")
    let run = try #require(await mode.previousRun)
    #expect(!run.endedInGoodOrder && run.recordings == 6)
    let zip = app.temporary.file("crashed.zip")
    let packed = try await mode.makeSnapshot(of: .previous, to: zip)
    #expect(packed.manifest.recordings.map(\.call) == [nil, 1, 2, 3, 4, 5])
    #expect(packed.manifest.redactions == SampleApp.names(of: .usualSecrets))
    try await mode.activate(bundle: zip)
    #expect(mode.process("live", "a").contains(#""round":4"#))
    #expect((0..<5).map { _ in mode.process("live", "h") } == (0..<5).map { "call \($0)" })
    #expect(app.events.all.isEmpty)
  }

  /// The journal of an app that was killed while its files could not be written: three records.
  private func makeJournal() async throws -> Data {
    let folder = app.storage.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String] in
      var configuration = SnapshotMode.Configuration()
      configuration.durability = .beforeReturn
      configuration.clock = { SampleApp.time }
      configuration.policies["h"] = .init(retention: .history(limit: 9))
      // The writer of the files stays in the event that the first of them can't be written.
      configuration.onEvent = { _ in while true { pause() } }
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      _ = FileManager.default.createFile(atPath: folder + "/recordings", contents: nil)
      let mode = SnapshotMode(folder: URL(filePath: folder), configuration: configuration)
      mode.state = .recording
      for (text, identifier) in [("one", "a"), ("two", "h"), ("three", "h")] {
        _ = mode.process(text, identifier)
      }
      kill(getpid(), SIGKILL)
    }
    try Folder.remove(folder + "/recordings")
    let journal = app.storage.appending(path: "journal")
    let segments = try Folder.entries(journal.path)
    #expect(segments == ["1"])
    return try Data(contentsOf: journal.appending(path: "1"))
  }

  @Test func `a journal that ends anywhere gives its complete records, and damage ends it`() async throws {
    let journal = try await makeJournal()
    func recovered(_ bytes: Data) async throws -> [String] {
      try Folder.removeTree(app.storage.path)
      try app.temporary.write(bytes, to: "storage/journal/1")
      let mode = app.launch()
      let packed = try await mode.makeSnapshot(to: app.temporary.file("a.zip"))
      await mode.close()
      #expect(try app.names(in: "journal") == [])
      return packed.manifest.recordings.map { "\($0.identifier)\($0.call ?? 0)" }
    }
    #expect(try await recovered(journal) == ["a0", "h1", "h2"])
    let ends = [36 + 1 + 3, 2 * (36 + 1) + 6, journal.count]
    for length in 0..<journal.count {
      let expected = ["a0", "h1", "h2"].prefix(ends.filter { $0 <= length }.count)
      #expect(try await recovered(journal.prefix(length)) == Array(expected), "\(length) bytes")
    }
    for place in stride(from: 0, to: journal.count, by: 3) {
      var damaged = journal
      damaged[place] ^= 1
      let expected = ["a0", "h1", "h2"].prefix(ends.filter { $0 <= place }.count)
      #expect(try await recovered(damaged) == Array(expected), "byte \(place)")
    }
    #expect(app.events.all.isEmpty)
  }

  @Test func `records that are in files already are not recorded twice, and older ones replace nothing`()
    async throws
  {
    let journal = try await makeJournal()
    for round in 0..<2 {
      try app.temporary.write(journal, to: "storage/journal/1")
      let mode = app.launch()
      await mode.flush()
      #expect(try app.names(in: "recordings") == ["a", "h@1", "h@2"], "\(round)")
    }
    var later = app
    later.configuration.clock = { SampleApp.time.addingTimeInterval(1) }
    let mode = later.launch()
    mode.state = .recording
    _ = mode.process("newer", "a")
    await mode.flush()
    try app.temporary.write(journal, to: "storage/journal/1")
    let last = later.launch()
    last.state = .replaying
    #expect(last.process("live", "a") == "newer")
  }

  @Test func `a journal that can't be written is reported once, and the data follows asynchronously`()
    async throws
  {
    var changed = app
    changed.configuration.durability = .beforeReturn
    try app.temporary.write(Data(), to: "storage/journal")
    let mode = changed.launch()
    mode.state = .recording
    for text in ["1", "2"] { _ = mode.process(text, "a") }
    await mode.flush()
    #expect(app.events.kinds == [.durabilityReduced])
    #expect(try #require(app.events.all.first).description.contains("‘a’: it survives a crash only after"))
    #expect(try await mode.makeSnapshot(to: app.temporary.file("a.zip")).manifest.dropped == [])
    // The journal can be written again, and then no longer.
    try Folder.remove(app.storage.path + "/journal")
    _ = mode.process("3", "a")
    await mode.flush()
    let next = changed.launch()
    try Folder.removeTree(app.storage.path + "/journal")
    try app.temporary.write(Data(), to: "storage/journal")
    _ = next.process("4", "a")
    await next.flush()
    #expect(app.events.kinds == [.durabilityReduced, .durabilityReduced])
    next.state = .replaying
    #expect(next.process("live", "a") == "4")
  }

  @Test func `data that can be written neither to the journal nor to its file is listed as dropped`()
    async throws
  {
    var changed = app
    changed.configuration.durability = .beforeReturn
    try app.temporary.write(Data(), to: "storage/journal")
    try app.temporary.write(Data(), to: "storage/recordings")
    let mode = changed.launch()
    mode.state = .recording
    _ = mode.process("12345", "a")
    await mode.flush()
    #expect(app.events.kinds == [.durabilityReduced, .recordingFailed])
    try Folder.remove(app.storage.path + "/recordings")
    #expect(
      try await mode.makeSnapshot(to: app.temporary.file("a.zip")).manifest.dropped
        == [.init(identifier: "a", reason: .unwritable, count: 1, bytes: 5)])
  }

  @Test func `data above the limit and data behind it stay in order`() async {
    var changed = app
    changed.configuration.durability = .beforeReturn(upTo: 10)
    let mode = changed.launch()
    mode.state = .recording
    for round in 0..<100 {
      _ = mode.process(data: Data(count: 1000), uniqueIdentifier: "a")
      _ = mode.process("\(round)", "a")
    }
    mode.state = .replaying
    #expect(mode.process("live", "a") == "99")
    #expect(app.events.all.isEmpty)
  }
}
