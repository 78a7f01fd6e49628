import Dispatch
public import PostgreSQLClient
public import SnapshotFormat
public import SnapshotStore
import SystemIO

/// A catalogue in a PostgreSQL database, which several servers can use at the same time.
///
/// A change is durable when it returns, and visible to all servers. Changes of one record by several servers have the
/// result that ``/SnapshotStore/Catalog`` specifies, in whatever order they arrive. A removed id is remembered for
/// seven days, also when a server starts again.
///
/// Each list, count and page is read from one state of the database. The state and the generation are those of the
/// database, and ``/SnapshotStore/CatalogState/Extent/uncertain`` is never reported: what a server leaves that ends between
/// a change of the store and one of the index is in its intents, see `ChangeJournal`. After a backup of the
/// database was restored, the index has to be built again.
///
/// If the database cannot be reached, calls throw ``/SnapshotStore/CatalogError/unavailable(_:)``. They can be repeated: all
/// changes have the same effect if they are executed twice. If it does not answer, all calls throw at once after the first
/// one has failed, until it answers again.
public final class PostgreSQLCatalog: Catalog {
  private let pool: PostgreSQLPool
  /// The pool with which the server tidies up.
  private let tidyingPool: PostgreSQLPool
  /// The number of the newest rows that a search checks before it uses the index of the terms.
  private let checkedRows: Int
  /// The number of changes since this server last tidied up.
  private let untidied = Lock(0)

  /// Connects to the database, and creates the tables if they are missing.
  public static func open(
    _ configuration: PostgreSQLConfiguration
  ) async throws(CatalogError) -> PostgreSQLCatalog {
    try await open(configuration, checkedRows: 500)
  }

  /// Connects to the database, and checks another number of the newest rows first than usual.
  package static func open(
    _ configuration: PostgreSQLConfiguration, checkedRows: Int
  ) async throws(CatalogError) -> PostgreSQLCatalog {
    let catalog = PostgreSQLCatalog(configuration, checkedRows)
    try await catalog.perform { try Schemas.catalog.apply($0) }
    return catalog
  }

  private init(_ configuration: PostgreSQLConfiguration, _ checkedRows: Int) {
    var configuration = configuration
    configuration.session = CatalogStatements.session
    pool = PostgreSQLPool(configuration)
    tidyingPool = pool
    self.checkedRows = checkedRows
  }

  private init(promptly other: PostgreSQLCatalog) {
    pool = PostgreSQLPool(other.pool.configuration.prompt, failingWith: other.pool)
    tidyingPool = other.pool
    checkedRows = other.checkedRows
  }

  /// The same catalogue with connections of its own, whose calls throw within two seconds if the database does not
  /// answer. A server uses it for changes that it can repeat later.
  package func promptly() -> PostgreSQLCatalog { PostgreSQLCatalog(promptly: self) }

  /// Closes the connections. Don't call any other method afterwards.
  public func close() { pool.close() }

  // MARK: - Changes

  /// Adds records, or replaces those with the same ids.
  public func insert(_ records: [SnapshotRecord]) async throws(CatalogError) {
    guard !records.isEmpty else { return }
    try await change { writer in try writer.insert(records.map(PreparedRecord.init)) }
  }

  /// Removes a record permanently, if it exists.
  public func remove(_ id: SnapshotID) async throws(CatalogError) {
    try await change { writer in try writer.remove(Array(id.bytes)) }
  }

  /// Runs `body` in a transaction, and tidies up from time to time.
  private func change(
    _ body: @escaping @Sendable (inout IndexWriter) throws -> Void
  ) async throws(CatalogError) {
    do {
      try await pool.transaction { connection in
        var writer = IndexWriter(connection)
        try body(&writer)
        try writer.finish()
      }
    } catch {
      throw CatalogError(error)
    }
    guard untidied.add(1) >= IndexLimits.tidying else { return }
    untidied.set(0)
    Task { await tidyUp() }
  }

  /// Sums up the counts per day, and forgets what was removed long ago. Only one server does so at a time.
  private func tidyUp() async {
    do {
      try await tidyingPool.transaction { connection in
        guard try connection.tryLock(CatalogStatements.maintenance) else { return }
        try DayCounts.sumUp(connection)
        try connection.execute(
          "DELETE FROM snapshot WHERE removed < now() - interval '\(IndexLimits.removalDays) days'")
      }
    } catch {
      // Nothing depends on it. The next change tries again.
      untidied.add(IndexLimits.tidying)
    }
  }

  // MARK: - Queries

  /// Returns one page of the records that match `query`, newest first.
  public func page(_ query: CatalogQuery, _ request: PageRequest) async throws(CatalogError) -> Page {
    try await read { [checkedRows] in try Search.page(query, request, checked: checkedRows, $0) }
  }

  /// Counts the records that match `query`.
  public func total(_ query: CatalogQuery) async throws(CatalogError) -> CatalogTotal {
    try await read { try Search.total(query, $0) }
  }

  /// Counts the records and bytes received on each of `days` that match `query`.
  public func activity(
    _ query: CatalogQuery, days: ClosedRange<Int>
  ) async throws(CatalogError) -> CatalogActivity {
    try await read { [checkedRows] connection in
      try Search.activity(query, CatalogActivity.limited(days), checked: checkedRows, connection)
    }
  }

  /// Returns the ids of one shard that the catalogue contains.
  public func ids(in shard: SnapshotShard) async throws(CatalogError) -> [SnapshotID] {
    let first = [shard.firstByte]
    let last = first + [UInt8](repeating: 0xFF, count: 16)
    return try await perform { connection in
      try connection.query(
        "SELECT id FROM snapshot WHERE id BETWEEN $1 AND $2 AND removed IS NULL",
        [.bytes(first), .bytes(last)]
      ).compactMap { SnapshotID(bytes: try $0.bytes(0)) }
    }
  }

  /// Runs `body` in one state of the database, if the index is complete.
  private func read<Value: Sendable>(
    _ body: @escaping @Sendable (PostgreSQLConnection) throws -> Value
  ) async throws(CatalogError) -> Value {
    do {
      return try await pool.transaction(.snapshot) { connection in
        guard try IndexState.read(connection).isComplete else { throw CatalogError.incomplete }
        return try body(connection)
      }
    } catch {
      throw CatalogError(error)
    }
  }

  // MARK: - State

  /// Returns how much of the store the catalogue covers.
  public func state() async throws(CatalogError) -> CatalogState {
    let state = try await perform { try IndexState.read($0) }
    return CatalogState(
      extent: state.isComplete ? .everything : .nothing, generation: state.generation)
  }

  /// Marks the catalogue as complete, if its generation is still `generation`. After a rebuild the index is built first,
  /// by one server, for which the others wait; meanwhile records can be inserted and removed.
  public func complete(generation: Int) async throws(CatalogError) {
    let state = try await perform { try IndexState.read($0) }
    guard state.generation == generation, !state.isComplete else { return }
    var configuration = pool.configuration
    configuration.connections = 1
    configuration.statementTimeout = IndexLimits.buildStatement
    // The lock is held until the connection is closed. If the server ends, another one builds the index.
    let builder = PostgreSQLPool(configuration)
    defer { builder.close() }
    do {
      while try await builder.perform({ try !$0.trySessionLock(CatalogStatements.maintenance) }) {
        try await Task.sleep(for: IndexLimits.buildPause)
      }
      try await builder.perform { try Self.build($0, generation) }
    } catch {
      throw CatalogError(error)
    }
  }

  private static func build(_ connection: PostgreSQLConnection, _ generation: Int) throws {
    let state = try IndexState.read(connection)
    guard state.generation == generation, !state.isComplete else { return }
    try connection.execute("SET maintenance_work_mem = '256MB'")
    try connection.execute(CatalogStatements.dropTerms)
    try connection.execute(CatalogStatements.createTerms)
    try connection.execute("VACUUM (ANALYZE) snapshot, word")
    try DayCounts.sumUp(connection)
    _ = try connection.query(
      "UPDATE state SET complete = true WHERE generation = $1", [.int(Int64(generation))])
  }

  /// Removes all records, and starts a new generation.
  public func clear() async throws(CatalogError) {
    do {
      try await pool.transaction { connection in
        // While the index is built, the tables can't be locked. Changes wait for them no longer than that.
        try connection.execute(
          """
          SET LOCAL lock_timeout = '5s';
          TRUNCATE snapshot, word, day;
          \(CatalogStatements.dropTerms);
          UPDATE state SET generation = generation + 1, complete = false
          """)
      }
    } catch {
      throw CatalogError(error)
    }
  }

  func perform<Value: Sendable>(
    _ body: @escaping @Sendable (PostgreSQLConnection) throws -> Value
  ) async throws(CatalogError) -> Value {
    do { return try await pool.perform(body) } catch { throw CatalogError(error) }
  }
}

extension CatalogError {
  /// Keeps the errors of catalogues, and describes all others.
  fileprivate init(_ error: any Error) {
    switch error {
    case let error as CatalogError: self = error
    case let error as PostgreSQLError where error.isTemporary: self = .unavailable("\(error)")
    default: self = .failed("\(error)")
    }
  }
}
