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
/// a change of the store and one of the index is in its notes, see `ChangeJournal`. After a backup of the
/// database was restored, the index has to be built again.
///
/// If the database cannot be reached, calls throw ``/SnapshotStore/CatalogError/unavailable(_:)``. They can be repeated: all
/// changes have the same effect if they are executed twice. If it does not answer, all calls throw at once after the first
/// one has failed, until it answers again.
public final class PostgreSQLCatalog: Catalog {
  private let pool: PostgreSQLPool
  /// The pool with which blocks are packed.
  private let packingPool: PostgreSQLPool
  private let packing: Packing
  /// The number of records that this server inserted since it last packed blocks.
  private let unpacked = Lock(0)

  /// Connects to the database, and creates the tables if they are missing.
  public static func open(
    _ configuration: PostgreSQLConfiguration
  ) async throws(CatalogError) -> PostgreSQLCatalog {
    try await open(configuration, packing: Packing())
  }

  /// Connects to the database, and packs records by another rule than usual.
  package static func open(
    _ configuration: PostgreSQLConfiguration, packing: Packing
  ) async throws(CatalogError) -> PostgreSQLCatalog {
    let catalog = PostgreSQLCatalog(configuration, packing)
    try await catalog.perform { try Schema.migrations.apply($0) }
    return catalog
  }

  private init(_ configuration: PostgreSQLConfiguration, _ packing: Packing) {
    var configuration = configuration
    configuration.session = Schema.session
    pool = PostgreSQLPool(configuration)
    packingPool = pool
    self.packing = packing
  }

  private init(promptly other: PostgreSQLCatalog) {
    pool = PostgreSQLPool(other.pool.configuration.prompt, failingWith: other.pool)
    packingPool = other.pool
    packing = other.packing
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
    let loose = try await change { writer in try writer.insert(Self.prepare(records)) }
    let count = unpacked.add(loose)
    guard count >= packing.loose else { return }
    unpacked.set(0)
    let work = Task { await pack() }
    if packing.isAwaited { await work.value }
  }

  /// Packs blocks until no more are complete.
  private func pack() async {
    do {
      while try await packingPool.perform({ [packing] in try packing.packOne($0) }) {}
    } catch {
      // The records are indexed. The next insertion tries to pack them again.
      unpacked.add(packing.loose)
    }
  }

  /// Removes a record permanently, if it exists.
  public func remove(_ id: SnapshotID) async throws(CatalogError) {
    _ = try await change { writer in try writer.remove(Array(id.bytes)) }
  }

  /// Runs `body` in a transaction.
  /// - Returns: the number of records that were indexed without a block.
  private func change(
    _ body: @escaping @Sendable (inout IndexWriter) throws -> Void
  ) async throws(CatalogError) -> Int {
    do {
      return try await pool.transaction { connection in
        var writer = try IndexWriter(connection)
        try body(&writer)
        try writer.finish()
        return writer.loose
      }
    } catch {
      throw CatalogError(error)
    }
  }

  private static func prepare(_ records: [SnapshotRecord]) -> [PreparedRecord] {
    records.map(PreparedRecord.init)
  }

  // MARK: - Queries

  /// Returns one page of the records that match `query`, newest first.
  public func page(_ query: CatalogQuery, _ request: PageRequest) async throws(CatalogError) -> Page {
    try await read { try Search.page(query, request, $0) }
  }

  /// Counts the records that match `query`.
  public func total(_ query: CatalogQuery) async throws(CatalogError) -> CatalogTotal {
    try await read { try Search.total(query, $0) }
  }

  /// Counts the records and bytes received on each of `days` that match `query`.
  public func activity(
    _ query: CatalogQuery, days: ClosedRange<Int>
  ) async throws(CatalogError) -> CatalogActivity {
    try await read { try Search.activity(query, CatalogActivity.limited(days), $0) }
  }

  /// Returns the ids of one shard that the catalogue contains.
  public func ids(in shard: SnapshotShard) async throws(CatalogError) -> [SnapshotID] {
    let first = [shard.firstByte]
    let last = first + [UInt8](repeating: 0xFF, count: 16)
    return try await perform { connection in
      try connection.query(
        "SELECT id FROM snapshot WHERE id BETWEEN $1 AND $2 AND place IS NOT NULL",
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
        guard try IndexState.read(connection).phase == .complete else { throw CatalogError.incomplete }
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
      extent: state.phase == .complete ? .everything : .nothing, generation: state.generation)
  }

  /// Marks the catalogue as complete, if its generation is still `generation`. After a rebuild the index is built first,
  /// by one server, for which the others wait; meanwhile records can be inserted and removed.
  public func complete(generation: Int) async throws(CatalogError) {
    let state = try await perform { try IndexState.read($0) }
    guard state.generation == generation, state.phase != .complete else { return }
    var configuration = pool.configuration
    configuration.connections = IndexLimits.buildWriters
    let writers = PostgreSQLPool(configuration)
    configuration.connections = 1
    configuration.statementTimeout = IndexLimits.buildStatement
    let source = PostgreSQLPool(configuration)
    defer { for pool in [source, writers] { pool.close() } }
    do {
      try await packing.build(generation: generation, from: source, to: writers)
    } catch {
      throw CatalogError(error)
    }
  }

  /// Removes all records, and starts a new generation.
  public func clear() async throws(CatalogError) {
    do {
      try await pool.transaction { connection in
        try connection.lock(Schema.changes)
        try connection.execute(
          """
          TRUNCATE snapshot, posting, block, day, version;
          UPDATE state SET generation = generation + 1, phase = \(IndexPhase.collecting.rawValue)
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
