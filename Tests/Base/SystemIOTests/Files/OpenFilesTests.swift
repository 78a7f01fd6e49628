import Foundation
import SystemIO
import TestSupport
import Testing

/// If the system cannot open files from its caches, this cache is always empty.
@Suite(.enabled(if: File(cached: "/") != nil)) struct OpenFilesTests {
  private let temporary: TemporaryFolder
  private let files = OpenFiles(limit: 3)
  private var path: String { temporary.file("a").path }

  init() throws {
    temporary = try TemporaryFolder()
    try make("a", [1, 2, 3])
  }

  @discardableResult
  private func make(_ name: String, _ bytes: [UInt8]) throws -> File {
    let file = try File(temporary.file(name).path, .create(mode: 0o600))
    try file.write(bytes, at: 0)
    return file
  }

  /// Waits until the file system's clock has advanced since `file` was changed.
  private func waitForLaterTime(than file: File) throws {
    let other = try make("clock", [])
    let before = try file.modifiedNanoseconds
    repeat { try other.write([0], at: 0) } while try other.modifiedNanoseconds <= before
  }

  @Test func `a file is opened once`() throws {
    let first = try #require(files.file(cached: path))
    let second = try #require(files.file(cached: path))
    #expect(first.file === second.file)
    #expect(first.size == 3 && second.size == 3)
    #expect(try first.file.read(upTo: 9, at: 0) == [1, 2, 3])
    #expect(files.count == 1)
  }

  @Test func `missing files and links are not opened`() throws {
    let link = temporary.file("link").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    #expect(files.file(cached: link) == nil)
    #expect(files.file(cached: path + "x") == nil)
    #expect(files.count == 0)
  }

  @Test func `a file that is asked for twice is kept open, and its removal is noticed at once`() throws {
    #expect(try files.has(path))
    #expect(files.count == 0)
    #expect(try files.has(path))
    #expect(files.count == 1)
    #expect(try files.has(path))
    try Folder.replace(path + ".moved", with: path)
    #expect(try !files.has(path))
    #expect(files.count == 0)
    try make("a", [4])
    #expect(try files.has(path))
    try Folder.remove(path)
    #expect(try !files.has(path))
    #expect(try !files.has(path))
    #expect(files.count == 0)
  }

  @Test func `files that are asked for once do not displace the open ones`() throws {
    for name in ["b", "c", "d", "e"] { try make(name, [0]) }
    _ = try #require(files.file(cached: path))
    for _ in 0..<3 {
      for name in ["b", "c", "d", "e"] { #expect(try files.has(temporary.file(name).path)) }
    }
    #expect(files.count == 1)
  }

  @Test func `a removed file is not returned any more`() throws {
    _ = try #require(files.file(cached: path))
    try Folder.remove(path)
    #expect(files.file(cached: path) == nil)
    #expect(files.count == 0)
  }

  @Test func `a file that was replaced is opened again`() throws {
    let former = try #require(files.file(cached: path))
    try make("b", [4])
    try Folder.replace(path, with: temporary.file("b").path)
    let replaced = try #require(files.file(cached: path))
    #expect(replaced.file !== former.file)
    #expect(replaced.size == 1)
    #expect(try former.file.read(upTo: 9, at: 0) == [1, 2, 3], "an open file remains readable")
  }

  @Test func `a file that grew has its new length`() throws {
    _ = try #require(files.file(cached: path))
    try File(path, .update).write([4], at: 3)
    #expect(files.file(cached: path)?.size == 4)
  }

  @Test func `a renamed file is not returned any more`() throws {
    let file = try #require(files.file(cached: path)).file
    try waitForLaterTime(than: file)
    try Folder.replace(temporary.file("b").path, with: path)
    #expect(files.file(cached: path) == nil)
  }

  @Test func `a forgotten file is closed and opened again`() throws {
    weak let former = try #require(files.file(cached: path)).file
    #expect(former != nil)
    files.forget(path)
    #expect(former == nil)
    #expect(files.count == 0)
    #expect(files.file(cached: path) != nil)
    #expect(files.count == 1)
  }

  @Test func `the least recently used file is closed first`() throws {
    for name in ["b", "c", "d"] { try make(name, []) }
    let first = try #require(files.file(cached: path)).file
    for (name, count) in [("b", 2), ("c", 3), ("d", 3)] {
      _ = try #require(files.file(cached: temporary.file(name).path))
      #expect(files.count == count)
      #expect(files.file(cached: path)?.file === first, "recently used files are kept")
    }
    files.removeAll()
    #expect(files.count == 0)
  }

  @Test func `with a limit of zero no file is kept`() throws {
    let none = OpenFiles(limit: 0)
    #expect(none.file(cached: path)?.size == 3)
    #expect(none.count == 0)
  }

  @Test func `the default limit is a small part of the descriptor limit`() {
    #expect(OpenFiles().limit == min(16, DescriptorLimit.current / 64))
  }
}
