import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

@Suite struct AppDataTests {
  @Test func `a bundle is copied into a container that does not exist yet`() throws {
    let files = [
      "Documents/notes.json": "[]", "Documents/größe ☃/a": "", "Library/Preferences/x.plist": "p",
      ".hidden": "h", "Library/.also/.hidden": "i",
    ]
    let fixture = try AppDataFixture(files, folders: ["tmp", "Library/Caches/deep"])
    let report = try AppData(contentsOf: fixture.bundle).copy(into: fixture.container)
    for (path, text) in files { #expect(try fixture.text(path) == text) }
    #expect(try fixture.paths() == AppDataFixture.paths(fixture.source("")))
    #expect(report.paths(.created) == files.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    #expect(report.paths(.replaced).isEmpty && report.paths(.unchanged).isEmpty)
    #expect(report.folders.contains("Library/Caches/deep"))
    #expect(report.folders.contains("tmp"))
    #expect(report.bytes == 5)
  }

  @Test func `different files are replaced, equal files are not touched, and other files remain`()
    throws
  {
    let fixture = try AppDataFixture(["Documents/a": "new!", "Documents/b": "same", "Documents/c": "longer"])
    try fixture.folder.write(Data("old!".utf8), to: "container/Documents/a")
    let same = try fixture.folder.write(Data("same".utf8), to: "container/Documents/b")
    try fixture.folder.write(Data("short".utf8), to: "container/Documents/c")
    try fixture.folder.write(Data("mine".utf8), to: "container/Documents/mine")
    try File(same.path, .update).setModifiedAt(1_000_000)

    let report = try AppData(contentsOf: fixture.bundle).copy(into: fixture.container)
    #expect(try fixture.text("Documents/a") == "new!")
    #expect(try fixture.text("Documents/c") == "longer")
    #expect(try fixture.text("Documents/mine") == "mine")
    #expect(try File(same.path).modifiedAt == 1_000_000)
    #expect(report.paths(.replaced) == ["Documents/a", "Documents/c"])
    #expect(report.paths(.unchanged) == ["Documents/b"])
    #expect(report.folders.isEmpty)
    #expect(report.bytes == 10)
    #expect("\(report)" == "0 created, 2 replaced, 1 unchanged; 10 bytes written")
    #expect(try fixture.paths().count == 5)
  }

  @Test func `a second copy writes nothing`() throws {
    let fixture = try AppDataFixture(["Documents/a": "1", "Library/b": "2"])
    let data = try AppData(contentsOf: fixture.bundle)
    try data.copy(into: fixture.container)
    let report = try data.copy(into: fixture.container)
    #expect(report.bytes == 0)
    #expect(report.paths(.unchanged) == ["Documents/a", "Library/b"])
  }

  @Test func `names that differ only in case are two files on a case-sensitive disk`() throws {
    let fixture = try AppDataFixture(["Documents/a": "small", "Documents/A": "large", "documents/a": "other"])
    try AppData(contentsOf: fixture.bundle).copy(into: fixture.container)
    #expect(try fixture.text("Documents/a") == "small")
    #expect(try fixture.text("Documents/A") == "large")
    #expect(try fixture.text("documents/a") == "other")
    #expect(try fixture.paths().count == 5)
  }

  @Test func `the right to execute comes from the source, the other permissions from the replaced file`()
    throws
  {
    let fixture = try AppDataFixture(["run": "#!", "plain": "x", "was": "y", "becomes": "#!"])
    for name in ["run", "becomes"] { try File(fixture.source(name).path).setMode(0o755) }
    let was = try fixture.folder.write(Data("y".utf8), to: "container/was")
    let becomes = try fixture.folder.write(Data("#!".utf8), to: "container/becomes")
    try File(was.path).setMode(0o700)
    try File(becomes.path).setMode(0o640)
    let report = try AppData(contentsOf: fixture.bundle).copy(into: fixture.container)
    let root = try OpenFolder(fixture.container.path)
    #expect(try root.status("run")?.isExecutable == true)
    #expect(try root.status("plain")?.isExecutable == false)
    #expect(try root.status("was")?.permissions == 0o600)
    #expect(try root.status("becomes")?.permissions == 0o750)
    #expect(report.paths(.replaced) == ["becomes", "was"])
  }

  @Test
  func `Finder's files, the container's metadata and temporary files of an interrupted copy are skipped`()
    throws
  {
    let identity = ".com.apple.mobile_container_manager.metadata.plist"
    let leftover = ".snapshot-6f0c1c56-2b1b-4a3e-9d5a-0c4f6f1f2a10.partial"
    let fixture = try AppDataFixture([
      identity: "theirs", "Documents/" + identity: "just a name here", ".DS_Store": "f", "tmp/.DS_Store": "f",
      "Documents/" + leftover: "half", "Documents/.snapshot-x.partial": "just a name",
    ])
    try fixture.folder.write(Data("ours".utf8), to: "container/" + identity)
    let report = try AppData(contentsOf: fixture.bundle).copy(into: fixture.container)
    #expect(try fixture.text(identity) == "ours")
    #expect(report.paths(.created) == ["Documents/" + identity, "Documents/.snapshot-x.partial"])
    #expect(report.passedOver == [".DS_Store", identity, "Documents/" + leftover, "tmp/.DS_Store"])
    #expect(
      try fixture.paths()
        == [identity, "Documents", "Documents/" + identity, "Documents/.snapshot-x.partial", "tmp"].sorted())
  }

  @Test func `an interrupted copy's files are removed from the container, those being written are not`()
    throws
  {
    let fixture = try AppDataFixture(["Documents/a": "1"])
    let abandoned = "Documents/.snapshot-6f0c1c56-2b1b-4a3e-9d5a-0c4f6f1f2a10.partial"
    let written = "Documents/.snapshot-7f0c1c56-2b1b-4a3e-9d5a-0c4f6f1f2a10.partial"
    try fixture.folder.write(Data("half".utf8), to: "container/" + abandoned)
    let other = try File(fixture.folder.write(Data("half".utf8), to: "container/" + written).path)
    #expect(try other.tryLock())
    try AppData(contentsOf: fixture.bundle).copy(into: fixture.container)
    #expect(try fixture.paths() == ["Documents", written, "Documents/a"])
    withExtendedLifetime(other) {}
  }

  @Test func `if the condition is false, the source is not read`() throws {
    let fixture = try AppDataFixture(["Documents/a": "1"])
    var asked = 0
    func source() -> URL? {
      asked += 1
      return fixture.folder.file("missing.xcappdata")
    }
    let outcome = try AppData.preload(
      source(), into: fixture.container, when: .environment("TEST") && .debugBuild, launch: .init())
    #expect(outcome == .skipped(unless: "(TEST set and a debug build)"))
    #expect("\(outcome)" == "No app data preloaded: the condition is (TEST set and a debug build).")
    #expect(asked == 0)
    #expect(try fixture.paths().isEmpty)
  }

  @Test func `if the condition is true, the data is copied, or a missing bundle is reported`() throws {
    let fixture = try AppDataFixture(["Documents/a": "1"])
    let launch = PreloadCondition.Launch(environment: ["TEST": "1"])
    let outcome = try AppData.preload(
      fixture.bundle, into: fixture.container, when: .environment("TEST"), launch: launch)
    guard case .copied(let report) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(report.paths(.created) == ["Documents/a"])
    #expect("\(outcome)" == "App data preloaded: 1 created, 0 replaced, 0 unchanged; 1 bytes written.")
    #expect(throws: AppDataError.self) {
      try AppData.preload(nil, into: fixture.container, when: .always, launch: launch)
    }
  }

  @Test func `concurrent copies into one container have the same result as one`() async throws {
    let files = Dictionary(uniqueKeysWithValues: (0..<40).map { ("Documents/\($0 % 5)/\($0)", "\($0)") })
    let fixture = try AppDataFixture(files)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          #expect(throws: Never.self) {
            try AppData(contentsOf: fixture.bundle).copy(into: fixture.container)
          }
        }
      }
    }
    for (path, text) in files { #expect(try fixture.text(path) == text) }
    #expect(try fixture.paths() == AppDataFixture.paths(fixture.source("")))
  }
}
