import Foundation
import SystemIO
import TestSupport
import Testing

@Suite struct FolderStampTests {
  @Test func `a folder's stamp changes with its names and not with the files' contents`() throws {
    let temporary = try TemporaryFolder()
    let path = temporary.url.path
    let file = try File(path + "/a", .create(mode: 0o600))
    let before = try #require(try Folder.stamp(path))
    try file.write([1, 2, 3], at: 0)
    #expect(try Folder.stamp(path) == before)
    // Two changes within one tick of the file system's clock can have the same stamp.
    var count = 0
    repeat {
      count += 1
      try Folder.link(path + "/a", as: path + "/\(count)")
    } while try Folder.stamp(path) == before && count < 1_000_000
    let linked = try #require(try Folder.stamp(path))
    #expect(linked != before)
    for number in 1...count where try Folder.stamp(path) == linked {
      try Folder.replace(path + "/a", with: path + "/\(number)")
      try Folder.remove(path + "/a")
      _ = try File(path + "/a", .create(mode: 0o600))
    }
    #expect(try Folder.stamp(path) != linked)
  }

  @Test func `a missing folder has no stamp, and a new folder with its name has another one`() throws {
    let temporary = try TemporaryFolder()
    let path = temporary.file("folder").path
    #expect(try Folder.stamp(path) == nil)
    try Folder.create(path)
    let first = try #require(try Folder.stamp(path))
    try Folder.replace(temporary.file("other").path, with: path)
    try Folder.create(path)
    #expect(try Folder.stamp(path) != first)
  }
}
