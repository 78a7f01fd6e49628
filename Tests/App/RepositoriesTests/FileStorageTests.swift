import Foundation
import Repositories
import TestSupport
import Testing

@Suite struct FileStorageTests {
  private let folder: TemporaryFolder
  private let file: URL
  private let failing = FailingDisk()
  private let log = EventLog()

  init() throws {
    folder = try TemporaryFolder()
    file = folder.file("deep/trip.json")
  }

  private func open() throws -> ValueRepository<Trip> {
    ValueRepository(
      Trip(id: 0, name: "initial"), storage: FileStorage(file: file, disk: failing.disk, onEvent: log.record))
  }

  private var names: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path).sorted()
    }
  }

  @Test func `a commit is in the file when update returns`() throws {
    try open().update { $0.name = "Coast" }
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(text == #"{"schemaVersion":1,"value":{"dates":[],"id":0,"name":"Coast"}}"#)
    #expect(try open().value.name == "Coast")
    #expect(log.all.isEmpty)
  }

  @Test func `nothing is written before the first commit`() throws {
    #expect(try open().value.name == "initial")
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test(arguments: [ENOSPC, EDQUOT, EFBIG, EIO, EROFS])
  func `a commit that can't be written fails`(code: Int32) throws {
    let repository = try open()
    try repository.update { $0.name = "kept" }
    let before = try Data(contentsOf: file)
    failing.fault = .writing(code)
    for _ in 0..<3 {
      let error = try #require(throws: RepositoryError.self) { try repository.update { $0.name = "lost" } }
      #expect(error.code == (code == EIO || code == EROFS ? .notWritten : .outOfSpace))
    }
    #expect(repository.value.name == "kept")
    #expect(try Data(contentsOf: file) == before)
    #expect(log.kinds == [.notSaved])

    failing.fault = nil
    try repository.update { $0.name = "again" }
    #expect(try open().value.name == "again")
    #expect(log.kinds == [.notSaved, .savedAgain])
  }

  @Test func `a power failure during a write leaves the old file, and its temporary file is removed`() throws
  {
    let repository = try open()
    try repository.update { $0.name = "old" }
    failing.fault = .powerCut
    #expect(throws: RepositoryError.self) { try repository.update { $0.name = "new" } }
    #expect(try names == ["trip.json", "trip.json.1-1.staged"])
    failing.fault = nil
    #expect(try open().value.name == "old")
    #expect(try names == ["trip.json"])
  }

  @Test func `a file that can't be read now is neither replaced nor set aside`() throws {
    try open().update { $0.name = "locked" }
    failing.fault = .reading(EPERM)
    let repository = try open()
    #expect(try #require(throws: RepositoryError.self) { try repository.load() }.code == .unreadable)
    #expect(repository.value.name == "initial")
    let error = try #require(throws: RepositoryError.self) { try repository.update { $0.name = "lost" } }
    #expect(error.code == .unreadable)
    failing.fault = nil
    #expect(repository.value.name == "locked")
    #expect(try names == ["trip.json"])
  }

  static let damage = [
    "", "{", "not json", "[]", "{}", #"{"schemaVersion":1}"#, #"{"schemaVersion":"1","value":{}}"#,
    #"{"schemaVersion":0,"value":{"id":1,"name":"x","dates":[]}}"#,
    #"{"schemaVersion":1,"value":{"id":1,"name":"x","dates":"#,
    String(repeating: "[", count: 100_000), "\u{0}\u{1}\u{2}",
  ]

  @Test(arguments: damage) func `a corrupt file is set aside with its reason, and the app starts`(
    text: String
  ) throws {
    try folder.write(Data(text.utf8), to: "deep/trip.json")
    let repository = try open()
    #expect(repository.value.name == "initial")
    #expect(log.kinds == [.corrupt])
    #expect(log.all.first?.file.lastPathComponent == "trip.json.corrupt-1")
    let aside = file.deletingLastPathComponent().appending(path: "trip.json.corrupt-1")
    #expect(try String(contentsOf: aside, encoding: .utf8) == text)
    let reason = try String(contentsOf: aside.appendingPathExtension("reason"), encoding: .utf8)
    #expect(reason == (log.all.first?.reason ?? "") + "\n")
    #expect(reason.count > 10)
    let storage = FileStorage<Trip>(file: file)
    #expect(
      storage.setAside.map(\.lastPathComponent) == ["trip.json.corrupt-1", "trip.json.corrupt-1.reason"])
    try repository.update { $0.name = "anew" }
    #expect(try open().value.name == "anew")
  }

  @Test func `the number of corrupt files is limited`() throws {
    for number in 1...(FileLimits.corruptFiles + 2) {
      try folder.write(Data("damage \(number)".utf8), to: "deep/trip.json")
      _ = try open()
    }
    #expect(try names.filter { !$0.hasSuffix("reason") }.count == FileLimits.corruptFiles)
    let last = file.deletingLastPathComponent().appending(
      path: "trip.json.corrupt-\(FileLimits.corruptFiles)")
    #expect(try String(contentsOf: last, encoding: .utf8) == "damage \(FileLimits.corruptFiles + 2)")
  }

  @Test func `files with similar names are not touched`() throws {
    for name in [
      "trip.jsonx", "trip.json.backup", "trip.json.version-", "trip.json.version-+1", "other.staged",
    ] {
      try folder.write(Data("mine".utf8), to: "deep/\(name)")
    }
    try FileManager.default.createDirectory(
      at: folder.file("deep/trip.json.version-1"), withIntermediateDirectories: true)
    let before = try names
    #expect(try open().value.name == "initial")
    #expect(try names == before)
  }

  struct Numbers: Codable, Equatable, Sendable {
    var double = [0.1, -0.0, .infinity, -.infinity, 1e300, .leastNonzeroMagnitude, .pi]
    var date = Date(timeIntervalSinceReferenceDate: 123456789.987654321)
    var whole = [UInt64.max, 0]
    var none: String?
    var data = Data([0, 255])
  }

  @Test func `every number, date and byte is restored exactly`() throws {
    let numbers = ValueRepository(Numbers(double: []), storage: FileStorage(file: file))
    try numbers.update { $0 = Numbers() }
    #expect(ValueRepository(Numbers(double: []), storage: FileStorage(file: file)).value == Numbers())
  }

  @Test func `an optional model that is nil is restored as nil`() throws {
    let open = { ValueRepository<Trip?>(Trip(id: 1, name: "x"), storage: FileStorage(file: file)) }
    try open().update { $0 = nil }
    #expect(open().value == nil)
  }

  struct Stubborn: Codable, Sendable, Equatable {
    var isStubborn = false
    func encode(to encoder: any Encoder) throws {
      struct Refusal: Error {}
      if isStubborn { throw Refusal() }
      var container = encoder.singleValueContainer()
      try container.encode([String: Bool]())
    }
    init() {}
    init(from decoder: any Decoder) throws {}
  }

  @Test func `a commit of a value that can't be encoded fails`() throws {
    let repository = ValueRepository(Stubborn(), storage: FileStorage(file: file))
    let error = try #require(throws: RepositoryError.self) { try repository.update { $0.isStubborn = true } }
    #expect(error.code == .notEncodable)
    #expect(repository.value == Stubborn())
  }
}
