import Foundation
import SystemIO
import TestSupport
import Testing

@Suite struct FileIdentityTests {
  private let temporary: TemporaryFolder
  private var path: String { temporary.file("a").path }

  init() throws { temporary = try TemporaryFolder() }

  @Test func `a file keeps its identity when its contents and name change`() throws {
    let file = try File(path, .create(mode: 0o600))
    let identity = try file.identity
    try file.write([1, 2, 3], at: 0)
    let found = try #require(try Folder.file(at: path))
    #expect(found.identity == identity)
    #expect(found.size == 3)
    let moved = temporary.file("b").path
    try Folder.replace(moved, with: path)
    #expect(try Folder.file(at: moved)?.identity == identity)
    #expect(try Folder.file(at: path) == nil)
  }

  @Test func `another file with the same name has another identity`() throws {
    let file = try File(path, .create(mode: 0o600))
    let other = try File(temporary.file("b").path, .create(mode: 0o600))
    try Folder.replace(path, with: temporary.file("b").path)
    #expect(try Folder.file(at: path)?.identity == other.identity)
    #expect(try file.identity != other.identity)
  }

  @Test func `a link is not followed`() throws {
    let file = try File(path, .create(mode: 0o600))
    let link = temporary.file("link").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    #expect(try Folder.file(at: link)?.identity != file.identity)
  }
}

/// On kernels without this system call, no file can be opened from the cache.
@Suite(.enabled(if: File(cached: "/") != nil))
struct CachedFileTests {
  private let temporary: TemporaryFolder
  private var path: String { temporary.file("a").path }

  init() throws { temporary = try TemporaryFolder() }

  @Test func `a file that was just written is opened from the cache for reading`() throws {
    try File(path, .create(mode: 0o600)).write([1, 2, 3], at: 0)
    let file = try #require(File(cached: path))
    #expect(file.path == path)
    #expect(try file.read(upTo: 4, at: 0) == [1, 2, 3])
    #expect(throws: SystemError.self) { try file.write([4], at: 0) }
  }

  @Test func `missing files and links are not opened`() throws {
    #expect(File(cached: path) == nil)
    _ = try File(path, .create(mode: 0o600))
    let link = temporary.file("link").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    #expect(File(cached: link) == nil)
    #expect(File(cached: path) != nil)
  }
}
