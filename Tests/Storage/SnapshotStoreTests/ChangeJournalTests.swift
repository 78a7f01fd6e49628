import Foundation
import Logging
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import Testing

/// The journal of one server, with intents and marks in memory.
@Suite struct ChangeJournalTests {
  private let intents = InMemoryChangeIntents()
  private let marks = InMemoryChangeMarks()

  private func makeJournal(
    _ change: (inout ChangeJournal.Limits) -> Void = { _ in }
  ) -> ChangeJournal {
    var limits = ChangeJournal.Limits()
    change(&limits)
    return ChangeJournal(intents, marks: marks, limits: limits, logger: .quiet)
  }

  private func makeChange(of snapshot: SnapshotID = SnapshotID()) -> ChangeIntent {
    ChangeIntent(SnapshotID(), of: snapshot)
  }

  @Test func `changes that exceed the limit in memory leave their mark`() async throws {
    let journal = makeJournal { $0.changes = 2 }
    intents.isAvailable = false
    for _ in 0..<3 { try await journal.prepare(makeChange()) }
    intents.isAvailable = true
    try await journal.flush()
    #expect(intents.all.count == 2 && marks.names.count == 1)
    journal.settle(Array(intents.all))
    let former = marks.names
    try await journal.flush()
    // It is not taken for the mark of later changes.
    intents.isAvailable = false
    try await journal.prepare(makeChange())
    #expect(marks.names.count == 2)
    // The mark of later changes is removed.
    let later = marks.names.subtracting(former)
    intents.isAvailable = true
    try await journal.flush()
    #expect(later.count == 1 && marks.names == former)
  }

  @Test func `an intent or mark that is too old is made new before a change is tried again`() async throws {
    let journal = makeJournal { $0.validity = .zero }
    let change = makeChange()
    try await journal.prepare(change)
    intents.age(by: ChangeJournal.Limits().overdueIntents * 2)
    try await journal.prepare(change)
    #expect(try await journal.overdueIntents().isEmpty)
    intents.isAvailable = false
    try await journal.prepare(change)
    let former = marks.names
    try await journal.prepare(change)
    #expect(marks.names.count == 1 && marks.names != former)
  }

  @Test func `a change that needs an intent is not made under a mark`() async throws {
    let journal = makeJournal()
    intents.isAvailable = false
    let change = makeChange()
    #expect(await failure { try await journal.prepare(change, needsIntent: true) } == "unavailable")
    #expect(marks.names.isEmpty)
    try await journal.prepare(makeChange())
    #expect(await failure { try await journal.prepare(change, needsIntent: true) } == "unavailable")
    intents.isAvailable = true
    try await journal.prepare(change, needsIntent: true)
    #expect(intents.all.contains(change))
  }

  @Test(arguments: [true, false])
  func `intents that could not be removed are removed later`(isFlushed: Bool) async throws {
    let journal = makeJournal()
    let (change, next) = (makeChange(), makeChange())
    try await journal.prepare(change)
    journal.end(change, .withoutEffect)
    intents.isAvailable = false
    if isFlushed {
      await #expect(throws: CatalogError.self) { try await journal.flush() }
    } else {
      try await journal.prepare(next)
    }
    intents.isAvailable = true
    try await journal.flush()
    #expect(intents.all == (isFlushed ? [] : [next]))
  }

  @Test func `a change whose outcome is unknown gets an intent, and is then known by it alone`() async throws
  {
    let journal = makeJournal()
    let change = makeChange()
    intents.isAvailable = false
    try await journal.prepare(change)
    journal.end(change, .unknown)
    #expect(journal.isUnindexed(change.snapshot))
    intents.isAvailable = true
    try await journal.flush()
    #expect(intents.all == [change] && marks.names.isEmpty)
    #expect(!journal.isUnindexed(change.snapshot))
    let other = makeChange()
    try await journal.prepare(other)
    journal.end(other, .unknown)
    #expect(!journal.isUnindexed(other.snapshot))
    try await journal.flush()
    #expect(intents.all == [change, other])
  }

  @Test func `a written change is forgotten when every server can find its intent`() async throws {
    let journal = makeJournal { ($0.validity, $0.overdueIntents) = (.zero, .zero) }
    let (written, running) = (makeChange(), makeChange())
    for change in [written, running] { try await journal.prepare(change) }
    journal.end(written, .written(nil))
    #expect(journal.written(written.snapshot) == [written])
    try await journal.flush()
    #expect(journal.written(written.snapshot).isEmpty && !journal.isUnindexed(written.snapshot))
    #expect(journal.isUnindexed(running.snapshot))
    #expect(intents.all == [written, running])
  }

  @Test func `the changes of a record are those that resulted in it`() async throws {
    let journal = makeJournal()
    let record = try record()
    let changes = (0..<3).map { _ in makeChange(of: record.id) }
    for change in changes { try await journal.prepare(change) }
    var other = record
    other.isPinned = true
    journal.end(changes[0], .written(record))
    journal.end(changes[1], .written(other))
    #expect(journal.written([record]) == [changes[0]])
    #expect(Set(journal.written(record.id)) == Set(changes[..<2]))
    journal.settle([changes[0]])
    #expect(journal.written([record]).isEmpty)
    try await journal.flush()
    #expect(intents.all == Set(changes[1...]))
  }
}

/// Marks in memory.
private final class InMemoryChangeMarks: ChangeMarks {
  private let state = Lock<Set<String>>([])

  var names: Set<String> { state.withLock { $0 } }

  func create() async throws(StoreError) -> String {
    let name = "\(SnapshotID())"
    state.withLock { _ = $0.insert(name) }
    return name
  }

  func remove(_ name: String) async throws(StoreError) { state.withLock { _ = $0.remove(name) } }

  func overdue(_ age: Duration) async throws(StoreError) -> [String] { [] }
}
