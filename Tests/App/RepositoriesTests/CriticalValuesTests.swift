import Foundation
import Repositories
import SystemIO
import TestSupport
import Testing

@Suite struct CriticalValuesTests {
  private let folder: TemporaryFolder
  private let first: URL
  private let second: URL
  private let failing = FailingDisk()
  private let log = EventLog()

  init() throws {
    folder = try TemporaryFolder()
    first = folder.file("support/critical")
    second = folder.file("preferences/critical")
  }

  private func open() throws -> CriticalValues {
    try CriticalValues(copies: first, second, disk: failing.disk, onEvent: log.record)
  }

  @Test func `values are loaded at the next launch`() throws {
    let values = try open()
    #expect(values["userID"] == nil)
    try values.set("u-4711", for: "userID")
    try values.set("d-1", for: "deviceID")
    try values.set(nil, for: "deviceID")
    #expect(try open().all == ["userID": "u-4711"])
    #expect(try Data(contentsOf: first) == Data(contentsOf: second))
    #expect(log.all.isEmpty)
  }

  @Test func `a copy consists of a checksum and JSON`() throws {
    try open().set("u-4711", for: "userID")
    let lines = try String(contentsOf: first, encoding: .utf8).split(separator: "\n")
    #expect(lines == ["14c94ab5", #"{"generation":1,"values":{"userID":"u-4711"}}"#])
  }

  @Test(arguments: [true, false]) func `a lost copy is restored from the other`(isFirst: Bool) throws {
    try open().set("u-4711", for: "userID")
    let lost = isFirst ? first : second
    try FileManager.default.removeItem(at: lost.deletingLastPathComponent())
    #expect(try open()["userID"] == "u-4711")
    #expect(log.kinds == [.healed])
    #expect(try Data(contentsOf: first) == Data(contentsOf: second))
    #expect(try open()["userID"] == "u-4711")
    #expect(log.kinds == [.healed])
  }

  @Test func `every damage of one byte is detected and repaired`() throws {
    try open().set("u-4711", for: "userID")
    let intact = try Data(contentsOf: first)
    for position in intact.indices {
      var damaged = intact
      damaged[position] ^= 0x01
      try damaged.write(to: first)
      #expect(try open().all == ["userID": "u-4711"])
      #expect(try Data(contentsOf: first) == intact)
    }
    #expect(log.kinds == Array(repeating: .healed, count: intact.count))
  }

  @Test func `every truncation of a copy is detected and repaired`() throws {
    try open().set("u-4711", for: "userID")
    let intact = try Data(contentsOf: second)
    for length in 0..<intact.count {
      try intact.prefix(length).write(to: second)
      #expect(try open()["userID"] == "u-4711")
      #expect(try Data(contentsOf: second) == intact)
    }
  }

  @Test func `the newer copy is used`() throws {
    let values = try open()
    try values.set("old", for: "userID")
    let old = try Data(contentsOf: first)
    try values.set("new", for: "userID")
    try old.write(to: first)
    #expect(try open()["userID"] == "new")
    #expect(log.all.map(\.reason) == ["it was older than the other copy"])
    #expect(try Data(contentsOf: first) == Data(contentsOf: second))
  }

  @Test func `if both copies are damaged, they are set aside, and the app starts`() throws {
    for copy in ["support/critical", "preferences/critical"] {
      try folder.write(Data("damage".utf8), to: copy)
    }
    let values = try open()
    #expect(values.all.isEmpty)
    #expect(log.kinds == [.corrupt, .corrupt])
    #expect(try String(contentsOf: folder.file("support/critical.corrupt"), encoding: .utf8) == "damage")
    try values.set("anew", for: "userID")
    #expect(try open()["userID"] == "anew")
  }

  @Test func `a copy that can't be read does not count as lost`() throws {
    try open().set("u-4711", for: "userID")
    failing.fault = .reading(EPERM)
    #expect(try #require(throws: RepositoryError.self) { try open() }.code == .unreadable)
    failing.fault = nil
    #expect(try open()["userID"] == "u-4711")
  }

  @Test func `on a full disk a change is rejected, and nothing changes`() throws {
    let values = try open()
    try values.set("kept", for: "userID")
    failing.fault = .writing(ENOSPC)
    #expect(
      try #require(throws: RepositoryError.self) { try values.set("lost", for: "userID") }.code == .outOfSpace
    )
    #expect(values["userID"] == "kept")
    failing.fault = nil
    #expect(try open()["userID"] == "kept")
    try values.set("next", for: "userID")
    #expect(try open()["userID"] == "next")
  }

  @Test func `a change that failed, but reached one copy, does not replace a later one`() throws {
    // The first copy is replaced, but its folder can't be flushed; later it can't be written at all.
    let writes = Lock(0)
    let failing = Disk(
      read: Disk.real.read,
      replace: { [first] path, bytes throws(SystemError) in
        let number = writes.withLock { number in
          number += 1
          return number
        }
        if number == 3 { try Disk.real.replace(path, bytes) }
        if number == 3 || number == 4 || number > 4 && path == first.path {
          throw SystemError(operation: "fsync", path: path, code: EIO)
        }
        try Disk.real.replace(path, bytes)
      })
    let values = try CriticalValues(copies: first, second, disk: failing)
    try values.set("kept", for: "userID")
    #expect(throws: RepositoryError.self) { try values.set("lost", for: "userID") }
    #expect(values["userID"] == "kept")
    try values.set("next", for: "userID")
    for (one, other) in [(first, second), (second, first)] {
      #expect(try CriticalValues(copies: one, other)["userID"] == "next")
    }
  }

  @Test func `copies that are set aside are durably renamed`() throws {
    let renames = RenameLog(folder.url.path)
    for copy in ["support/critical", "preferences/critical"] {
      try folder.write(Data("damage".utf8), to: copy)
    }
    _ = try open()
    #expect(renames.stop() == ["critical.corrupt flushed", "critical.corrupt flushed"])
  }

  @Test func `one copy is enough`() throws {
    let values = try open()
    try values.set("u-1", for: "userID")
    try FileManager.default.removeItem(at: folder.file("preferences"))
    try folder.write(Data(), to: "preferences")
    try values.set("u-4711", for: "userID")
    #expect(log.kinds == [.notSaved])
    #expect(try CriticalValues(copies: first, second)["userID"] == "u-4711")
  }

  @Test func `limits accept their values and nothing above`() throws {
    let values = try open()
    let code = { (key: String, value: String) -> RepositoryError.Code? in
      do throws(RepositoryError) { try values.set(value, for: key) } catch { return error.code }
      return nil
    }
    #expect(code("", "x") == .overLimit)
    #expect(code(String(repeating: "k", count: 256), String(repeating: "v", count: 4096)) == nil)
    #expect(code(String(repeating: "k", count: 257), "x") == .overLimit)
    #expect(code("x", String(repeating: "v", count: 4097)) == .overLimit)
    for number in 1..<CriticalValues.Limits.values { #expect(code("\(number)", "\u{1}") == nil) }
    #expect(code("one more", "x") == .overLimit)
    #expect(code("1", "a change is no addition") == nil)
    #expect(try open().all.count == CriticalValues.Limits.values)
  }

  @Test func `many threads set and read values`() async throws {
    let values = try open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<16 {
        group.addTask {
          try values.set("\(number)", for: "key \(number)")
          #expect(values["key \(number)"] == "\(number)")
        }
      }
      try await group.waitForAll()
    }
    #expect(try open().all.count == 16)
  }
}
