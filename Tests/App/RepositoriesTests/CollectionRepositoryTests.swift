import Foundation
import Repositories
import TestSupport
import Testing

@Suite struct CollectionRepositoryTests {
  private func code(_ body: () throws -> Void) -> RepositoryError.Code? {
    do { try body() } catch let error as RepositoryError { return error.code } catch {}
    return nil
  }

  private let trips = CollectionRepository<Trip>()

  @Test func `models keep their insertion order`() throws {
    try trips.insert(Trip(id: 9, name: "c"), Trip(id: 2, name: "a"))
    try trips.insert(Trip(id: 5, name: "b"))
    try trips.update(2) { $0.name = "changed" }
    try trips.put(Trip(id: 9, name: "put"), Trip(id: 1, name: "new"))
    #expect(trips.all.map(\.id) == [9, 2, 5, 1])
    #expect(trips.all.map(\.name) == ["put", "changed", "b", "new"])
    #expect(trips.count == 4)
  }

  @Test func `a model is found by its id, and models by a condition`() throws {
    try trips.insert(contentsOf: (1...5).map { Trip(id: $0, name: "\($0)") })
    #expect(trips.find(3)?.name == "3")
    #expect(trips.find(6) == nil)
    #expect(trips.find { $0.id > 3 }.map(\.id) == [4, 5])
  }

  @Test func `a duplicate id is rejected, and no model of the call is inserted`() throws {
    try trips.insert(Trip(id: 1, name: "one"))
    #expect(code { try trips.insert(Trip(id: 2, name: "two"), Trip(id: 1, name: "again")) } == .duplicateID)
    #expect(trips.all.map(\.name) == ["one"])
    #expect(code { try trips.update { $0.append($0[0]) } } == .duplicateID)
    #expect(trips.count == 1)
  }

  @Test func `an update of a missing model, or one that changes the id, is rejected`() throws {
    try trips.insert(Trip(id: 1, name: "one"))
    #expect(code { try trips.update(2) { $0.name = "x" } } == .notFound)
    #expect(code { try trips.update(1) { $0.id = 2 } } == .idChanged)
    #expect(trips.all == [Trip(id: 1, name: "one")])
  }

  @Test(arguments: 0..<5) func `after a removal every other model is found`(removed: Int) throws {
    try trips.insert(contentsOf: (0..<5).map { Trip(id: $0, name: "\($0)") })
    #expect(try trips.remove(removed)?.id == removed)
    #expect(try trips.remove(removed) == nil)
    for id in 0..<5 { #expect(trips.find(id)?.name == (id == removed ? nil : "\(id)")) }
    try trips.insert(Trip(id: removed, name: "back"))
    #expect(trips.all.last?.name == "back")
    try trips.removeAll()
    #expect(trips.all.isEmpty)
  }

  @Test func `the whole collection changes in one commit, including its order`() async throws {
    try trips.insert(contentsOf: (1...3).map { Trip(id: $0, name: "\($0)") })
    var values = trips.values.makeAsyncIterator()
    #expect(await values.next()?.map(\.id) == [1, 2, 3])
    try trips.update { $0.reverse() }
    #expect(await values.next()?.map(\.id) == [3, 2, 1])
    #expect(trips.find(1)?.name == "1")
  }

  @Test func `a rejected change's error contains model, path and action`() throws {
    let trips = CollectionRepository<Trip>(validators: [.each(Trip.rules)])
    try trips.insert(Trip(id: 1, name: "a"), Trip(id: 2, name: "b"))
    let error = try #require(throws: ValidationError.self) {
      try trips.update(2, action: "shorten the trip") { $0.dates = [DateRange(start: 2, end: 1)] }
    }
    #expect(
      error.description == "‘shorten the trip’ was refused: [1].dates[0]: date list has negative length")
    #expect(trips.find(2)?.dates.isEmpty == true)
    #expect(try JSONDecoder().decode([Trip].self, from: error.makeSnapshot())[1].dates.count == 1)
    #expect(trips.validateUserData().isEmpty)
  }

  @Test func `a collection is loaded at the next launch, in its order`() throws {
    let folder = try TemporaryFolder()
    let storage = { FileStorage<[Trip]>(file: folder.file("trips.json")) }
    let first = CollectionRepository(storage: storage())
    try first.insert(Trip(id: 9, name: "c"), Trip(id: 2, name: "a"))
    #expect(CollectionRepository(storage: storage()).all == first.all)
  }
}
