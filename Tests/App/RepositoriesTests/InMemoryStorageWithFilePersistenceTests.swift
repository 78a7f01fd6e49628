import Foundation
import Repositories
import SystemIO
import TestSupport
import Testing

@Suite struct InMemoryStorageWithFilePersistenceTests {
  private let folder: TemporaryFolder
  private let file: URL
  private let failing = FailingDisk()
  private let log = EventLog()

  init() throws {
    folder = try TemporaryFolder()
    file = folder.file("trip.json")
  }

  private func open(retryInterval: Duration = .seconds(3600)) throws -> ValueRepository<Trip> {
    ValueRepository(
      Trip(id: 0, name: "initial"),
      storage: InMemoryStorageWithFilePersistence(
        file: file, retryInterval: retryInterval, disk: failing.disk, onEvent: log.record))
  }

  private var stored: String {
    get throws { ValueRepository(Trip(id: 0, name: ""), storage: FileStorage(file: file)).value.name }
  }

  @Test func `the file is updated after a commit`() async throws {
    let repository = try open()
    try repository.update { $0.name = "Coast" }
    try await repository.flush()
    #expect(try stored == "Coast")
    #expect(try open().value.name == "Coast")
  }

  @Test func `many commits need fewer writes, and the file gets the newest value`() async throws {
    let repository = try open()
    for count in 1...500 { try repository.update { $0.name = "\(count)" } }
    try await repository.flush()
    #expect(try stored == "500")
    #expect(failing.writes < 500)
  }

  @Test func `on a full disk the value changes in memory, and one event reports the failure`() async throws {
    let repository = try open()
    try repository.update { $0.name = "before" }
    try await repository.flush()
    failing.fault = .writing(ENOSPC)
    for name in ["one", "two", "three"] {
      try repository.update { $0.name = name }
      let error = await #expect(throws: RepositoryError.self) { try await repository.flush() }
      #expect(error?.code == .outOfSpace)
      #expect(repository.value.name == name)
    }
    #expect(try stored == "before")
    #expect(log.kinds == [.notSaved])

    failing.fault = nil
    try await repository.flush()
    #expect(try stored == "three")
    #expect(log.kinds == [.notSaved, .savedAgain])
  }

  @Test func `the file is updated automatically when there is room again`() async throws {
    let repository = try open(retryInterval: .milliseconds(5))
    failing.fault = .writing(ENOSPC)
    try repository.update { $0.name = "late" }
    await log.wait(for: .notSaved)
    failing.fault = nil
    await log.wait(for: .savedAgain)
    #expect(try stored == "late")
    #expect(log.kinds == [.notSaved, .savedAgain])
  }

  @Test func `the next commit retries as well`() async throws {
    let repository = try open()
    failing.fault = .writing(ENOSPC)
    try repository.update { $0.name = "kept in memory" }
    await log.wait(for: .notSaved)
    failing.fault = nil
    try repository.update { $0.id = 1 }
    await log.wait(for: .savedAgain)
    #expect(try stored == "kept in memory")
  }

  @Test func `the last commit is written even after the repository is deinitialized`() async throws {
    var repository: ValueRepository<Trip>? = try open(retryInterval: .milliseconds(5))
    failing.fault = .writing(ENOSPC)
    try repository?.update { $0.name = "orphan" }
    repository = nil
    await log.wait(for: .notSaved)
    failing.fault = nil
    await log.wait(for: .savedAgain)
    #expect(try stored == "orphan")
  }

  @Test func `a disk that was full from the start stops nothing`() async throws {
    failing.fault = .writing(ENOSPC)
    let trips = CollectionRepository<Trip>(
      storage: InMemoryStorageWithFilePersistence(file: file, disk: failing.disk, onEvent: log.record))
    for id in 0..<100 { try trips.insert(Trip(id: id, name: "\(id)")) }
    #expect(trips.count == 100)
    failing.fault = nil
    try await trips.flush()
    #expect(CollectionRepository<Trip>(storage: FileStorage(file: file)).count == 100)
  }

  @Test func `a failed write does not replace a value committed in the meantime`() async throws {
    let meanwhile = CommitMeanwhile()
    let storage = InMemoryStorageWithFilePersistence<Trip>(
      file: file, retryInterval: .seconds(3600),
      disk: Disk(
        read: Disk.real.read,
        replace: { path, bytes throws(SystemError) in
          if let commit = meanwhile.take() {
            commit()
            throw SystemError(operation: "pwrite", path: path, code: ENOSPC)
          }
          try Disk.real.replace(path, bytes)
        }))
    meanwhile.set { storage.save(Trip(id: 0, name: "newer")) }
    storage.save(Trip(id: 0, name: "older"))
    try await storage.flush()
    #expect(try stored == "newer")
  }

  @Test func `a terminating app can flush without a task`() throws {
    let storage = InMemoryStorageWithFilePersistence<Trip>(file: file)
    let repository = ValueRepository(Trip(id: 0, name: ""), storage: storage)
    try repository.update { $0.name = "last" }
    try storage.flush()
    #expect(try stored == "last")
  }
}

/// A commit that runs once, while another operation is in progress.
private final class CommitMeanwhile: Sendable {
  private let commit = Lock<(@Sendable () -> Void)?>(nil)

  func set(_ commit: @escaping @Sendable () -> Void) { self.commit.withLock { $0 = commit } }
  func take() -> (@Sendable () -> Void)? { commit.withLock { $0.take() } }
}
