import Foundation
import Repositories
import SystemIO
import TestSupport
import Testing

/// Files that can't be read when a repository is created, as on a device that was not unlocked yet.
@Suite struct UnreadableTests {
  private let folder: TemporaryFolder
  private let failing = FailingDisk()

  init() throws { folder = try TemporaryFolder() }

  private var file: URL { folder.file("trip.json") }

  private func code(_ body: () throws -> Void) -> RepositoryError.Code? {
    do { try body() } catch let error as RepositoryError { return error.code } catch {}
    return nil
  }

  @Test func `nothing is overwritten, and the stored value appears with the first access that can read it`()
    async throws
  {
    let single = { [failing, file] in
      SingleRepository<Trip>(storage: FileStorage(file: file, disk: failing.disk))
    }
    try single().put(Trip(id: 1, name: "kept"))
    let before = try Data(contentsOf: file)
    failing.fault = .reading(EPERM)
    let trip = single()
    #expect(trip.value == nil)
    #expect(code { try trip.load() } == .unreadable)
    #expect(code { try trip.put(Trip(id: 2, name: "lost")) } == .unreadable)
    #expect(code { try trip.remove() } == .unreadable)
    #expect(try Data(contentsOf: file) == before)
    var values = trip.values.makeAsyncIterator()
    #expect(await values.next() == .some(nil))
    failing.fault = nil
    #expect(trip.value?.name == "kept")
    #expect(await values.next()??.name == "kept")
    try trip.load()
    try trip.update { $0.name += " and changed" }
    #expect(single().value?.name == "kept and changed")
  }

  @Test func `a change reads the stored models first`() async throws {
    let many = { [failing, file] in
      CollectionRepository<Trip>(storage: InMemoryStorageWithFilePersistence(file: file, disk: failing.disk))
    }
    let first = many()
    try first.insert(Trip(id: 1, name: "kept"))
    try await first.flush()
    failing.fault = .reading(EPERM)
    let trips = many()
    #expect(trips.all.isEmpty && trips.find(1) == nil)
    failing.fault = nil
    try trips.insert(Trip(id: 2, name: "new"))
    #expect(trips.all.map(\.id) == [1, 2])
  }

  @Test func `a value with a default shows it until then`() throws {
    let settings = { [failing, file] in
      ValueRepository("default", storage: FileStorage(file: file, disk: failing.disk))
    }
    try settings().update { $0 = "kept" }
    failing.fault = .reading(EIO)
    let value = settings()
    #expect(value.value == "default")
    failing.fault = nil
    #expect(value.value == "kept")
  }

  @Test func `many threads that wait for a file load it once`() async throws {
    try folder.write(Data(#"{"schemaVersion":1,"value":[]}"#.utf8), to: "trip.json")
    failing.fault = .reading(EPERM)
    let loads = Lock(0)
    let trips = CollectionRepository<Trip>(
      storage: FileStorage(
        file: file,
        migrations: [
          .step("counted") { tree in
            loads.withLock { $0 += 1 }
            tree = [["id": 1, "name": "kept", "dates": []]]
          }
        ], disk: failing.disk))
    failing.fault = nil
    await withTaskGroup(of: Int.self) { group in
      for _ in 0..<16 { group.addTask { trips.count } }
      for await count in group { #expect(count == 1) }
    }
    #expect(loads.withLock { $0 } == 1)
  }

  @Test func `an app that uses the repository in an event of its loading gets an error`() throws {
    try ValueRepository("x", storage: FileStorage(file: file)).update { $0 = "kept" }
    let codes = Lock<[RepositoryError.Code?]>([])
    let late = Lock<ValueRepository<String>?>(nil)
    failing.fault = .reading(EPERM)
    let value = ValueRepository(
      "default",
      storage: FileStorage(
        file: file, migrations: [.step("same") { _ in }], disk: failing.disk,
        onEvent: { _ in
          guard let value = late.withLock({ $0 }) else { return }
          let seen = value.value
          codes.withLock {
            $0 += [seen == "default" ? nil : .notFound, code { try value.update { $0 = "lost" } }]
          }
        }))
    late.withLock { $0 = value }
    failing.fault = nil
    #expect(value.value == "kept")
    #expect(codes.withLock { $0 } == [nil, .unreadable])
    late.withLock { $0 = nil }
    #expect(
      ValueRepository("x", storage: FileStorage(file: file, migrations: [.step("same") { _ in }])).value
        == "kept")
  }
}
