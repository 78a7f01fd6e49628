import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// `preload`, `embed` and `pack --xcappdata`, used from a shell and from a build phase.
@Suite struct AppDataCommandTests {
  private func fixture() throws -> AppDataFixture {
    try AppDataFixture(
      ["Documents/notes.json": "[1]", "Library/Preferences/x.plist": "p"], folders: ["tmp"],
      information: AppDataFixture.information("com.example.news"))
  }

  @Test func `preload copies a bundle and prints the outcome`() async throws {
    let fixture = try fixture()
    try fixture.folder.write(Data("old".utf8), to: "container/Documents/notes.json")
    let first = try await Product.run(
      ["preload", fixture.bundle.path, "--into", fixture.container.path, "--verbose"])
    #expect(first.status == 0, "\(first.errors)")
    #expect(
      first.lines == [
        "replaced  Documents/notes.json", "created  Library/Preferences/x.plist",
        "1 created, 1 replaced, 0 unchanged; 4 B written",
      ])
    #expect(try fixture.text("Documents/notes.json") == "[1]")
    let second = try await Product.run(
      ["preload", fixture.bundle.path, "--into", fixture.container.path, "--json"])
    let json = try #require(try JSONSerialization.jsonObject(with: second.output) as? [String: Any])
    let files = try #require(json["files"] as? [[String: Any]])
    #expect(files.map { $0["outcome"] as? String } == ["unchanged", "unchanged"])
  }

  @Test func `pack, upload and preload by UUID transfer a container`() async throws {
    let fixture = try fixture()
    let server = try await TestServer(storage: fixture.folder.file("storage"))
    let environment = ["SNAPSHOT_SERVER": server.url.absoluteString]
    let zip = fixture.folder.file("a.zip").path
    let pack = try await Product.run(["pack", fixture.bundle.path, "--xcappdata", "--output", zip])
    #expect(pack.status == 0, "\(pack.errors)")
    let id = try #require(SnapshotID(pack.lines[0]))
    #expect(try await Product.run(["verify", zip]).status == 0)
    #expect(try await Product.run(["inspect", zip]).text.contains("com.example.news 3.1 (7)"))
    let upload = try await Product.run(["upload", zip, "--report", "BUG-1"], environment: environment)
    #expect(upload.lines == ["\(id)"], "\(upload.errors)")

    for source in ["\(id)", server.address("/v1/snapshots/\(id).zip"), zip] {
      try Folder.removeTree(fixture.container.path)
      let preload = try await Product.run(
        ["preload", source, "--into", fixture.container.path], environment: environment)
      #expect(preload.status == 0, "\(preload.errors)")
      #expect(preload.lines == ["2 created, 0 replaced, 0 unchanged; 4 B written"])
      #expect(try fixture.paths() == AppDataFixture.paths(fixture.source("")))
    }
  }

  @Test func `a container of a device and its names are transferred whole`() async throws {
    let scene = "Library/SplashBoard/Snapshots/sceneID:com.example.news-default/a.ktx"
    let long = "Documents/" + String(repeating: ":", count: 90)
    let fixture = try AppDataFixture([scene: "1", "Documents/A": "22", "Documents/a": "333", long: "4"])
    let server = try await TestServer(storage: fixture.folder.file("storage"))
    let environment = ["SNAPSHOT_SERVER": server.url.absoluteString]
    let zip = fixture.folder.file("a.zip").path
    let pack = try await Product.run(["pack", fixture.bundle.path, "--output", zip])
    let upload = try await Product.run(
      ["upload", fixture.bundle.path, "--report", "BUG-1"], environment: environment)
    for outcome in [pack, upload] {
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(outcome.errors.contains("Left out, because a bundle can't contain its name: \(long)\n"))
    }
    let id = try #require(upload.lines.first)
    let preload = try await Product.run(
      ["preload", id, "--into", fixture.container.path], environment: environment)
    #expect(preload.lines == ["3 created, 0 replaced, 0 unchanged; 6 B written"], "\(preload.errors)")
    #expect(try fixture.text(scene) == "1")
    let unpacked = fixture.folder.file("unpacked")
    let fetch = try await Product.run(["fetch", id, "--into", unpacked.path], environment: environment)
    #expect(fetch.status == 0, "\(fetch.errors)")
    #expect(try AppDataFixture.paths(unpacked.appending(path: "app-data")) == fixture.paths())
    let page = try await Curl([server.address("/snapshots/\(id)")])
    #expect(String(decoding: page.body, as: UTF8.self).contains("sceneID:com.example.news-default/a.ktx"))
  }

  @Test func `an uploaded or packed xcappdata bundle becomes a snapshot of its container`()
    async throws
  {
    let fixture = try fixture()
    let server = try await TestServer(storage: fixture.folder.file("storage"))
    let environment = ["SNAPSHOT_SERVER": server.url.absoluteString]
    let upload = try await Product.run(
      ["upload", fixture.bundle.path + "/", "--report", "BUG-1"], environment: environment)
    #expect(upload.status == 0, "\(upload.errors)")
    let zip = fixture.folder.file("a.zip").path
    let pack = try await Product.run(["pack", fixture.bundle.path, "--output", zip])
    #expect(pack.status == 0, "\(pack.errors)")
    for source in [try #require(upload.lines.first), zip] {
      #expect(
        try await Product.run(["inspect", source], environment: environment).text.contains(
          "com.example.news 3.1 (7)"))
      try Folder.removeTree(fixture.container.path)
      let preload = try await Product.run(
        ["preload", source, "--into", fixture.container.path], environment: environment)
      #expect(preload.lines == ["2 created, 0 replaced, 0 unchanged; 4 B written"], "\(preload.errors)")
      #expect(try fixture.paths() == AppDataFixture.paths(fixture.source("")))
    }
  }

  @Test func `a build phase embeds the bundle only if configured, and removes a stale one`() async throws {
    let fixture = try fixture()
    let variables = [
      "TARGET_BUILD_DIR": fixture.folder.file("Build").path,
      "UNLOCALIZED_RESOURCES_FOLDER_PATH": "News.app",
    ]
    let product = fixture.folder.file("Build/News.app/Fixture.xcappdata")
    func embed(_ configuration: String, _ environment: [String: String] = [:]) async throws -> Tool.Outcome {
      try await Product.run(
        ["embed", fixture.bundle.path, "--for", "Debug", "--for", "Screenshots"],
        environment: variables.merging(environment) { $1 }.merging(["CONFIGURATION": configuration]) { $1 })
    }
    for (configuration, environment, isThere) in [
      ("Debug", [:], true), ("Release", [:], false), ("Release", ["FASTLANE_SNAPSHOT": "YES"], true),
      ("Release", ["FASTLANE_SNAPSHOT": "NO"], false), ("Screenshots", [:], true), ("debug", [:], false),
      ("Release", [:], false),
    ] as [(String, [String: String], Bool)] {
      let outcome = try await embed(configuration, environment)
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(outcome.lines == (isThere ? [product.path] : []))
      #expect(
        try AppDataFixture.paths(product) == (isThere ? AppDataFixture.paths(fixture.bundle) : []))
    }
    let byHand = try await Product.run([
      "embed", fixture.bundle.path, "--for", "Debug", "--configuration", "Debug", "--target-build-dir",
      fixture.folder.file("Other").path, "--resources-folder", "News.app/Contents/Resources",
    ])
    #expect(byHand.lines == [fixture.folder.file("Other/News.app/Contents/Resources/Fixture.xcappdata").path])
  }

  @Test(
    arguments: [
      (["preload", "Fixture.xcappdata"], 64, "--into"),
      (["preload", "missing", "--into", "c"], 2, "missing"),
      (["preload", ".", "--into", "c"], 2, "not app data"),
      (["preload", "http://x/y", "--into", "c"], 2, "UUID"),
      (["preload", "Fixture.xcappdata", "--into", "Fixture.xcappdata/AppData/x"], 2, "is inside"),
      (["preload", "linked.xcappdata", "--into", "c"], 2, "‘Documents’ is a symbolic link"),
      (["pack", "missing", "--xcappdata", "--output", "x.zip"], 2, "missing"),
      (["pack", "linked.xcappdata", "--xcappdata", "--output", "x.zip"], 2, "‘Documents’"),
      (["pack", "empty.xcappdata", "--output", "x.zip"], 2, "‘AppData’"),
      (["upload", "empty.xcappdata", "--report", "BUG-1"], 2, "‘AppData’"),
      (["upload", "linked.xcappdata", "--report", "BUG-1"], 2, "‘Documents’"),
      (["embed", "Fixture.xcappdata"], 64, "TARGET_BUILD_DIR"),
      (["embed", "App.app", "--target-build-dir", "b", "--resources-folder", "r"], 2, ".xcappdata"),
      (
        ["embed", "Fixture.xcappdata", "--for", "A", "--target-build-dir", "b", "--resources-folder", "r"],
        64,
        "CONFIGURATION"
      ),
      (
        [
          "embed", "missing.xcappdata", "--for", "A", "--configuration", "A", "--target-build-dir", "b",
          "--resources-folder", "r",
        ], 2, "missing"
      ),
    ] as [([String], Int32, String)])
  func `an invalid argument is refused with the reason and creates nothing`(
    arguments: [String], status: Int32, words: String
  )
    async throws
  {
    let fixture = try fixture()
    let linked = fixture.folder.file("linked.xcappdata/AppData")
    try FileManager.default.createDirectory(at: linked, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: linked.appending(path: "Documents").path, withDestinationPath: "/etc")
    try FileManager.default.createDirectory(
      at: fixture.folder.file("empty.xcappdata"), withIntermediateDirectories: true)
    let before = try AppDataFixture.paths(fixture.folder.url)
    let outcome = try await Product.run(arguments, folder: fixture.folder.url)
    #expect(outcome.status == status, "\(outcome.errors)")
    #expect(outcome.errors.contains(words), "\(outcome.errors)")
    #expect(outcome.output.isEmpty)
    #expect(try AppDataFixture.paths(fixture.folder.url) == before)
  }
}
