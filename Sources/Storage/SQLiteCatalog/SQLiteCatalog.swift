import Dispatch
import Foundation
import GRDB
public import SnapshotFormat
public import SnapshotStore
import Synchronization
import SystemIO

/// A catalogue in an SQLite database, which may be deleted or damaged at any time: what it holds can be made anew.
///
/// It is in write-ahead mode with every commit flushed. One writer does together what waits at the same time; pages are
/// read beside it, each from one state of the database. A file that is missing, damaged or of another form is replaced by
/// an empty one, in another ``SnapshotStore/CatalogState/generation``, and lists are refused as
/// ``SnapshotStore/CatalogError/incomplete`` until ``complete(generation:)``. Until then there is neither a log nor a flush,
/// and what goes into lists waits until there is enough to be sorted: what a crash or a failure leaves of it does not say
/// that it is complete, and is begun once more. All of it is on the disk before anything says so.
public final class SQLiteCatalog: Catalog {
  private struct State {
    var index: OpenIndex?
    var generation = 0
    var isClosed = false
  }

  private let configuration: Configuration
  private let state = Mutex(State())
  private let writer = BatchQueue<PendingChange>("sqlite-catalog.writer")
  private let preparer = DispatchQueue(label: "sqlite-catalog.preparer", qos: .userInitiated)

  /// Opens the database, or begins with an empty one.
  public static func open(_ configuration: Configuration) async throws(CatalogError) -> SQLiteCatalog {
    let catalog = SQLiteCatalog(configuration)
    try await catalog.onWriter { () throws(CatalogError) in _ = try catalog.openIndex() }
    catalog.checkInBackground()
    return catalog
  }

  private init(_ configuration: Configuration) { self.configuration = configuration }

  /// Ends what was begun, and closes the file; nothing may be asked afterwards.
  public func close() async {
    await writer.queue.perform { [self] in
      let index = state.withLock { state in
        state.isClosed = true
        return state.index.take()
      }
      do {
        if index?.isInPlace == true { try index?.checkpoint() }
        try index?.close()
      } catch {
        configuration.onLoss("The catalogue could not be closed: \(error)")
      }
    }
  }

  /// Adds records, or replaces those with the same ids.
  public func insert(_ records: [SnapshotRecord]) async throws(CatalogError) {
    guard !records.isEmpty else { return }
    let prepared = await preparer.perform { Self.prepare(records) }
    try await write(.insert(prepared))
  }

  /// Removes a record for good, if it is there.
  public func remove(_ id: SnapshotID) async throws(CatalogError) {
    try await write(.remove(Data(id.bytes)))
  }

  /// One page of the records that `query` finds, newest first.
  public func page(_ query: CatalogQuery, _ request: PageRequest) async throws(CatalogError) -> Page {
    try await read(onlyComplete: true) { try Search.page(query, request, $0) }
  }

  /// How many records `query` finds.
  public func total(_ query: CatalogQuery) async throws(CatalogError) -> CatalogTotal {
    try await read(onlyComplete: true) { try Search.total(query, $0) }
  }

  /// How much arrived on each of `days`, of the records that `query` finds.
  public func activity(
    _ query: CatalogQuery, days: ClosedRange<Int>
  ) async throws(CatalogError) -> CatalogActivity {
    try await read(onlyComplete: true) { try Search.activity(query, CatalogActivity.limited(days), $0) }
  }

  /// How much of its store it knows; a file that is gone by now is replaced.
  public func state() async throws(CatalogError) -> CatalogState {
    try await onWriter { [self] () throws(CatalogError) in
      let index = try openIndex()
      return CatalogState(extent: index.extent, generation: index.generation)
    }
  }

  /// Takes note that it knows everything, if it is still of that generation. One that is made anew has its index merged
  /// before, so that the first search is as quick as any other.
  public func complete(generation: Int) async throws(CatalogError) {
    var begins = true
    while try await mergeNew(generation, begins: begins) { begins = false }
    try await onWriter { [self] () throws(CatalogError) in
      let index = try openIndex()
      guard index.generation == generation else { return }
      do {
        let completed = try index.completed()
        state.withLock { $0.index = completed }
      } catch {
        throw failureToWrite(error, to: index)
      }
    }
  }

  /// Merges some more of an index that is made anew, with whatever else is to be written in between.
  /// - Returns: whether there was something to merge.
  private func mergeNew(_ generation: Int, begins: Bool) async throws(CatalogError) -> Bool {
    try await onWriter { [self] () throws(CatalogError) in
      let index = try openIndex()
      guard index.generation == generation, index.extent == .nothing else { return false }
      do {
        if begins { try index.write(all: true) { _ in } }
        return try index.merge(begins: begins)
      } catch {
        throw failureToWrite(error, to: index)
      }
    }
  }

  /// Starts anew, with nothing, in another generation.
  public func clear() async throws(CatalogError) {
    try await onWriter { [self] () throws(CatalogError) in
      giveUp(state.withLock { $0.index }, because: nil)
      _ = try openIndex()
    }
  }

  /// The ids that it has in one part of all.
  public func ids(in shard: SnapshotShard) async throws(CatalogError) -> [SnapshotID] {
    let first = Data([shard.firstByte])
    let last = Data([shard.firstByte] + [UInt8](repeating: 0xFF, count: 16))
    return try await read(onlyComplete: false) { db in
      try Data.fetchAll(
        db.cachedStatement(sql: "SELECT id FROM snapshot WHERE id BETWEEN ? AND ?"), arguments: [first, last]
      ).compactMap { SnapshotID(bytes: $0) }
    }
  }

  // MARK: - On the writer's queue

  private func onWriter<Value: Sendable>(
    _ work: @escaping @Sendable () throws(CatalogError) -> Value
  ) async throws(CatalogError) -> Value {
    try await writer.queue.perform(work)
  }

  private static let closed = CatalogError.failed("It is closed.")

  /// The database; opened, or made anew, where that is to be done.
  private func openIndex() throws(CatalogError) -> OpenIndex {
    if let index = state.withLock({ $0.index }) {
      if index.isInPlace { return index }
      giveUp(index, because: "The catalogue at \(configuration.path) was removed, replaced or truncated.")
    }
    let (generation, isClosed) = state.withLock { state in
      state.generation += 1
      return (state.generation, state.isClosed)
    }
    guard !isClosed else { throw Self.closed }
    let index: OpenIndex
    do {
      index = try openFile(generation)
    } catch {
      throw .failed("\(error)")
    }
    state.withLock { $0.index = index }
    return index
  }

  private func openFile(_ generation: Int) throws -> OpenIndex {
    do {
      return try OpenIndex(configuration, generation: generation)
    } catch {
      configuration.onLoss("The catalogue at \(configuration.path) can't be used, and is made anew: \(error)")
      try removeFiles()
      return try OpenIndex(configuration, generation: generation)
    }
  }

  /// Closes a database before anything else lies under its name, since closing removes what belongs to that name.
  private func giveUp(_ index: OpenIndex?, because reason: String?) {
    guard let index else { return }
    state.withLock { if $0.index === index { $0.index = nil } }
    if let reason { configuration.onLoss(reason) }
    do { try index.database.close() } catch { configuration.onLoss("It could not be closed: \(error)") }
    do { try removeFiles() } catch { configuration.onLoss("It could not be removed: \(error)") }
  }

  private func removeFiles() throws {
    for suffix in ["", "-wal", "-shm", "-journal"] { try Folder.removeIfPresent(configuration.path + suffix) }
  }

  /// Returns when the change is written, together with others that wait.
  private func write(_ change: PendingChange.Kind) async throws(CatalogError) {
    let failure: CatalogError? = await withCheckedContinuation { continuation in
      let pending = PendingChange(kind: change) { continuation.resume(returning: $0) }
      if !writer.add(pending, write(_:)) { continuation.resume(returning: Self.closed) }
    }
    if let failure { throw failure }
  }

  private func write(_ round: [PendingChange]) {
    var failures: [CatalogError?]
    do {
      failures = try attempt(round)
    } catch {
      failures = Array(repeating: error, count: round.count)
    }
    for (waiting, failure) in zip(round, failures) { waiting.finish(failure) }
  }

  /// Does all in one transaction, if need be in a new database.
  ///
  /// Where there is no database and none can be made, there is nothing to change either: whatever is opened later is
  /// filled, or compared with the store, after these changes reached the store. So a catalogue whose file or volume is
  /// damaged refuses lists, and nothing else.
  private func attempt(_ round: [PendingChange]) throws(CatalogError) -> [CatalogError?] {
    let index: OpenIndex
    do {
      index = try openIndex()
    } catch {
      guard !state.withLock(\.isClosed) else { throw error }
      return Array(repeating: nil, count: round.count)
    }
    do {
      return try Self.write(round, to: index)
    } catch  where Self.isLoss(error) {
      giveUp(index, because: "The catalogue is damaged, and is made anew: \(error)")
      return Array(repeating: nil, count: round.count)
    } catch {
      throw failureToWrite(error, to: index)
    }
  }

  private static func write(_ round: [PendingChange], to index: OpenIndex) throws -> [CatalogError?] {
    try index.write { writer in
      try round.map { waiting in
        do {
          switch waiting.kind {
          case .insert(let records): for record in records { try writer.insert(record) }
          case .remove(let id): try writer.remove(id)
          }
          return nil
        } catch let error as CatalogError {
          return error
        }
      }
    }
  }

  /// What is told of a change that failed: of a database that is being filled nobody knows what it lacks now.
  private func failureToWrite(_ error: any Error, to index: OpenIndex) -> CatalogError {
    guard index.extent == .nothing else { return failure(error, of: index) }
    giveUp(index, because: "The catalogue can't be made, and is begun once more: \(error)")
    return .failed("\(error)")
  }

  // MARK: - Reading

  private func read<Value: Sendable>(
    onlyComplete: Bool, _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(CatalogError) -> Value {
    guard let index = state.withLock({ $0.index }) else { throw .incomplete }
    guard !onlyComplete || index.extent != .nothing else { throw .incomplete }
    do {
      return try await index.database.read { try body($0) }
    } catch {
      // Another reader, or the writer, may have given it up meanwhile.
      guard state.withLock({ $0.index === index }) else { throw .incomplete }
      throw await writer.queue.perform { [self] in failure(error, of: index) }
    }
  }

  /// What is told of an error; a database that is damaged is given up. On the writer's queue.
  private func failure(_ error: any Error, of index: OpenIndex) -> CatalogError {
    guard Self.isLoss(error) else { return .failed("\(error)") }
    giveUp(index, because: "The catalogue is damaged, and is made anew: \(error)")
    return .incomplete
  }

  /// Looks at the whole database once, beside everything else.
  private func checkInBackground() {
    guard let index = state.withLock({ $0.index }), index.extent != .nothing else { return }
    index.database.asyncRead { [self] db in
      do {
        let verdict = try String.fetchOne(db.get(), sql: "PRAGMA quick_check (1)")
        if let verdict, verdict != "ok" { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: verdict) }
      } catch {
        writer.queue.async { [self] in
          if state.withLock({ $0.index === index }) { _ = failure(error, of: index) }
        }
      }
    }
  }

  /// Whether the file can't be used any more: not where the disk is full, or what was asked for is to blame.
  private static func isLoss(_ error: any Error) -> Bool {
    if error is RecordCoder.Malformed { return true }
    guard let error = error as? DatabaseError else { return false }
    switch error.resultCode {
    case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_IOERR, .SQLITE_SCHEMA, .SQLITE_ERROR, .SQLITE_CANTOPEN,
      .SQLITE_READONLY:
      return true
    default: return false
    }
  }

  private static func prepare(_ records: [SnapshotRecord]) -> [PreparedRecord] {
    guard records.count > 64 else { return records.map(PreparedRecord.init) }
    let parts = Mutex<[Int: [PreparedRecord]]>([:])
    let (count, size) = (8, (records.count + 7) / 8)
    DispatchQueue.concurrentPerform(iterations: count) { part in
      let range = min(part * size, records.count)..<min((part + 1) * size, records.count)
      let prepared = records[range].map(PreparedRecord.init)
      parts.withLock { $0[part] = prepared }
    }
    return parts.withLock { parts in (0..<count).flatMap { parts[$0] ?? [] } }
  }
}
