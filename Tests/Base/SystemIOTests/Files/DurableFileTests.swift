import Foundation
import SystemIO
import TestSupport
import Testing

struct DurableFileTests {
  private let temporary: TemporaryFolder

  init() throws { temporary = try TemporaryFolder() }

  private func path(_ name: String) -> String { temporary.file(name).path }

  @Test func `a file is created and replaced with the given mode`() throws {
    try DurableFile.replace(path("a"), with: Array("one".utf8))
    #expect(try Data(contentsOf: temporary.file("a")) == Data("one".utf8))
    try DurableFile.replace(path("a"), with: [], mode: 0o440)
    #expect(try Data(contentsOf: temporary.file("a")) == Data())
    #expect(try Folder.entries(temporary.path) == ["a"])
    let attributes = try FileManager.default.attributesOfItem(atPath: path("a"))
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o440)
  }

  @Test func `a missing folder is an error and is not created`() throws {
    let error = #expect(throws: SystemError.self) { try DurableFile.replace(path("nowhere/a"), with: [1]) }
    #expect(error?.isNotFound == true)
    #expect(try !Folder.exists(path("nowhere")))
  }

  @Test func `a name that is too long leaves no file behind`() throws {
    #expect(throws: SystemError.self) {
      try DurableFile.replace(path(String(repeating: "n", count: 255)), with: [1])
    }
    #expect(try Folder.entries(temporary.path) == [])
  }

  @Test func `a folder with that name is kept, and no temporary file is left`() throws {
    try temporary.write(Data("x".utf8), to: "a/file")
    #expect(throws: SystemError.self) { try DurableFile.replace(path("a"), with: [1]) }
    #expect(try Folder.entries(temporary.path) == ["a"])
    #expect(try Folder.entries(path("a")) == ["file"])
  }

  @Test func `a file instead of the parent folder is an error`() throws {
    try temporary.write(Data(), to: "file")
    #expect(throws: SystemError.self) { try DurableFile.replace(path("file/a"), with: [1]) }
  }

  @Test func `a link with that name is replaced, and its target is kept`() throws {
    try temporary.write(Data("keep".utf8), to: "target")
    try FileManager.default.createSymbolicLink(atPath: path("a"), withDestinationPath: "target")
    try DurableFile.replace(path("a"), with: [1])
    #expect(Folder.isRegularFile(path("a")))
    #expect(try Data(contentsOf: temporary.file("target")) == Data("keep".utf8))
  }

  @Test func `readers see a complete version during concurrent replacements`() async throws {
    let path = path("a")
    try DurableFile.replace(path, with: [UInt8](repeating: 0, count: 10_000))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 1...8 {
        group.addTask {
          for _ in 0..<5 {
            try DurableFile.replace(path, with: [UInt8](repeating: UInt8(writer), count: 10_000))
          }
        }
      }
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<50 {
            let bytes = try File(path).read(upTo: 20_000, at: 0)
            #expect(bytes.count == 10_000)
            #expect(Set(bytes).count == 1)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try Folder.entries(temporary.path) == ["a"])
  }
}
