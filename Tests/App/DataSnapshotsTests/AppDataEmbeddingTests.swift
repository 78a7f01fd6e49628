import DataSnapshots
import Foundation
import SystemIO
import TestSupport
import Testing

@Suite struct AppDataEmbeddingTests {
  private func embedding(_ fixture: AppDataFixture) throws -> AppDataEmbedding {
    try #require(AppDataEmbedding(bundle: fixture.bundle, resources: fixture.folder.file("Build/App.app")))
  }

  @Test func `the product contains the bundle and its later changes`() throws {
    let fixture = try AppDataFixture(
      ["Documents/a": "1", "Documents/b": "2", "shape": "file", "other/x": "3"], folders: ["tmp"],
      information: AppDataFixture.information("com.example.news"))
    let embedding = try embedding(fixture)
    guard case .embedded(let first) = try embedding.update(isWanted: true) else {
      Issue.record("not embedded")
      return
    }
    #expect(first.paths(.created).count == 5)
    #expect(try AppDataFixture.paths(embedding.destination) == AppDataFixture.paths(fixture.bundle))
    #expect(try OpenFolder(embedding.destination.path).status("AppDataInfo.plist")?.permissions == 0o644)

    try fixture.write("new", to: "Documents/a")
    for path in ["Documents/b", "shape", "other"] {
      try FileManager.default.removeItem(at: fixture.source(path))
    }
    try fixture.write("4", to: "shape/inner")
    try fixture.write("5", to: "other")
    guard case .embedded(let second) = try embedding.update(isWanted: true) else {
      Issue.record("not embedded")
      return
    }
    #expect(second.removed == ["AppData/Documents/b", "AppData/other", "AppData/shape"])
    #expect(second.paths(.replaced) == ["AppData/Documents/a"])
    #expect(second.paths(.unchanged) == ["AppDataInfo.plist"])
    #expect(try AppDataFixture.paths(embedding.destination) == AppDataFixture.paths(fixture.bundle))
    #expect("\(second)".contains("3 removed"))

    guard case .embedded(let third) = try embedding.update(isWanted: true) else {
      Issue.record("not embedded")
      return
    }
    #expect(third.bytes == 0 && third.removed.isEmpty && third.folders.isEmpty)
    let container = fixture.container
    #expect(try AppData(contentsOf: embedding.destination).copy(into: container).paths(.created).count == 3)
  }

  #if os(Linux)
    // Other file systems treat these as one name.
    @Test func `names that differ only in the spelling of an accent are two files`() throws {
      let (composed, decomposed) = ("Documents/\u{E9}", "Documents/e\u{301}")
      let fixture = try AppDataFixture([:])
      try fixture.write("1", to: composed)
      try fixture.write("2", to: decomposed)
      let embedding = try embedding(fixture)
      for _ in 1...2 {
        guard case .embedded(let report) = try embedding.update(isWanted: true) else {
          Issue.record("not embedded")
          return
        }
        #expect(report.removed.isEmpty)
      }
      #expect(try AppDataFixture.paths(embedding.destination.appending(path: "AppData/Documents")).count == 2)
    }
  #endif

  @Test func `only the outdated bundle is removed from a release build`() throws {
    let fixture = try AppDataFixture(["Documents/a": "1"])
    let embedding = try embedding(fixture)
    #expect(try embedding.update(isWanted: false) == .absent)
    try fixture.folder.write(Data("x".utf8), to: "Build/App.app/other")
    _ = try embedding.update(isWanted: true)
    try FileManager.default.removeItem(at: fixture.bundle)
    #expect(try embedding.update(isWanted: false) == .removed)
    #expect(try embedding.update(isWanted: false) == .absent)
    #expect(try AppDataFixture.paths(embedding.resources) == ["other"])
  }

  @Test func `a link in the product is removed and not followed`() throws {
    let fixture = try AppDataFixture(["Documents/a": "1"])
    let embedding = try embedding(fixture)
    try fixture.folder.write(Data("x".utf8), to: "outside/AppData/Documents/a")
    try FileManager.default.createDirectory(at: embedding.resources, withIntermediateDirectories: true)
    for isWanted in [true, false] {
      try Folder.removeTree(embedding.destination.path)
      try FileManager.default.createSymbolicLink(
        atPath: embedding.destination.path, withDestinationPath: fixture.folder.file("outside").path)
      _ = try embedding.update(isWanted: isWanted)
      #expect(Folder.isFolder(embedding.destination.path) == isWanted)
      #expect(try AppDataFixture.paths(fixture.folder.file("outside")).count == 3)
    }
    _ = try embedding.update(isWanted: true)
    let inner = embedding.destination.appending(path: "AppData/Documents").path
    try Folder.removeTree(inner)
    try FileManager.default.createSymbolicLink(
      atPath: inner, withDestinationPath: fixture.folder.file("outside/AppData/Documents").path)
    _ = try embedding.update(isWanted: true)
    #expect(Folder.isFolder(inner))
    let outside = fixture.folder.file("outside/AppData/Documents/a")
    #expect(try String(contentsOf: outside, encoding: .utf8) == "x")
  }

  @Test func `data that can't be preloaded is not embedded`() throws {
    let fixture = try AppDataFixture(["Documents/a": "1"])
    let embedding = try embedding(fixture)
    try FileManager.default.createSymbolicLink(
      atPath: fixture.source("z").path, withDestinationPath: "/etc")
    #expect(throws: (any Error).self) { try embedding.update(isWanted: true) }
    #expect(try !Folder.exists(embedding.destination.path))
  }

  @Test(arguments: ["Fixture", ".xcappdata", "Fixture.xcappdata.zip", "/", "App.app"])
  func `a bundle with another extension is rejected, so that nothing else can be removed`(name: String) {
    #expect(AppDataEmbedding(bundle: URL(filePath: name), resources: URL(filePath: "/tmp")) == nil)
  }
}
