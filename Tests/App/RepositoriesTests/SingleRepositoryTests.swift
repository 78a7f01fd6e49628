import Foundation
import Repositories
import TestSupport
import Testing

@Suite struct SingleRepositoryTests {
  private let folder: TemporaryFolder
  private let file: URL

  init() throws {
    folder = try TemporaryFolder()
    file = folder.file("trip.json")
  }

  private func open(_ migrations: Migrations = []) -> SingleRepository<Trip> {
    SingleRepository(storage: FileStorage(file: file, migrations: migrations), validators: [Trip.rules])
  }

  private func code(_ body: () throws -> Void) -> RepositoryError.Code? {
    do { try body() } catch let error as RepositoryError { return error.code } catch {}
    return nil
  }

  @Test func `a model is put, changed, removed, and loaded at the next launch`() throws {
    let trip = open()
    #expect(trip.value == nil)
    try trip.put(Trip(id: 1, name: "Coast"))
    #expect(open().value == Trip(id: 1, name: "Coast"))
    let length = try trip.update { copy in
      copy.name = "West coast"
      return copy.name.count
    }
    #expect(length == 10)
    #expect(open().value?.name == "West coast")
    #expect(try trip.remove()?.name == "West coast")
    #expect(try trip.remove() == nil)
    #expect(trip.value == nil && open().value == nil)
  }

  @Test func `without a model there is nothing to change`() throws {
    let trip = open()
    #expect(code { try trip.update { $0.name = "x" } } == .notFound)
    #expect(trip.validateUserData().isEmpty)
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test func `a rejected model changes nothing, and its error has the words of the rule`() throws {
    let trip = open()
    let error = try #require(throws: ValidationError.self) { try trip.put(Trip(id: 1, name: "")) }
    #expect(error.description.hasSuffix("was refused: name: is empty"))
    #expect(trip.value == nil)
    try trip.put(Trip(id: 1, name: "Coast"))
    #expect(throws: ValidationError.self) { try trip.update { $0.name = "" } }
    #expect(open().value?.name == "Coast")
    trip.register(.at("id", \.id, "is too large") { $0 < 10 })
    #expect(throws: ValidationError.self) { try trip.update { $0.id = 10 } }
    #expect(trip.validateUserData(Trip(id: 10, name: "")).count == 2)
    // No rule applies to a model that is removed.
    try trip.remove()
  }

  @Test func `an observer gets models, and nil when there is none`() async throws {
    let trip = SingleRepository<Trip>()
    var values = trip.values.makeAsyncIterator()
    #expect(await values.next() == .some(nil))
    try trip.put(Trip(id: 1, name: "Coast"))
    #expect(await values.next()??.name == "Coast")
    try trip.remove()
    #expect(await values.next() == .some(nil))
  }

  @Test func `no model needs no migration`() throws {
    let trip = open()
    try trip.put(Trip(id: 1, name: "Coast"))
    try trip.remove()
    let next = open([.rename("title", to: "name"), .step("id") { tree in tree["id"] = 1 }, .add("dates", [])])
    #expect(next.value == nil)
    #expect(try String(contentsOf: file, encoding: .utf8) == #"{"schemaVersion":4,"value":null}"#)
    #expect(FileStorage<Trip>(file: file).setAside.isEmpty)
  }

  @Test func `a file of a value that is always there is opened, and the reverse`() throws {
    try ValueRepository(Trip(id: 0, name: "x"), storage: FileStorage(file: file)).update { $0.name = "Coast" }
    let trip = open()
    #expect(trip.value?.name == "Coast")
    try trip.update { $0.name = "Lakes" }
    #expect(ValueRepository(Trip(id: 0, name: "x"), storage: FileStorage(file: file)).value.name == "Lakes")
  }

  @Test func `a snapshot is JSON, also without a model`() throws {
    let trip = open()
    #expect(String(decoding: trip.makeSnapshot(), as: UTF8.self) == "null")
    try trip.put(Trip(id: 7, name: "Coast"))
    #expect(try JSONDecoder().decode(Trip.self, from: trip.makeSnapshot()) == trip.value)
  }
}
