import SystemIO
import TestSupport
import Testing

/// The states that the test double simulates after a power failure.
@Suite struct PowerCutTests {
  private func contents(_ path: String) throws -> String? {
    do {
      return String(decoding: try File(path).read(upTo: 100, at: 0), as: UTF8.self)
    } catch  where error.isNotFound {
      return nil
    }
  }

  @Test func `after a power failure a file is the old or the new one, and the new one once replaced`()
    async throws
  {
    let disk = try PowerCutDisk<[String?]>([nil, "old"])
    try DurableFile.replace(disk.path + "/file", with: Array("old".utf8))
    disk.promise { $0 = ["old", "new"] }
    try DurableFile.replace(disk.path + "/file", with: Array("new".utf8))
    disk.promise { $0 = ["new"] }
    var count = 0
    try await disk.forEachCut { remains in
      let found = try contents(remains.path + "/file")
      #expect(remains.promise.contains(found), "\(remains.label)")
      count += 1
    }
    #expect(count > 10)
  }

  /// The simulated states after creating, writing and renaming a file, with some of the synchronizations.
  private func remains(_ flushes: Set<String>) async throws -> Set<String> {
    let disk = try PowerCutDisk(false)
    let file = try File(disk.path + "/a", .create(mode: 0o600))
    try file.write(Array("1234".utf8), at: 0)
    if flushes.contains("file") { try file.synchronize() }
    try Folder.create(disk.path + "/folder")
    if flushes.contains("new folder") { try Folder.synchronize(disk.path) }
    try Folder.replace(disk.path + "/folder/b", with: disk.path + "/a")
    if flushes.contains("folder") { try Folder.synchronize(disk.path + "/folder") }
    disk.promise { $0 = true }
    var found: Set<String> = []
    try await disk.forEachCut { remains in
      guard remains.promise else { return }
      let (a, b) = (try contents(remains.path + "/a"), try contents(remains.path + "/folder/b"))
      found.insert("\(a ?? "-") \(b ?? "-")")
    }
    return found
  }

  @Test func `data that was not synchronized can be lost`() async throws {
    let torn = "12\0\0"
    let garbled = String(decoding: Array("1234".utf8).map { $0 ^ 0xEE }, as: UTF8.self)
    #expect(try await remains([]) == ["- -", "- 1234", "- ", "- \(torn)", "- \(garbled)"])
    #expect(try await remains(["file"]) == ["- -", "- 1234"])
    #expect(try await remains(["folder"]) == ["- -", "- 1234", "- ", "- \(torn)", "- \(garbled)"])
    #expect(try await remains(["file", "folder"]) == ["- -", "- 1234"])
    #expect(try await remains(["file", "new folder"]) == ["1234 -", "- 1234"])
    #expect(try await remains(["file", "new folder", "folder"]) == ["- 1234"])
    #expect(try await remains(["new folder", "folder"]) == ["- 1234", "- ", "- \(torn)", "- \(garbled)"])
  }

  @Test func `a removed name stays removed once its folder is synchronized`() async throws {
    let disk = try PowerCutDisk<[String?]>([nil, "x"])
    try DurableFile.replace(disk.path + "/file", with: Array("x".utf8))
    try Folder.remove(disk.path + "/file")
    let isThere = disk.moments.count
    try Folder.synchronize(disk.path)
    disk.promise { $0 = [nil] }
    #expect(disk.moments.count == isThere + 2)
    try await disk.forEachCut { remains in
      let found = try contents(remains.path + "/file")
      #expect(remains.promise.contains(found), "\(remains.label)")
    }
  }
}
