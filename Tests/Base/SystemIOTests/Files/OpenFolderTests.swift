import Foundation
import SystemIO
import TestSupport
import Testing

@Suite struct OpenFolderTests {
  private let temporary: TemporaryFolder
  private let folder: OpenFolder

  init() throws {
    temporary = try TemporaryFolder()
    folder = try OpenFolder(temporary.path)
  }

  @Test func `files and folders are created, listed, renamed and removed`() throws {
    try folder.create(folder: "b", mode: 0o755)
    try folder.file("a", .create(mode: 0o750)).write([1, 2, 3], at: 0)
    #expect(try folder.entries() == ["a", "b"])
    #expect(try folder.status("a")?.kind == .file)
    #expect(try folder.status("a")?.size == 3)
    #expect(try folder.status("a")?.isExecutable == true)
    #expect(try folder.status("b")?.kind == .folder)
    #expect(try folder.status("c") == nil)
    try folder.file("c", .create(mode: 0o600)).write([4], at: 0)
    try folder.replace("a", with: "c")
    #expect(try folder.file("a").read(upTo: 9, at: 0) == [4])
    try folder.folder("b").create(folder: "deep", mode: 0o755)
    _ = try folder.folder(at: "b/deep").file("x", .create(mode: 0o600))
    #expect(try folder.folder(at: "").entries() == ["a", "b"])
    try folder.removeTree("b")
    try folder.removeTree("b")
    try folder.remove("a")
    #expect(try folder.entries().isEmpty)
  }

  @Test(arguments: ["", ".", "..", "a/b", "/", "a\0b"])
  func `an invalid name is an error`(name: String) throws {
    #expect(throws: SystemError.self) { try folder.folder(name) }
    #expect(throws: SystemError.self) { try folder.file(name, .create(mode: 0o600)) }
    #expect(throws: SystemError.self) { try folder.status(name) }
    #expect(throws: SystemError.self) { try folder.create(folder: name, mode: 0o700) }
    #expect(throws: SystemError.self) { try folder.remove(name) }
    #expect(throws: SystemError.self) { try folder.removeTree(name) }
    #expect(throws: SystemError.self) { try folder.replace("x", with: name) }
    #expect(try folder.entries().isEmpty)
  }

  @Test func `missing folders are made on the way, and a link on it is not followed`() throws {
    try folder.makeFolder(at: "a/b/c").file("x", .create(mode: 0o600)).write([1], at: 0)
    #expect(try folder.makeFolder(at: "a/b").entries() == ["c"])
    try temporary.write(Data([2]), to: "elsewhere/file")
    try FileManager.default.createSymbolicLink(
      atPath: temporary.file("a/link").path, withDestinationPath: temporary.file("elsewhere").path)
    for path in ["a/link", "a/link/d"] {
      let error = #expect(throws: SystemError.self) { try folder.makeFolder(at: path) }
      #expect(error?.isLink == true)
    }
    let other = try folder.folder(at: "elsewhere")
    #expect(try other.entries() == ["file"])
    try folder.folder(at: "a").replace("moved", with: "file", from: other)
    try folder.folder(at: "a").replaceDurably("moved", with: [3])
    #expect(try folder.folder(at: "a").file("moved").read(upTo: 9, at: 0) == [3])
    #expect(try folder.folder(at: "a").entries() == ["b", "link", "moved"])
  }

  @Test func `links are reported and not followed`() throws {
    try temporary.write(Data([1]), to: "real/file")
    for (name, target) in [("folder", "real"), ("file", "real/file")] {
      try FileManager.default.createSymbolicLink(
        atPath: temporary.file(name).path, withDestinationPath: target)
      #expect(try folder.status(name)?.kind == .link)
      #expect(throws: SystemError.self) { try folder.folder(name) }
      #expect(throws: SystemError.self) { try folder.file(name) }
      try folder.removeTree(name)
    }
    #expect(throws: SystemError.self) { try folder.folder(at: "real/..") }
    #expect(try folder.folder("real").entries() == ["file"])
  }

  @Test func `it refers to the same folder when its path refers to another one`() throws {
    try folder.create(folder: "a", mode: 0o755)
    let child = try folder.folder("a")
    try Folder.replace(temporary.file("moved").path, with: temporary.file("a").path)
    try folder.create(folder: "a", mode: 0o755)
    _ = try child.file("x", .create(mode: 0o600))
    #expect(try folder.folder("moved").entries() == ["x"])
    #expect(try folder.folder("a").entries().isEmpty)
  }

  @Test func `it reports whether it is inside another folder`() throws {
    try FileManager.default.createDirectory(
      at: temporary.file("a/b/c"), withIntermediateDirectories: true)
    try folder.create(folder: "ab", mode: 0o755)
    let a = try folder.folder("a")
    #expect(try a.isInside(folder) && a.isInside(a))
    #expect(try a.folder(at: "b/c").isInside(a))
    #expect(try !folder.isInside(a))
    #expect(try !folder.folder("ab").isInside(a))
    #expect(try a.isInside(OpenFolder("/")))
  }
}
