import Foundation
import Repositories
import SystemIO
import TestSupport
import Testing

@Suite struct ValidatorTests {
  private let bad = Trip(
    id: 1, name: "",
    dates: [DateRange(start: 0, end: 1), DateRange(start: 5, end: 4), DateRange(start: 9, end: 1)])

  private func refusal<Model: Sendable>(
    of value: Model, _ initial: Model, _ validators: Validator<Model>...
  ) throws -> ValidationError {
    let repository = ValueRepository(initial, validators: validators)
    return try #require(throws: ValidationError.self) { try repository.update("test") { $0 = value } }
  }

  @Test func `all problems are reported with their paths, in one pass`() throws {
    let error = try refusal(of: bad, Trip(id: 0, name: "x"), Trip.rules)
    #expect(
      error.problems.map(\.description) == [
        "name: is empty", "dates[1]: date list has negative length",
        "dates[2]: date list has negative length",
      ])
    #expect(error.problemCount == 3)
  }

  @Test func `each rule checks each value once, even if others found problems`() throws {
    let looks = Lock<[String]>([])
    let rule = { @Sendable (name: String) in
      Validator<Trip> { trip, validation in
        looks.withLock { $0.append("\(name)\(trip.id)") }
        validation.fail(name)
      }
    }
    let repository = ValueRepository([Trip](), validators: [.each(rule("a"), .all(rule("b"), rule("c")))])
    repository.register(.each(rule("d")))
    #expect(throws: ValidationError.self) {
      try repository.update { $0 = [Trip(id: 1, name: ""), Trip(id: 2, name: "")] }
    }
    #expect(looks.withLock { $0 } == ["a1", "b1", "c1", "a2", "b2", "c2", "d1", "d2"])
  }

  @Test func `paths consist of names and indices`() throws {
    struct Plan: Sendable {
      var trips: [Trip] = []
      var note: String?
    }
    let rules: Validator<Plan> = .all(
      .at("trips", \.trips, .each(Trip.rules)),
      .at("note", \.note, .ifPresent(Validator("is empty") { !$0.isEmpty })),
      Validator { plan, validation in
        validation.enter("extra") { validation in
          validation.enter("[4]") { $0.fail("of its own: \(plan.trips.count)") }
        }
      })
    let error = try refusal(of: Plan(trips: [bad], note: ""), Plan(), rules)
    #expect(
      error.problems.map(\.path) == [
        "trips[0].name", "trips[0].dates[1]", "trips[0].dates[2]", "note", "extra[4]",
      ])
    #expect(error.problems.last?.words == "of its own: 1")
  }

  @Test func `the error contains the action's name, by default the calling function's`() throws {
    let repository = ValueRepository(Session(), validators: [Validator("no user") { $0.user != nil }])
    func signOut() throws { try repository.update { $0.count = 1 } }
    #expect(try #require(throws: ValidationError.self) { try signOut() }.action == "signOut()")
    let error = try #require(throws: ValidationError.self) {
      try repository.update("sign out") { $0.count = 1 }
    }
    #expect(error.description == "‘sign out’ was refused: no user")
    #expect(error.localizedDescription == error.description)
  }

  @Test func `the complete rejected value is available for the bug report on request`() throws {
    let error = try refusal(of: bad, Trip(id: 0, name: "x"), Trip.rules)
    #expect(try JSONDecoder().decode(Trip.self, from: error.makeSnapshot()) == bad)
    let inMemory = try refusal(
      of: Session(user: "mallory"), Session(), Validator("mallory") { $0.user == nil })
    #expect(String(decoding: inMemory.makeSnapshot(), as: UTF8.self).contains("mallory"))
  }

  @Test func `a form can validate before it saves`() throws {
    let repository = ValueRepository(bad, validators: [Trip.rules])
    #expect(repository.validateUserData().count == 3)
    #expect(repository.validateUserData(Trip(id: 1, name: "fine")).isEmpty)
    try repository.update { $0 = Trip(id: 1, name: "fine") }
    #expect(repository.validateUserData().isEmpty)
  }

  @Test(arguments: [(99, 99), (100, 100), (101, 100)])
  func `only a limited number of problems is kept, and all are counted`(found: Int, kept: Int) throws {
    let error = try refusal(
      of: Array(repeating: 0, count: found), [], Validator<[Int]>.each("is zero") { $0 != 0 })
    #expect(error.problems.count == kept)
    #expect(error.problemCount == found)
    #expect(error.description.hasSuffix("and 1 more") == (found == 101))
  }

  @Test func `a rejected change reaches neither memory nor disk nor observers`() async throws {
    let folder = try TemporaryFolder()
    let file = folder.file("trip.json")
    let repository = ValueRepository(
      Trip(id: 0, name: "x"), storage: FileStorage(file: file), validators: [Trip.rules])
    try repository.update { $0.name = "kept" }
    let before = try Data(contentsOf: file)
    var values = repository.values.makeAsyncIterator()
    #expect(await values.next()?.name == "kept")
    #expect(throws: ValidationError.self) { try repository.update { $0 = bad } }
    #expect(repository.value.name == "kept")
    #expect(try Data(contentsOf: file) == before)
    try repository.update { $0.name = "next" }
    #expect(await values.next()?.name == "next")
  }
}
