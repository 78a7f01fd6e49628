import Foundation
import Repositories
import Testing

@Suite struct ValueRepositoryTests {
  @Test func `a model in memory does not need Codable`() throws {
    let session = ValueRepository(Session())
    try session.update { copy in copy.user = "ada" }
    #expect(session.value == Session(user: "ada"))
  }

  @Test func `an update returns the result of its closure`() throws {
    let session = ValueRepository(Session())
    let count = try session.update { copy in
      copy.count += 1
      return copy.count
    }
    #expect(count == 1)
  }

  @Test func `an error of the closure is rethrown, and its copy is discarded`() throws {
    struct Cancelled: Error {}
    let session = ValueRepository(Session())
    #expect(throws: Cancelled.self) {
      try session.update { copy in
        copy.user = "half"
        throw Cancelled()
      }
    }
    #expect(session.value == Session())
  }

  @Test func `an update inside an update is rejected, and a read inside returns the old value`() throws {
    let session = ValueRepository(Session(user: "ada"))
    let code = try session.update { copy -> RepositoryError.Code? in
      copy.user = "bob"
      #expect(session.value.user == "ada")
      do { try session.update { $0.user = "lost" } } catch let error as RepositoryError { return error.code }
      return nil
    }
    #expect(code == .nestedUpdate)
    #expect(session.value.user == "bob")
    try session.update { $0.user = "cleo" }
    #expect(session.value.user == "cleo")
  }

  @Test func `concurrent updates of many threads are not lost`() async throws {
    let session = ValueRepository(Session())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<250 {
            try session.update { $0.count += 1 }
            _ = session.value
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(session.value.count == 2000)
  }

  // MARK: - Observation

  @Test func `an observer gets the current value, then each change for which it waits`() async throws {
    let session = ValueRepository(Session())
    var values = session.values.makeAsyncIterator()
    #expect(await values.next()?.count == 0)
    try session.update { $0.count = 1 }
    #expect(await values.next()?.count == 1)
    try session.update { $0.count = 2 }
    #expect(await values.next()?.count == 2)
  }

  @Test func `a slow observer misses intermediate values and gets the newest`() async throws {
    let session = ValueRepository(Session())
    var values = session.values.makeAsyncIterator()
    for count in 1...1000 { try session.update { $0.count = count } }
    #expect(await values.next()?.count == 1000)
  }

  @Test func `observers receive no rejected values, and all values in order`() async throws {
    let session = ValueRepository(
      Session(), validators: [Validator("is odd") { $0.count.isMultiple(of: 2) }])
    let seen = session.values
    let observer = Task {
      var counts: [Int] = []
      for await value in seen {
        counts.append(value.count)
        if value.count == 2000 { break }
      }
      return counts
    }
    for count in 1...2000 { do { try session.update { $0.count = count } } catch is ValidationError {} }
    let counts = await observer.value
    #expect(counts.allSatisfy { $0.isMultiple(of: 2) })
    #expect(counts == counts.sorted())
    #expect(counts.last == 2000)
  }

  @Test func `an observation ends when its repository is deinitialized`() async throws {
    var session: ValueRepository<Session>? = ValueRepository(Session())
    let values = try #require(session?.values)
    session = nil
    var count = 0
    for await _ in values { count += 1 }
    #expect(count == 1)
  }

  @Test func `a cancelled observation ends, and others continue`() async throws {
    let session = ValueRepository(Session())
    let values = session.values
    let observer = Task { for await _ in values {} }
    observer.cancel()
    await observer.value
    var others = session.values.makeAsyncIterator()
    _ = await others.next()
    try session.update { $0.count = 7 }
    #expect(await others.next()?.count == 7)
  }

  // MARK: - Bug reports

  @Test func `a snapshot is JSON if the model can be encoded, and otherwise a description`() throws {
    let trip = ValueRepository(Trip(id: 7, name: "Coast"))
    #expect(try JSONDecoder().decode(Trip.self, from: trip.makeSnapshot()) == Trip(id: 7, name: "Coast"))
    let session = ValueRepository(Session(user: "ada"))
    #expect(String(decoding: session.makeSnapshot(), as: UTF8.self).contains("ada"))
  }
}
