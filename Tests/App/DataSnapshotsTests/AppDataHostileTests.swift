@testable import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Sources with invalid items, and containers with conflicting items.
@Suite struct AppDataHostileTests {
  /// Returns the description of the error of copying `fixture`, and checks that the container has not changed.
  private func refusal(_ fixture: AppDataFixture, limits: ContainerLimits = .default) throws -> String {
    let before = try fixture.paths()
    let error = try #require(throws: AppDataError.self) {
      try AppData(contentsOf: fixture.bundle, limits: limits).copy(into: fixture.container)
    }
    #expect(try fixture.paths() == before)
    return error.description
  }

  private func link(_ url: URL, to target: String) throws {
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: target)
  }

  @Test(arguments: ["/etc/passwd", "a", "missing", "..", "."])
  func `a link in the bundle is rejected with its path, and nothing is written`(target: String) throws {
    let fixture = try AppDataFixture(["Documents/a": "1"])
    try link(fixture.source("Documents/z"), to: target)
    #expect(try refusal(fixture).hasPrefix("‘Documents/z’ is a symbolic link"))
  }

  @Test func `a bundle whose container is a link is rejected`() throws {
    let fixture = try AppDataFixture([:])
    try FileManager.default.removeItem(at: fixture.bundle.appending(path: "AppData"))
    try link(fixture.bundle.appending(path: "AppData"), to: "/etc")
    #expect(try refusal(fixture).contains("is not app data"))
  }

  @Test func `a pipe in the bundle is rejected without blocking`() throws {
    let fixture = try AppDataFixture(["Documents/a": "1"])
    #expect(mkfifo(fixture.source("pipe").path, 0o600) == 0)
    #expect(try refusal(fixture).hasPrefix("‘pipe’ is neither a file nor a folder"))
  }

  #if os(Linux)
    @Test func `a name that is not UTF-8 is rejected`() throws {
      let fixture = try AppDataFixture(["Documents/a": "1"])
      let bytes = Array(fixture.source("Documents").path.utf8) + [0x2F, 0x66, 0xFF, 0]
      let descriptor = bytes.map { CChar(bitPattern: $0) }.withUnsafeBufferPointer {
        open($0.baseAddress.unsafelyUnwrapped, O_CREAT | O_WRONLY, 0o600)
      }
      #expect(descriptor >= 0)
      _ = Descriptor(taking: descriptor)
      #expect(try refusal(fixture).hasPrefix("‘Documents/f\u{FFFD}’ has a name that is not UTF-8"))
    }
  #endif

  @Test(arguments: ["Documents", "Documents/inner", "Documents/inner/file"])
  func `a link in the container's path is rejected, and nothing is written to its target`(path: String) throws
  {
    let fixture = try AppDataFixture(["Documents/inner/file": "new", "Before/a": "1"])
    let outside = fixture.folder.file("outside")
    try fixture.folder.write(Data("old".utf8), to: "outside/inner/file")
    try fixture.folder.write(Data("old".utf8), to: "outside/file")
    try FileManager.default.createDirectory(at: fixture.container, withIntermediateDirectories: true)
    try link(
      fixture.container.appending(path: path),
      to: path.hasSuffix("file") ? outside.path + "/file" : outside.path)
    #expect(try refusal(fixture).hasPrefix("‘\(path)’ at the destination is a symbolic link"))
    #expect(try String(contentsOf: outside.appending(path: "file"), encoding: .utf8) == "old")
    #expect(try String(contentsOf: outside.appending(path: "inner/file"), encoding: .utf8) == "old")
  }

  @Test func `a link to the container itself is followed`() throws {
    let fixture = try AppDataFixture(["Documents/a": "1"])
    try FileManager.default.createDirectory(
      at: fixture.folder.file("real"), withIntermediateDirectories: true)
    try link(fixture.container, to: "real")
    try AppData(contentsOf: fixture.bundle).copy(into: fixture.container)
    #expect(try fixture.text("Documents/a") == "1")
  }

  @Test func `a folder in place of a file is rejected, and a file in place of a folder too`() throws {
    let fixture = try AppDataFixture(["A/a": "1", "B/b": "2"])
    try fixture.folder.write(Data(), to: "container/B/b/c")
    #expect(try refusal(fixture).hasPrefix("‘B/b’ at the destination is a folder"))
    let other = try AppDataFixture(["A/a": "1", "B/b": "2"])
    try other.folder.write(Data("x".utf8), to: "container/B")
    #expect(try refusal(other).hasPrefix("‘B’ at the destination is a file"))
  }

  @Test func `the container can't be inside the bundle`() throws {
    let fixture = try AppDataFixture(["Documents/a": "1"])
    for inside in ["", "Documents", "Documents/new/deep"] {
      let error = #expect(throws: AppDataError.self) {
        try AppData(contentsOf: fixture.bundle).copy(into: fixture.source(inside))
      }
      #expect(error?.description.contains("is inside the app data") == true)
    }
    #expect(try AppDataFixture.paths(fixture.source("")) == ["Documents", "Documents/a"])
  }

  @Test func `a source that is neither a bundle nor a snapshot is rejected`() throws {
    let fixture = try AppDataFixture(["Documents/a": "1"])
    let text = try fixture.folder.write(Data("no zip".utf8), to: "text")
    for url in [fixture.folder.file("missing"), text, fixture.bundle.appending(path: "AppData/Documents")] {
      #expect(throws: AppDataError.self) { try AppData(contentsOf: url) }
    }
  }

  @Test func `paths that differ only in case are rejected on a case-insensitive disk`() throws {
    let fixture = try AppDataFixture(["Documents/Straße": "1", "documents/x": "2", "B": "3"])
    try FileManager.default.createDirectory(at: fixture.container, withIntermediateDirectories: true)
    let tree = try ContainerTree(OpenFolder(fixture.source("").path))
    let root = try OpenFolder(fixture.container.path)
    let error = #expect(throws: AppDataError.self) {
      try ContainerCopy(tree, to: root, isCaseSensitive: false).run()
    }
    #expect(error?.description.hasPrefix("‘Documents’ and ‘documents’ have the same name") == true)
    #expect(try fixture.paths().isEmpty)
  }

  @Test func `the existing file is kept if its source changes its size during the copy`() throws {
    for text in ["1", "1234567890"] {
      let fixture = try AppDataFixture(["a": "12345"])
      try fixture.folder.write(Data("old".utf8), to: "container/a")
      let data = try AppData(contentsOf: fixture.bundle)
      try fixture.write(text, to: "a")
      let error = #expect(throws: AppDataError.self) { try data.copy(into: fixture.container) }
      #expect(error?.description == "‘a’ changed while it was read. Try again.")
      #expect(try fixture.text("a") == "old")
      #expect(try fixture.paths() == ["a"])
    }
  }

  @Test func `a file that was replaced by a link after listing is not followed`() throws {
    let fixture = try AppDataFixture(["Documents/a": "12345"])
    let data = try AppData(contentsOf: fixture.bundle)
    try FileManager.default.removeItem(at: fixture.source("Documents"))
    try fixture.folder.write(Data("54321".utf8), to: "outside/a")
    try link(fixture.source("Documents"), to: fixture.folder.file("outside").path)
    let error = #expect(throws: AppDataError.self) { try data.copy(into: fixture.container) }
    #expect(error?.description.contains("Documents/a") == true)
    #expect(try fixture.text("Documents/a") == nil)
  }

  @Test func `the error for a folder that can't be written contains its path`() throws {
    guard getuid() != 0 else { return }
    let fixture = try AppDataFixture(["Documents/a": "1"])
    try fixture.folder.write(Data(), to: "container/Documents/b")
    let documents = fixture.container.appending(path: "Documents").path
    #expect(chmod(documents, 0o500) == 0)
    defer { chmod(documents, 0o700) }
    let error = #expect(throws: AppDataError.self) {
      try AppData(contentsOf: fixture.bundle).copy(into: fixture.container)
    }
    #expect(error?.description.contains("‘Documents/a’") == true)
    #expect(error?.isSystemFailure == true)
  }

  @Test func `each limit accepts its value and rejects one more`() throws {
    let fixture = try AppDataFixture(["a/b/c": "12345", "a/d": "123"])
    // Two folders, two files; three path components; five bytes for a path and for a file; eight bytes in total.
    let exact: [(WritableKeyPath<ContainerLimits, Int>, ContainerLimits.Name, Int)] = [
      (\.entries, .entries, 4), (\.depth, .depth, 3), (\.pathLength, .pathLength, 5),
    ]
    let sizes: [(WritableKeyPath<ContainerLimits, Int64>, ContainerLimits.Name, Int64)] = [
      (\.fileSize, .fileSize, 5), (\.totalSize, .totalSize, 8),
    ]
    func check(_ name: ContainerLimits.Name, _ set: (inout ContainerLimits, Int) -> Void) throws {
      for more in [0, 1] {
        var limits = ContainerLimits()
        set(&limits, more)
        #expect(try AppData(contentsOf: fixture.bundle, limits: limits).entries.count == 4)
      }
      var limits = ContainerLimits()
      set(&limits, -1)
      #expect(try refusal(fixture, limits: limits).contains("exceeds the limit \(name.rawValue)"))
    }
    for (path, name, value) in exact { try check(name) { $0[keyPath: path] = value + $1 } }
    for (path, name, value) in sizes { try check(name) { $0[keyPath: path] = value + Int64($1) } }
  }
}
