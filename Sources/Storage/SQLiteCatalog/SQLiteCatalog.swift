import Dispatch
import Foundation
import GRDB
public import SnapshotFormat
public import SnapshotStore
import SystemIO

/// A catalogue in an SQLite database. The file can be deleted or damaged at any time: it is rebuilt from the store.
///
/// The database uses a write-ahead log, which is synchronized before each checkpoint and not at each commit. The last
/// commits can be missing after a power cut; the catalogue is then compared with the store. The file is marked as in
/// use, durably, before its first change, and as closed when it is closed. One writer combines the changes that wait at
/// the same time in one transaction. Pages are read concurrently, each from one state of the database.
///
/// A file that is missing, damaged or of another format is replaced by an empty one with another
/// ``/SnapshotStore/CatalogState/generation``. Lists then throw ``/SnapshotStore/CatalogError/incomplete`` until
/// ``complete(generation:)``. During this rebuild there is no log and no synchronization. A rebuild that is interrupted by
/// a crash or an error leaves a file that is not marked as complete, and starts again. The file is synchronized before it
/// is marked as complete. The new file of an empty store needs no rebuild.
public final class SQLiteCatalog: Catalog {
  private struct State {
    var index: OpenIndex?
    var generation = 0
    var isClosed = false
  }

  private let configuration: Configuration
  private let state = Lock(State())
  private let writer = BatchQueue<PendingChange>("catalog")
  private let preparer = ServerQueues.shared.background.next

  /// Opens the database, or creates an empty one.
  /// - Parameters:
  ///   - configuration: the file and its limits.
  ///   - storeIsEmpty: whether the store has no records, so that a new database is complete.
  public static func open(
    _ configuration: Configuration, storeIsEmpty: Bool = false
  ) async throws(CatalogError) -> SQLiteCatalog {
    let catalog = SQLiteCatalog(configuration)
    try await catalog.onWriter { () throws(CatalogError) in
      _ = try catalog.openIndex(storeIsEmpty: storeIsEmpty)
    }
    catalog.checkInBackground()
    return catalog
  }

  private init(_ configuration: Configuration) { self.configuration = configuration }

  /// The seal with which the file was closed before it was opened; `nil` if it was closed without one or not at all, or
  /// if it was replaced since.
  public var seal: Int64? { state.withLock { $0.index?.seal } }

  /// Whether the file was created since the catalogue was opened, so that it contains nothing older.
  public var isNew: Bool { state.withLock { $0.index?.isNew ?? false } }

  /// Finishes the changes in progress, and closes the file. Don't call any other method afterwards.
  /// - Parameter seal: identifies the state of the store whose records the catalogue contains. The next one that opens
  ///   the file finds it in ``seal``.
  public func close(seal: Int64? = nil) async {
    await writer.queue.perform { [self] in
      let index = state.withLock { state in
        state.isClosed = true
        return state.index.take()
      }
      do {
        try index?.endReads()
        if index?.isInPlace == true { try index?.checkpoint() }
        try index?.close(seal: seal)
      } catch {
        configuration.onLoss("Cannot close the catalogue: \(error)")
      }
    }
  }

  /// Adds records, or replaces those with the same ids.
  public func insert(_ records: [SnapshotRecord]) async throws(CatalogError) {
    guard !records.isEmpty else { return }
    // A single record, as from an upload, is prepared by the writer: another queue would cost more than its work.
    if records.count == 1 { return try await write(.add(records[0])) }
    let prepared: [PreparedRecord]
    do { prepared = try await preparer.perform { try Self.prepare(records) } } catch {
      throw .failed("\(error)")
    }
    try await write(.insert(prepared))
  }

  /// Removes a record permanently, if it exists.
  public func remove(_ id: SnapshotID) async throws(CatalogError) {
    try await write(.remove(Data(id.bytes)))
  }

  /// Returns one page of the records that match `query`, newest first.
  public func page(_ query: CatalogQuery, _ request: PageRequest) async throws(CatalogError) -> Page {
    try await read(onlyComplete: true) { try Search.page(query, request, $0) }
  }

  /// Counts the records that match `query`.
  public func total(_ query: CatalogQuery) async throws(CatalogError) -> CatalogTotal {
    try await read(onlyComplete: true) { try Search.total(query, $0) }
  }

  /// Counts the records and bytes received on each of `days` that match `query`.
  public func activity(
    _ query: CatalogQuery, days: ClosedRange<Int>
  ) async throws(CatalogError) -> CatalogActivity {
    try await read(onlyComplete: true) { try Search.activity(query, CatalogActivity.limited(days), $0) }
  }

  /// Returns how much of the store the catalogue covers. A file that was removed or replaced is first replaced by an
  /// empty one.
  public func state() async throws(CatalogError) -> CatalogState {
    try await onWriter { [self] () throws(CatalogError) in
      let index = try openIndex()
      return CatalogState(extent: index.extent, generation: index.generation)
    }
  }

  /// Marks the catalogue as complete, if its generation is still `generation`.
  public func complete(generation: Int) async throws(CatalogError) {
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

  /// Removes all records, and starts a new generation.
  public func clear() async throws(CatalogError) {
    try await onWriter { [self] () throws(CatalogError) in
      giveUp(state.withLock { $0.index }, because: nil)
      _ = try openIndex()
    }
  }

  /// Returns the ids of one shard that the catalogue contains.
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

  /// Returns the open database. Opens or recreates it if necessary.
  private func openIndex(storeIsEmpty: Bool = false) throws(CatalogError) -> OpenIndex {
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
      index = try openFile(generation, storeIsEmpty)
    } catch {
      throw .failed("\(error)")
    }
    state.withLock { $0.index = index }
    return index
  }

  private func openFile(_ generation: Int, _ storeIsEmpty: Bool) throws -> OpenIndex {
    do {
      return try OpenIndex(configuration, generation: generation, storeIsEmpty: storeIsEmpty)
    } catch {
      configuration.onLoss("The catalogue at \(configuration.path) cannot be used, and is rebuilt: \(error)")
      try removeFiles()
      return try OpenIndex(configuration, generation: generation, storeIsEmpty: storeIsEmpty)
    }
  }

  /// Closes a database and removes its files. Closing comes first, because it removes the files at the database's
  /// paths, which must not be those of a new database.
  private func giveUp(_ index: OpenIndex?, because reason: String?) {
    guard let index else { return }
    state.withLock { if $0.index === index { $0.index = nil } }
    if let reason { configuration.onLoss(reason) }
    do { try index.database.close() } catch { configuration.onLoss("Cannot close the catalogue: \(error)") }
    do { try removeFiles() } catch { configuration.onLoss("Cannot remove the catalogue: \(error)") }
  }

  private func removeFiles() throws {
    for suffix in ["", "-wal", "-shm", "-journal"] { try Folder.removeIfPresent(configuration.path + suffix) }
  }

  /// Writes the change, in one transaction with other waiting changes, and returns when it is committed.
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

  /// Writes all changes in one transaction, in a new database if necessary.
  ///
  /// If no database can be opened, the changes are ignored: the store already contains them, and a catalogue opened
  /// later is filled from the store or compared with it. A damaged file or volume therefore only prevents lists.
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
      giveUp(index, because: "The catalogue is damaged, and is rebuilt: \(error)")
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
          case .add(let record): try writer.insert(PreparedRecord(record))
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

  /// Returns the error for a failed change. A database under construction has no journal, and is discarded.
  private func failureToWrite(_ error: any Error, to index: OpenIndex) -> CatalogError {
    guard index.extent == .nothing else { return failure(error, of: index) }
    giveUp(index, because: "The catalogue cannot be rebuilt, and the rebuild starts again: \(error)")
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
      // Another reader, or the writer, may have discarded it meanwhile.
      guard state.withLock({ $0.index === index }) else { throw .incomplete }
      throw await writer.queue.perform { [self] in failure(error, of: index) }
    }
  }

  /// Returns the error to throw, and discards a damaged database. Call it on the writer's queue.
  private func failure(_ error: any Error, of index: OpenIndex) -> CatalogError {
    guard Self.isLoss(error) else { return .failed("\(error)") }
    giveUp(index, because: "The catalogue is damaged, and is rebuilt: \(error)")
    return .incomplete
  }

  /// Checks the integrity of the whole database once, concurrently with other work.
  private func checkInBackground() {
    guard let index = state.withLock({ $0.index }), !index.isNew else { return }
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

  /// Whether the error means that the file is unusable, as opposed to a full disk or an invalid request.
  private static func isLoss(_ error: any Error) -> Bool {
    if error is DecodingError { return true }
    guard let error = error as? DatabaseError else { return false }
    switch error.resultCode {
    case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_IOERR, .SQLITE_SCHEMA, .SQLITE_ERROR, .SQLITE_CANTOPEN,
      .SQLITE_READONLY:
      return true
    default: return false
    }
  }

  private static func prepare(_ records: [SnapshotRecord]) throws -> [PreparedRecord] {
    guard records.count > 64 else { return try records.map(PreparedRecord.init) }
    let parts = Lock<[Int: Result<[PreparedRecord], any Error>]>([:])
    let (count, size) = (8, (records.count + 7) / 8)
    DispatchQueue.concurrentPerform(iterations: count) { part in
      let range = min(part * size, records.count)..<min((part + 1) * size, records.count)
      let prepared = Result { try records[range].map(PreparedRecord.init) }
      parts.withLock { $0[part] = prepared }
    }
    return try parts.withLock { parts in try (0..<count).flatMap { try parts[$0]?.get() ?? [] } }
  }
}

extension SQLiteCatalog {
  /// The location and the limits of a catalogue.
  public struct Configuration: Sendable {
    /// The path of the database file; its log has the suffix `-wal`. No other process can open it at the same time.
    public var path: String
    /// The maximum number of concurrent reads, at least 1.
    public var readers: Int
    /// The size of the page cache of each reader and of the writer, in bytes.
    public var cacheBytes: Int
    /// Called with the reason when the file is discarded or closing it fails: a sentence for the log.
    public var onLoss: @Sendable (String) -> Void

    /// Creates settings for the database at `path`.
    public init(
      path: String, readers: Int = 4, cacheBytes: Int = 8 << 20,
      onLoss: @escaping @Sendable (String) -> Void = { _ in }
    ) {
      self.path = path
      self.readers = readers
      self.cacheBytes = cacheBytes
      self.onLoss = onLoss
    }
  }
}
