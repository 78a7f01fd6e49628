import Foundation
import Repositories
import SystemIO
import TestSupport
import Testing

/// Repositories on a real full disk.
@Suite(.timeLimit(.minutes(5)), .enabled("\(SmallDisk.requirement)") { await SmallDisk.isPossible })
struct FullDiskTests {
  private let disk: SmallDisk
  private let log = EventLog()

  init() async throws { disk = try await SmallDisk() }

  private var file: URL { disk.file("trip.json") }

  private static func name(_ number: Int) -> String { String(repeating: "\(number % 10)", count: 20_000) }

  /// The name in the file. The file must be complete, without temporary files beside it.
  private var stored: String {
    get throws {
      #expect(try Folder.entries(disk.url.path) == ["trip.json"])
      return try storedWhileRetrying
    }
  }

  /// The name in the file, which must be complete. A retry can be writing a temporary file beside it.
  private var storedWhileRetrying: String {
    get throws {
      struct Stored: Decodable {
        var schemaVersion: Int
        var value: Trip
      }
      return try JSONDecoder().decode(Stored.self, from: Data(contentsOf: file)).value.name
    }
  }

  @Test func `with file storage a commit without room fails, and the next one with room succeeds`() throws {
    let repository = ValueRepository(
      Trip(id: 0, name: Self.name(0)), storage: FileStorage(file: file, onEvent: log.record))
    try repository.update { $0.id = 1 }
    var outcomes: Set<Bool> = []
    for pages in 0..<10 {
      try disk.fill(leaving: Int64(pages) * 4096)
      let before = repository.value.name
      let error = repositoryError { try repository.update { $0.name = Self.name(pages + 1) } }
      #expect(error == nil || error?.code == .outOfSpace)
      #expect(repository.value.name == (error == nil ? Self.name(pages + 1) : before))
      #expect(try stored == repository.value.name)
      outcomes.insert(error == nil)
    }
    #expect(outcomes == [true, false])
    #expect(log.kinds == [.notSaved, .savedAgain])
  }

  @Test func `with memory and file storage only memory changes until there is room`() async throws {
    let storage = InMemoryStorageWithFilePersistence<Trip>(
      file: file, retryInterval: .milliseconds(5), onEvent: log.record)
    let repository = ValueRepository(Trip(id: 0, name: ""), storage: storage)
    try repository.update { $0.name = Self.name(0) }
    try await repository.flush()
    try disk.fill()
    for number in 1...30 {
      try repository.update { $0.name = Self.name(number) + "\(number)" }
      #expect(repository.value.name == Self.name(number) + "\(number)")
    }
    await #expect(throws: RepositoryError.self) { try await repository.flush() }
    #expect(try storedWhileRetrying == Self.name(0))
    #expect(log.kinds == [.notSaved])

    try disk.empty()
    await log.wait(for: .savedAgain)
    #expect(try stored == Self.name(30) + "30")
    #expect(log.kinds == [.notSaved, .savedAgain])
  }

  @Test func `a collection works as well, from the first commit on`() async throws {
    try disk.fill()
    let trips = CollectionRepository<Trip>(
      storage: InMemoryStorageWithFilePersistence(
        file: file, retryInterval: .seconds(3600), onEvent: log.record))
    for id in 0..<100 { try trips.insert(Trip(id: id, name: "\(id)")) }
    await #expect(throws: RepositoryError.self) { try await trips.flush() }
    #expect(trips.count == 100)
    #expect(try Folder.entries(disk.url.path) == [])
    try disk.empty()
    try await trips.flush()
    #expect(CollectionRepository<Trip>(storage: FileStorage(file: file)).all == trips.all)
    #expect(log.kinds == [.notSaved, .savedAgain])
  }

  @Test func `files are migrated in memory, set aside and moved back on a full disk`() throws {
    let newer = #"{"schemaVersion":3,"value":{"dates":[],"id":3,"name":"newer"}}"#
    try Data(newer.utf8).write(to: file)
    try Data(#"{"schemaVersion":1,"value":{"dates":[],"id":1,"title":"older"}}"#.utf8)
      .write(to: disk.file("trip.json.version-1"))
    try disk.fill()
    let steps: [Migration] = [.rename("title", to: "name"), .add("dates", [])]
    let open = { (steps: [Migration]) in
      ValueRepository(
        Trip(id: 0, name: ""),
        storage: FileStorage(
          file: file, migrations: Migrations(steps), onEvent: log.record, onRollback: { _ in .newer }))
    }
    #expect(open([steps[0]]).value.name == "older")
    #expect(log.kinds == [.setAside, .cameBack, .migrated, .notSaved])
    #expect(open(steps).value.name == "newer")
    #expect(try String(contentsOf: file, encoding: .utf8) == newer)
  }

  @Test func `a corrupt file is set aside on a full disk, and the app starts`() throws {
    try Data("damage".utf8).write(to: file)
    try disk.fill()
    let storage = FileStorage<Trip>(file: file, onEvent: log.record)
    #expect(ValueRepository(Trip(id: 0, name: "new"), storage: storage).value.name == "new")
    #expect(log.kinds == [.corrupt])
    #expect(try Folder.entries(disk.url.path).filter { $0.hasSuffix(".staged") } == [])
    #expect(try String(contentsOf: disk.file("trip.json.corrupt-1"), encoding: .utf8) == "damage")
  }

  private func repositoryError(_ body: () throws -> Void) -> RepositoryError? {
    do {
      try body()
      return nil
    } catch let error as RepositoryError {
      return error
    } catch {
      Issue.record(error)
      return nil
    }
  }
}
