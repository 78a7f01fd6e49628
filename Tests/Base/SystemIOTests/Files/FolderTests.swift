import Foundation
import SystemIO
import TestSupport
import Testing

struct FolderTests {
  private let temporary: TemporaryFolder

  init() throws { temporary = try TemporaryFolder() }

  private func path(_ name: String) -> String { temporary.file(name).path }

  private func link(_ name: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: target)
  }

  #if os(Linux)
    @Test func `a folder in which nothing can be created is an error and not retried for ever`() throws {
      for path in ["/proc/none", "/proc/none/below"] {
        let error = try #require(throws: SystemError.self) { try Folder.create(path) }
        #expect(error.isNotFound)
      }
    }
  #endif

  @Test func `missing folders are created, and existing ones are kept`() throws {
    try Folder.create(path("a/b/c"))
    try temporary.write(Data("x".utf8), to: "a/b/c/file")
    try Folder.create(path("a/b/c"))
    try Folder.create(path("a/b/c/d/"))
    #expect(Folder.isFolder(path("a/b/c/d")))
    #expect(try Folder.entries(path("a/b/c")) == ["d", "file"])
  }

  @Test func `a link to a folder counts as a folder, and a broken link does not`() throws {
    try Folder.create(path("real"))
    try link("link", to: "real")
    try Folder.create(path("link"))
    try Folder.create(path("link/below"))
    #expect(Folder.isFolder(path("real/below")))
    try link("broken", to: "nowhere")
    #expect(throws: SystemError.self) { try Folder.create(path("broken")) }
    #expect(throws: SystemError.self) { try Folder.create(path("broken/below")) }
  }

  @Test func `a link is resolved to what it leads to, and nothing else is`() throws {
    try Folder.create(path("real/below"))
    try link("first", to: "second")
    try link("second", to: path("real"))
    #expect(try Folder.resolvingLink(path("first")) == Folder.resolvingLink(path("second")))
    #expect(try Folder.resolvingLink(path("first")).hasSuffix("/real"))
    #expect(try Folder.resolvingLink(path("first") + "//").hasSuffix("/real"))
    for other in [path("real"), path("real/"), path("none"), path("first/below"), "/", "Storage"] {
      #expect(try Folder.resolvingLink(other) == other)
    }
    try link("broken", to: "nowhere")
    #expect(throws: SystemError(operation: "realpath", path: path("broken"), code: ENOENT)) {
      try Folder.resolvingLink(path("broken"))
    }
  }

  @Test func `a folder is told from its absence and from everything else`() throws {
    try Folder.create(path("real"))
    try temporary.write(Data(), to: "file")
    try link("link", to: "real")
    #expect(try Folder.hasFolder(path("real")))
    #expect(try !Folder.hasFolder(path("none")))
    #expect(throws: SystemError(operation: "open", path: path("file"), code: ENOTDIR)) {
      try Folder.hasFolder(path("file"))
    }
    #expect(throws: SystemError(operation: "open", path: path("link"), code: ELOOP)) {
      try Folder.hasFolder(path("link"))
    }
    try #require(mkfifo(path("pipe"), 0o600) == 0)
    #expect(
      try Folder.kinds(in: temporary.path).map { "\($0.name) \($0.kind)" } == [
        "file file", "link link", "pipe other", "real folder",
      ])
  }

  @Test func `a file with the name of the folder is an error`() throws {
    try temporary.write(Data(), to: "file")
    let error = #expect(throws: SystemError.self) { try Folder.create(path("file")) }
    #expect(error?.isAlreadyThere == true)
    #expect(throws: SystemError.self) { try Folder.create(path("file/below")) }
  }

  @Test func `publishing renames to the final name`() throws {
    try temporary.write(Data("new".utf8), to: "staged")
    try Folder.publish(path("staged"), as: path("final"))
    #expect(try Data(contentsOf: temporary.file("final")) == Data("new".utf8))
    #expect(try Folder.entries(temporary.path) == ["final"])
  }

  @Test func `publishing never overwrites a file, a folder, an empty folder or a broken link`() throws {
    try temporary.write(Data("new".utf8), to: "staged")
    try temporary.write(Data("old".utf8), to: "file")
    try temporary.write(Data("old".utf8), to: "folder/file")
    try Folder.create(path("empty"))
    try link("broken", to: "nowhere")
    for name in ["file", "folder", "empty", "broken"] {
      let error = #expect(throws: SystemError.self) { try Folder.publish(path("staged"), as: path(name)) }
      #expect(error?.isAlreadyThere == true, "\(name)")
    }
    #expect(try Data(contentsOf: temporary.file("staged")) == Data("new".utf8))
    #expect(try Data(contentsOf: temporary.file("file")) == Data("old".utf8))
    #expect(try Folder.entries(temporary.path) == ["broken", "empty", "file", "folder", "staged"])
  }

  @Test func `of many concurrent publishers of one name, exactly one succeeds`() async throws {
    for index in 0..<16 { try temporary.write(Data([UInt8(index)]), to: "staged\(index)") }
    let winners = await withTaskGroup(of: Int?.self) { group in
      for index in 0..<16 {
        group.addTask { [staged = path("staged\(index)"), final = path("final")] in
          do throws(SystemError) {
            try Folder.publish(staged, as: final)
            return index
          } catch {
            return error.isAlreadyThere ? nil : -1
          }
        }
      }
      return await group.reduce(into: [Int]()) { if let index = $1 { $0.append(index) } }
    }
    #expect(winners.count == 1)
    #expect(try Data(contentsOf: temporary.file("final")).first == winners.first.map(UInt8.init))
  }

  @Test func `a folder is published with its contents, and not over another`() throws {
    try temporary.write(Data("new".utf8), to: "staged/file")
    try Folder.create(path("taken"))
    let error = #expect(throws: SystemError.self) { try Folder.publish(path("staged"), as: path("taken")) }
    #expect(error?.isAlreadyThere == true)
    try Folder.publish(path("staged"), as: path("final"))
    #expect(try Folder.entries(path("final")) == ["file"])
  }

  @Test func `publishing a missing file is an error`() {
    let error = #expect(throws: SystemError.self) { try Folder.publish(path("staged"), as: path("final")) }
    #expect(error?.isNotFound == true)
  }

  @Test func `a hard link is the same file, and its name must not exist`() throws {
    try temporary.write(Data("x".utf8), to: "a")
    try Folder.link(path("a"), as: path("b"))
    try Folder.remove(path("a"))
    #expect(try Data(contentsOf: temporary.file("b")) == Data("x".utf8))
    try temporary.write(Data("y".utf8), to: "c")
    let error = #expect(throws: SystemError.self) { try Folder.link(path("b"), as: path("c")) }
    #expect(error?.isAlreadyThere == true)
  }

  @Test func `entries are complete and sorted by their bytes`() throws {
    let names = ["b", "a", "B", "é", ".hidden", "a b", String(repeating: "n", count: 255)]
    for name in names { try temporary.write(Data(), to: name) }
    #expect(try Folder.entries(temporary.path) == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    #expect(try #require(throws: SystemError.self) { try Folder.entries(path("nowhere")) }.isNotFound)
    #expect(throws: SystemError.self) { try Folder.entries(path("a")) }
  }

  @Test func `a tree is removed without following links`() throws {
    try temporary.write(Data("keep".utf8), to: "outside/file")
    try temporary.write(Data(), to: "tree/a/b/c")
    try temporary.write(Data(), to: "tree/.hidden")
    try link("tree/a/out", to: "../../outside")
    try link("tree/a/file", to: "../../outside/file")
    try link("tree/a/broken", to: "nowhere")
    #expect(mkfifo(path("tree/pipe"), 0o600) == 0)
    try Folder.removeTree(path("tree"))
    #expect(try Folder.entries(temporary.path) == ["outside"])
    #expect(try Folder.entries(path("outside")) == ["file"])
  }

  @Test func `removing a link to a tree keeps the tree`() throws {
    try temporary.write(Data("keep".utf8), to: "outside/file")
    try link("link", to: "outside")
    try Folder.removeTree(path("link"))
    #expect(try Folder.entries(temporary.path) == ["outside"])
    #expect(try Folder.entries(path("outside")) == ["file"])
  }

  @Test func `removing a missing file is an error unless it is optional`() throws {
    try Folder.removeTree(path("nowhere"))
    try Folder.removeIfPresent(path("nowhere"))
    #expect(try #require(throws: SystemError.self) { try Folder.remove(path("nowhere")) }.isNotFound)
  }

  @Test func `only an empty folder can be removed without its contents`() throws {
    try temporary.write(Data(), to: "full/file")
    try Folder.create(path("empty"))
    try Folder.remove(path("empty"))
    #expect(try #require(throws: SystemError.self) { try Folder.remove(path("full")) }.isAlreadyThere)
    #expect(try Folder.exists(path("full/file")))
  }

  @Test func `a lookup that fails throws instead of reporting a missing file`() {
    let name = path(String(repeating: "n", count: 300))
    #expect(throws: SystemError.self) { try Folder.exists(name) }
  }

  @Test func `files, folders and links are distinguished`() throws {
    try temporary.write(Data(), to: "file")
    try Folder.create(path("folder"))
    try link("toFile", to: "file")
    try link("toFolder", to: "folder")
    try link("broken", to: "nowhere")
    let names = ["file", "folder", "toFile", "toFolder", "broken", "nowhere"]
    #expect(names.map { Folder.isRegularFile(path($0)) } == [true, false, false, false, false, false])
    #expect(names.map { Folder.isFolder(path($0)) } == [false, true, false, false, false, false])
    #expect(try names.map { try Folder.exists(path($0)) } == [true, true, true, true, true, false])
  }

  @Test func `the available space of a disk is reported`() throws {
    #expect(try Folder.availableBytes(temporary.path) > 0)
    #expect(throws: SystemError.self) { try Folder.availableBytes(path("nowhere")) }
  }

  @Test func `only the names in a folder can be synchronized`() throws {
    try Folder.synchronize(temporary.path)
    try temporary.write(Data(), to: "file")
    #expect(throws: SystemError.self) { try Folder.synchronize(path("file")) }
  }

  @Test(arguments: [
    ("a", "."), ("/a", "/"), ("a/b", "a"), ("/a/b", "/a"), ("./a", "."), ("a/b/", "a"), ("a/", "."),
    ("/", "/"),
  ])
  func `a path has a parent folder`(path: String, folder: String) {
    #expect(Folder.parent(of: path) == folder)
  }
}
