import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// App data as part of a snapshot.
@Suite struct AppDataSnapshotTests {
  private func fixture() throws -> AppDataFixture {
    let fixture = try AppDataFixture(
      ["Documents/notes.json": "[1]", "Documents/.hidden": "h", "Library/run": "#!", "empty": ""],
      folders: ["tmp", "Library/Caches/deep"], information: AppDataFixture.information("com.example.news"))
    try File(fixture.source("Library/run").path).setMode(0o755)
    return fixture
  }

  @Test func `a bundle becomes a snapshot that is copied completely, from the zip and from its folder`()
    throws
  {
    let fixture = try fixture()
    try fixture.write("f", to: ".DS_Store")
    let (zip, unpacked) = (fixture.folder.file("a.zip"), fixture.folder.file("unpacked"))
    let packed = try AppData.makeSnapshot(of: fixture.bundle, to: zip)
    #expect(packed.manifest.application == .init(identifier: "com.example.news", version: "3.1", build: "7"))
    #expect(packed.manifest.recordings.isEmpty)
    #expect(try SnapshotBundle.unpack(zip: zip, into: unpacked) == packed.manifest)
    try FileManager.default.removeItem(at: fixture.source(".DS_Store"))

    for source in [zip, unpacked] {
      try Folder.removeTree(fixture.container.path)
      let report = try AppData(contentsOf: source).copy(into: fixture.container)
      #expect(try fixture.paths() == AppDataFixture.paths(fixture.source("")))
      #expect(try fixture.text("Documents/notes.json") == "[1]")
      #expect(try OpenFolder(fixture.container.path).folder("Library").status("run")?.isExecutable == true)
      #expect(try OpenFolder(fixture.container.path).status("empty")?.isExecutable == false)
      #expect(report.paths(.created).count == 4)
      #expect(try AppData(contentsOf: source).copy(into: fixture.container).bytes == 0)
    }
  }

  @Test func `an unpacked snapshot's folder yields the same bytes`() throws {
    let fixture = try fixture()
    let zips = ["a.zip", "b.zip"].map(fixture.folder.file)
    _ = try AppData.makeSnapshot(of: fixture.bundle, to: zips[0])
    _ = try SnapshotBundle.unpack(zip: zips[0], into: fixture.folder.file("unpacked"))
    _ = try SnapshotBundle.pack(folder: fixture.folder.file("unpacked"), to: zips[1])
    #expect(try Data(contentsOf: zips[0]) == Data(contentsOf: zips[1]))
  }

  @Test func `an empty container counts as a container, and a snapshot without one has none`() throws {
    let fixture = try AppDataFixture([:])
    let zip = fixture.folder.file("a.zip")
    let packed = try AppData.makeSnapshot(of: fixture.bundle, to: zip)
    #expect(packed.manifest.application.identifier == "Fixture")
    #expect(try AppData(contentsOf: zip).entries.isEmpty)
    let plain = fixture.folder.file("b.zip")
    try fixture.folder.write(Data("x".utf8), to: "plain/x")
    _ = try SnapshotBundle.pack(
      plainFolder: fixture.folder.file("plain"), application: packed.manifest.application, device: .current,
      to: plain)
    _ = try SnapshotBundle.unpack(zip: plain, into: fixture.folder.file("unpacked"))
    for source in [plain, fixture.folder.file("unpacked")] {
      let error = #expect(throws: AppDataError.self) { try AppData(contentsOf: source) }
      #expect(error?.description.contains("contains no app data") == true)
    }
  }

  #if os(Linux)
    /// A container as iOS makes it since 13, with names that differ only in case or in composition.
    private func container() throws -> AppDataFixture {
      let scene = "Library/SplashBoard/Snapshots/sceneID:com.example.news-default"
      let fixture = try AppDataFixture(
        [
          "\(scene)/a@2x.ktx": "1", "\(scene)/downscaled/b.ktx": "2", "Documents/a": "3", "Documents/A": "4",
          "Documents/%%x%3ay": "5", "Documents/x:y": "6", "Library/con": "7", "Documents/100%": "8",
        ], folders: ["tmp/a:b", "Documents/É"])
      for (index, name) in ["\u{E9}", "e\u{301}"].enumerated() {
        let file = try File(fixture.source("Documents").path + "/" + name, .create(mode: 0o600))
        try file.write(Array("\(index)".utf8), at: 0)
      }
      return fixture
    }

    @Test func `a container with any names is restored exactly, from the zip and from its folder`() throws {
      let fixture = try container()
      let (zip, unpacked) = (fixture.folder.file("a.zip"), fixture.folder.file("unpacked"))
      let packed = try AppData.makeSnapshot(of: fixture.bundle, to: zip)
      #expect(packed.leftOut.isEmpty)
      _ = try SnapshotBundle.unpack(zip: zip, into: unpacked)
      let again = fixture.folder.file("b.zip")
      _ = try SnapshotBundle.pack(folder: unpacked, to: again)
      #expect(try Data(contentsOf: again) == Data(contentsOf: zip))
      for entry in try OpenSnapshot(zip: zip).members {
        #expect(!entry.name.contains(":"))
      }
      let expected = try tree(fixture.source("").path)
      #expect(expected.count >= 19)
      for source in [zip, unpacked] {
        try Folder.removeTree(fixture.container.path)
        try AppData(contentsOf: source).copy(into: fixture.container)
        #expect(try tree(fixture.container.path) == expected)
      }
    }

    @Test func `a container that another program has unpacked is restored exactly`() async throws {
      let fixture = try container()
      let (zip, unpacked) = (fixture.folder.file("a.zip"), fixture.folder.file("unpacked"))
      _ = try AppData.makeSnapshot(of: fixture.bundle, to: zip)
      #expect(try await Tool.run("unzip", ["-q", zip.path, "-d", unpacked.path]).status == 0)
      try AppData(contentsOf: unpacked).copy(into: fixture.container)
      #expect(try tree(fixture.container.path) == tree(fixture.source("").path))
    }

    @Test func `names that no bundle can contain are left out and listed`() throws {
      let long = String(repeating: ":", count: 90)
      let fixture = try AppDataFixture(["Documents/a": "1", "Documents/\(long)/b/c": "2"])
      let odd = fixture.source("Documents").path.utf8.map { CChar(bitPattern: $0) } + [0x2F, -1, 0]
      let descriptor = odd.withUnsafeBufferPointer {
        open($0.baseAddress.unsafelyUnwrapped, O_CREAT | O_WRONLY, 0o600)
      }
      _ = Descriptor(taking: descriptor)
      let zip = fixture.folder.file("a.zip")
      let packed = try AppData.makeSnapshot(of: fixture.bundle, to: zip)
      #expect(packed.leftOut == ["Documents/\u{FFFD}", "Documents/" + long])
      #expect(try AppData(contentsOf: zip).entries.map(\.path) == ["Documents", "Documents/a"])
    }

    /// The contents of all files below a folder by their paths; empty for folders.
    private func tree(_ folder: String) throws -> [[UInt8]: String] {
      var found: [[UInt8]: String] = [:]
      var folders = [""]
      while let path = folders.popLast() {
        for name in try OpenFolder(folder + "/" + path).entries() {
          let child = path + name
          if Folder.isFolder(folder + "/" + child) {
            folders.append(child + "/")
            found[Array(child.utf8)] = ""
          } else {
            let file = try File(folder + "/" + child)
            found[Array(child.utf8)] = String(decoding: try file.read(upTo: 100, at: 0), as: UTF8.self)
          }
        }
      }
      return found
    }
  #endif

  @Test func `data that a zip can't contain is rejected, and no zip remains`() throws {
    let zipName = "a.zip"
    let linked = try AppDataFixture(["Documents/a": "1"])
    try FileManager.default.createSymbolicLink(
      atPath: linked.source("Documents/z").path, withDestinationPath: "a")
    let broken = try AppDataFixture(["Documents/a": "1"], information: "no property list")
    let large = try AppDataFixture(
      ["Documents/a": "1"], information: String(repeating: " ", count: AppDataInfo.sizeLimit + 1))
    for (fixture, words) in [
      (linked, "‘Documents/z’ is a symbolic link"),
      (broken, "AppDataInfo.plist is refused"), (large, "more than 1048576 bytes"),
    ] {
      let zip = fixture.folder.file(zipName)
      let error = #expect(throws: AppDataError.self) {
        try AppData.makeSnapshot(of: fixture.bundle, to: zip)
      }
      #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
      #expect(try Folder.entries(fixture.folder.path) == ["Fixture.xcappdata"])
    }
  }

  @Test func `keys of the information are optional`() throws {
    let fixture = try AppDataFixture([:], information: "<plist version=\"1.0\"><dict></dict></plist>")
    #expect(try AppDataInfo(bundle: fixture.bundle) == AppDataInfo(bundle: fixture.folder.url))
  }

  @Test func `with a damaged snapshot each file is old or new`() throws {
    let names = (0..<8).map { "Documents/\($0)" }
    let noise = { (seed: UInt64) in
      var state = seed
      return String(
        decoding: (0..<5000).map { _ -> UInt8 in
          state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          return 0x20 + UInt8(state >> 58)
        }, as: UTF8.self)
    }
    let fixture = try AppDataFixture([:])
    for (index, name) in names.enumerated() {
      try fixture.write(noise(UInt64(index)), to: name)
      try fixture.folder.write(Data("old".utf8), to: "container/" + name)
    }
    let zip = fixture.folder.file("a.zip")
    _ = try AppData.makeSnapshot(of: fixture.bundle, to: zip)
    var bytes = try Data(contentsOf: zip)
    bytes[bytes.count / 2] ^= 0x10
    try bytes.write(to: zip)
    #expect(throws: AppDataError.self) { try AppData(contentsOf: zip).copy(into: fixture.container) }
    let texts = try names.enumerated().map { try (fixture.text($1), noise(UInt64($0))) }
    #expect(texts.allSatisfy { $0.0 == "old" || $0.0 == $0.1 })
    #expect(texts.contains { $0.0 == "old" } && texts.contains { $0.0 != "old" })
    #expect(try fixture.paths() == ["Documents"] + names)
  }
}
