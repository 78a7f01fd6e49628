import Foundation
import Repositories
import TestSupport
import Testing

/// An app's container moves between two launches, as at an update on iOS.
@Suite struct MovedContainerTests {
  enum Kind: CaseIterable, Sendable { case file, memoryAndFile }

  private let temporary: TemporaryFolder
  private let log = EventLog()

  init() throws { temporary = try TemporaryFolder() }

  private func move() throws {
    try FileManager.default.moveItem(at: temporary.file("first"), to: temporary.file("second"))
  }

  private func storage<Value: Codable & Sendable>(
    _ kind: Kind, _ name: String, _ migrations: Migrations = []
  ) -> AnyRepositoryStorage<Value> {
    let file = temporary.file(name)
    return switch kind {
    case .file: FileStorage(file: file, migrations: migrations, onEvent: log.record).toAny()
    case .memoryAndFile:
      InMemoryStorageWithFilePersistence(file: file, migrations: migrations, onEvent: log.record).toAny()
    }
  }

  @Test(arguments: Kind.allCases)
  func `values, models and elements that can't be decoded move along`(kind: Kind) async throws {
    try temporary.write(
      Data(#"{"schemaVersion":1,"value":[{"id":1,"name":"a","dates":[]},{"id":2,"title":"b"}]}"#.utf8),
      to: "first/trips.json")
    let one = SingleRepository<Trip>(storage: storage(kind, "first/trip.json"))
    let many = CollectionRepository<Trip>(storage: storage(kind, "first/trips.json"))
    try one.put(Trip(id: 7, name: "Coast"))
    try many.insert(Trip(id: 3, name: "c"))
    try await one.flush()
    try await many.flush()
    #expect(log.kinds == [.undecoded])
    try move()

    #expect(SingleRepository<Trip>(storage: storage(kind, "second/trip.json")).value == one.value)
    let moved = CollectionRepository<Trip>(storage: storage(kind, "second/trips.json"))
    #expect(moved.all == many.all)
    try moved.remove(2)
    try await moved.flush()
    #expect(!(try String(contentsOf: temporary.file("second/trips.json"), encoding: .utf8)).contains("title"))
    #expect(!FileManager.default.fileExists(atPath: temporary.file("first").path))
  }

  @Test(arguments: Kind.allCases)
  func `files that were set aside come back after a move`(kind: Kind) async throws {
    let steps: Migrations = [.rename("title", to: "name")]
    let newer = SingleRepository<Trip>(storage: storage(kind, "first/trip.json", steps))
    try newer.put(Trip(id: 1, name: "newer"))
    try await newer.flush()
    #expect(SingleRepository<Trip>(storage: storage(kind, "first/trip.json")).value == nil)
    try move()
    #expect(SingleRepository<Trip>(storage: storage(kind, "second/trip.json")).value == nil)
    #expect(
      SingleRepository<Trip>(storage: storage(kind, "second/trip.json", steps)).value?.name == "newer")
  }

  @Test func `a decision after a roll-back survives a move`() throws {
    let steps: Migrations = [.rename("title", to: "name")]
    try SingleRepository<Trip>(storage: storage(.file, "first/trip.json", steps)).put(
      Trip(id: 1, name: "newer"))
    try temporary.write(
      Data(#"{"schemaVersion":1,"value":{"id":2,"title":"older","dates":[]}}"#.utf8), to: "first/older.json")
    _ = SingleRepository<Trip>(storage: storage(.file, "first/trip.json"))
    try FileManager.default.moveItem(
      at: temporary.file("first/older.json"), to: temporary.file("first/trip.json"))
    try move()
    for _ in 1...2 {
      #expect(
        SingleRepository<Trip>(storage: storage(.file, "second/trip.json", steps)).value?.name == "older")
    }
  }

  @Test func `critical values move along, also when only one copy does`() throws {
    let open = { [temporary, log] (first: String, second: String) in
      try CriticalValues(
        copies: temporary.file(first), temporary.file(second), onEvent: log.record)
    }
    try open("first/support/critical", "first/preferences/critical").set("u-4711", for: "userID")
    try move()
    #expect(try open("second/support/critical", "second/preferences/critical")["userID"] == "u-4711")
    #expect(log.all.isEmpty)
    #expect(try open("third/critical", "second/preferences/critical")["userID"] == "u-4711")
    #expect(log.kinds == [.healed])
  }
}
