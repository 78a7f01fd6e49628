import Foundation
import SystemIO
import TestSupport
import Testing

@testable import Observability

/// What has to be flushed of a file of the audit log.
@Suite struct AuditFileTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/audit.log" }

  init() throws { folder = try TemporaryFolder() }

  @Test func `lines are flushed once, and the name of a new file with them`() throws {
    var configuration = AuditLog.Configuration(path: path)
    configuration.fileBytes = 10
    var file = try AuditFile(path, configuration)
    /// Whether a flush begins, and the folder that it flushes; `nil` if nothing is flushed.
    func flush() -> (begins: Bool, folder: String??) {
      (file.beginFlush(), file.takeUnflushed().map(\.folder))
    }
    func append() throws -> String?? {
      try file.append([Array("line\n".utf8)])
      let (begins, folder) = flush()
      #expect(begins)
      return folder
    }
    #expect(flush() == (false, nil))
    #expect(try append() == .some(folder.path))
    #expect(try append() == .some(nil))
    #expect(flush() == (false, nil))
    // The third line does not fit into the file.
    #expect(try append() == .some(folder.path))
    #expect(try Folder.entries(folder.path) == ["audit.log", "audit.log.1"])
    #expect(try append() == .some(nil))
    try Folder.replace(path + ".moved", with: path)
    #expect(try append() == .some(folder.path))
    #expect(try append() == .some(nil))
    file.failedToFlush()
    #expect(flush() == (true, folder.path))
  }

  @Test(.enabled("\(SmallDisk.requirement)") { await SmallDisk.isPossible })
  func `a line that a full disk took in part is separated from the next one`() async throws {
    let disk = try await SmallDisk(bytes: 4 << 20)
    let path = disk.file("audit.log").path
    var file = try AuditFile(path, AuditLog.Configuration(path: path))
    func append(_ count: Int, _ digit: Character) throws {
      try file.append([Array((String(repeating: digit, count: count) + "\n").utf8)])
    }
    try append(4000, "1")
    try disk.fill()
    // More than the space that is reserved behind the end of the file.
    #expect(throws: SystemError.self) { try append(3 << 20, "2") }
    try disk.empty()
    try append(3, "3")
    let text = String(decoding: try File(path).read(upTo: 4 << 20, at: 0), as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 4)
    #expect(lines.map(\.count)[0] == 4000 && (1..<3 << 20).contains(lines[1].count))
    #expect(lines[2...] == ["333", ""])
  }

  @Test func `the lines of a rotated file survive a power cut once those of the next one are flushed`()
    async throws
  {
    let disk = try PowerCutDisk<[String]>([])
    let path = disk.path + "/audit.log"
    var configuration = AuditLog.Configuration(path: path)
    configuration.fileBytes = 10
    var file = try AuditFile(path, configuration)
    let lines = ["first\n", "second\n", "third\n"]
    // Each has a file of its own.
    for line in lines { try file.append([Array(line.utf8)]) }
    let unflushed = file.takeUnflushed()
    try #require(unflushed).flush()
    disk.promise { $0 = lines }
    try await disk.forEachCut { remains in
      let found = try Folder.entries(remains.path).map { name in
        String(decoding: try File("\(remains.path)/\(name)").read(upTo: 1024, at: 0), as: UTF8.self)
      }
      #expect(Set(found).isSuperset(of: remains.promise), "\(remains.label)")
    }
  }

  @Test func `one flush is made at a time`() throws {
    var file = try AuditFile(path, AuditLog.Configuration(path: path))
    try file.append([Array("line\n".utf8)])
    let begins = (file.beginFlush(), file.beginFlush())
    #expect(begins == (true, false))
    _ = file.takeUnflushed()
    try file.append([Array("line\n".utf8)])
    let beginsAgain = file.beginFlush()
    #expect(beginsAgain)
  }
}
