import Foundation
import Repositories
import TestSupport
import Testing

/// The two ways in which an app with a database lost its users' data, for each storage with a file.
@Suite struct DatabaseDisasterTests {
  private struct Trip1: Codable, Equatable, Sendable, Identifiable { var id: Int, name: String }
  private struct Trip2: Codable, Equatable, Sendable, Identifiable { var id: Int, title: String }
  private struct Trip3: Codable, Equatable, Sendable, Identifiable { var id: Int, headline: String }

  enum Kind: CaseIterable, Sendable { case file, memoryAndFile }

  /// The same property is renamed in version 2, and again in version 3.
  private static let renames: [Migration] = [
    .rename("name", to: "title"), .rename("title", to: "headline"),
  ]

  private let folder: TemporaryFolder
  private let log = EventLog()

  init() throws { folder = try TemporaryFolder() }

  private func storage<Value: Codable & Sendable>(
    _ kind: Kind, _ name: String, _ migrations: [Migration]
  ) -> AnyRepositoryStorage<Value> {
    let file = folder.file(name)
    let migrations = Migrations(migrations)
    return switch kind {
    case .file:
      FileStorage<Value>(
        file: file, migrations: migrations, onEvent: log.record, onRollback: { _ in .newer }
      ).toAny()
    case .memoryAndFile:
      InMemoryStorageWithFilePersistence<Value>(
        file: file, migrations: migrations, onEvent: log.record, onRollback: { _ in .newer }
      ).toAny()
    }
  }

  /// A version of the app, with a single trip and a collection of trips.
  private struct App<Trip: Codable & Sendable & Identifiable> where Trip.ID == Int {
    let one: ValueRepository<Trip>
    let many: CollectionRepository<Trip>

    /// Waits until all commits are in the files, and ends the app.
    func end() async throws {
      try await one.flush()
      try await many.flush()
    }
  }

  private func launch<Trip>(_ version: Int, _ kind: Kind, _ initial: Trip) throws -> App<Trip> {
    let steps = Array(Self.renames.prefix(version - 1))
    return App(
      one: ValueRepository(initial, storage: storage(kind, "trip.json", steps)),
      many: CollectionRepository(storage: storage(kind, "trips.json", steps.map(Migration.each))))
  }

  private func launch1(_ kind: Kind) throws -> App<Trip1> { try launch(1, kind, Trip1(id: 0, name: "none")) }
  private func launch2(_ kind: Kind) throws -> App<Trip2> { try launch(2, kind, Trip2(id: 0, title: "none")) }
  private func launch3(_ kind: Kind) throws -> App<Trip3> {
    try launch(3, kind, Trip3(id: 0, headline: "none"))
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOf: folder.file(name), encoding: .utf8)
  }

  @Test(arguments: Kind.allCases)
  func `a property renamed twice: version 3 opens the files of version 1, which skipped version 2`(
    kind: Kind
  ) async throws {
    let old = try launch1(kind)
    try old.one.update { $0 = Trip1(id: 1, name: "Coast") }
    try old.many.insert(Trip1(id: 1, name: "Coast"), Trip1(id: 2, name: "Lakes"))
    try await old.end()
    #expect(try text("trip.json") == #"{"schemaVersion":1,"value":{"id":1,"name":"Coast"}}"#)

    for _ in 1...2 {
      let new = try launch3(kind)
      #expect(new.one.value == Trip3(id: 1, headline: "Coast"))
      #expect(new.many.all == [Trip3(id: 1, headline: "Coast"), Trip3(id: 2, headline: "Lakes")])
      try await new.end()
      #expect(try text("trip.json") == #"{"schemaVersion":3,"value":{"headline":"Coast","id":1}}"#)
    }
    #expect(log.kinds == [.migrated, .migrated])
  }

  @Test(arguments: Kind.allCases)
  func `a property renamed twice: version 3 opens the files of version 2, and of each version in turn`(
    kind: Kind
  ) async throws {
    let second = try launch2(kind)
    try second.one.update { $0 = Trip2(id: 1, title: "Coast") }
    try second.many.insert(Trip2(id: 1, title: "Coast"))
    try await second.end()
    let third = try launch3(kind)
    #expect(third.one.value == Trip3(id: 1, headline: "Coast"))
    #expect(third.many.all == [Trip3(id: 1, headline: "Coast")])
    try await third.end()

    // Another user installs each version.
    for name in ["trip.json", "trips.json"] { try FileManager.default.removeItem(at: folder.file(name)) }
    let first = try launch1(kind)
    try first.many.insert(Trip1(id: 7, name: "Alps"))
    try await first.end()
    let between = try launch2(kind)
    #expect(between.many.all == [Trip2(id: 7, title: "Alps")])
    try between.many.update(7) { $0.title = "Andes" }
    try await between.end()
    #expect(try launch3(kind).many.all == [Trip3(id: 7, headline: "Andes")])
  }

  @Test(arguments: Kind.allCases)
  func
    `a rollback after a format change: the old app works, and the newer one gets its data back if it decides so`(
      kind: Kind
    ) async throws
  {
    let newer = try launch3(kind)
    try newer.one.update { $0 = Trip3(id: 1, headline: "Coast") }
    try newer.many.insert(Trip3(id: 1, headline: "Coast"))
    try await newer.end()
    let (one, many) = (try text("trip.json"), try text("trips.json"))

    // The app store delivers the old version again. It starts without reading the unknown format, and works.
    for round in 1...2 {
      let old = try launch1(kind)
      #expect(
        old.one.value == (round == 1 ? Trip1(id: 0, name: "none") : Trip1(id: 5, name: "made meanwhile 1")))
      #expect(old.many.count == round - 1)
      #expect(try text("trip.json.version-3") == one)
      #expect(try text("trips.json.version-3") == many)
      try old.one.update { $0 = Trip1(id: 5, name: "made meanwhile \(round)") }
      try old.many.insert(Trip1(id: round, name: "made meanwhile"))
      try await old.end()
    }

    // The newer app is released again.
    let again = try launch3(kind)
    #expect(again.one.value == Trip3(id: 1, headline: "Coast"))
    #expect(again.many.all == [Trip3(id: 1, headline: "Coast")])
    #expect(try text("trip.json") == one)
    #expect(try text("trips.json") == many)
    // The data of the old version is not lost either.
    #expect(try text("trip.json.version-1").contains("made meanwhile 2"))
    try again.one.update { $0.headline = "West coast" }
    try await again.end()
    #expect(try launch1(kind).one.value.name == "made meanwhile 2")
    #expect(try launch3(kind).one.value.headline == "West coast")
  }
}
