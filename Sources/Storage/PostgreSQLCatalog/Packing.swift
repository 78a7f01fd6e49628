import PostgreSQLClient
import SnapshotStore

/// Packs records into blocks: all of them when the index is built, and later the oldest of those that have no block, and
/// those that arrived late.
package struct Packing: Sendable {
  /// The number of records of a block, 1 to ``IndexLimits/block``.
  package var block: Int
  /// The number of the newest records that are not packed, so that records that arrive out of order rarely belong before
  /// a block.
  package var loose: Int
  /// Whether an insertion waits until the blocks are written that it completes.
  package var isAwaited: Bool

  /// Creates a rule.
  package init(block: Int = 2048, loose: Int = 1024, isAwaited: Bool = false) {
    self.isAwaited = isAwaited
    self.block = min(max(block, 1), IndexLimits.block)
    self.loose = max(loose, 0)
  }

  /// Packs one block of the records that have none, if there are enough, and tidies up the other tables. Only one server
  /// does so at a time.
  /// - Returns: whether records were packed, so that there may be more to do.
  func packOne(_ connection: PostgreSQLConnection) throws -> Bool {
    try connection.transaction { connection in
      guard try connection.tryLock(Schema.maintenance) else { return false }
      try connection.lock(Schema.changes)
      guard try IndexState.read(connection).phase == .complete else { return false }
      guard try packNewest(connection) || packLate(connection) else { return false }
      try DayCounts.sumUp(connection)
      try connection.execute(
        "DELETE FROM snapshot WHERE removed < now() - interval '\(IndexLimits.removalDays) days'")
      return true
    }
  }

  /// Packs the oldest of the records that are newer than all blocks, except the newest ``loose`` ones.
  private func packNewest(_ connection: PostgreSQLConnection) throws -> Bool {
    let places = try connection.query(
      """
      SELECT place FROM posting WHERE term = '|' AND slots IS NULL
        AND place > coalesce((SELECT max(last) FROM block), 0) ORDER BY place LIMIT $1
      """, [.int(Int64(block + loose))]
    ).map { try $0.int(0) }
    guard places.count == block + loose else { return false }
    let members = try BlockWriter.Member.read(Array(places.prefix(block)), connection)
    guard !members.isEmpty else { return false }
    let packed = try BlockWriter(members)
    try packed.removeLoose(Set(places), connection)
    try packed.write(connection, isNew: false)
    return true
  }

  /// Builds the index over the collected records, if the generation is still `generation`.
  ///
  /// `source` sees the records that were collected when the build began; what other servers change meanwhile is indexed
  /// by them. Each block is written in a transaction of its own, so that changes wait for one block at most. The postings
  /// are written into a table without an index, which is sorted at the end and then takes the place of `posting`. While
  /// another server builds the index, this waits for it, and builds the index if the other fails.
  /// - Parameters:
  ///   - source: a pool of one connection. Its locks and its transaction end when it is closed.
  ///   - writers: a pool with a connection for each block that is computed or written at the same time.
  func build(generation: Int, from source: PostgreSQLPool, to writers: PostgreSQLPool) async throws {
    while try await source.perform({ try !$0.trySessionLock(Schema.maintenance) }) {
      try await Task.sleep(for: IndexLimits.buildPause)
    }
    guard try await source.perform({ try Self.begin($0, generation) }) else { return }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<writers.configuration.connections {
        group.addTask { while try await buildBlock(generation, from: source, to: writers) {} }
      }
      try await group.waitForAll()
    }
    try await source.perform { connection in
      try connection.execute("COMMIT")
      guard try Self.isBuilding(generation, connection) else { return }
      try connection.execute(
        """
        ALTER TABLE built ADD CONSTRAINT built_pkey PRIMARY KEY (term, place);
        CREATE INDEX built_packed ON built (place) WHERE slots IS NOT NULL
        """)
      // Searches for terms alone then read only the index.
      try connection.execute("VACUUM (ANALYZE) built")
      try connection.execute("ANALYZE snapshot, block")
      try connection.transaction { connection in
        try connection.lock(Schema.changes)
        guard try Self.isBuilding(generation, connection) else { return }
        try connection.execute(Self.replacement)
        try IndexState.set(.complete, connection)
      }
    }
  }

  /// Begins to read the collected records, in one state of the database in which no other change is in progress. The
  /// connection holds ``Schema/maintenance``.
  /// - Returns: whether there is something to build.
  private static func begin(_ connection: PostgreSQLConnection, _ generation: Int) throws -> Bool {
    try connection.sessionLock(Schema.changes)
    let state = try IndexState.read(connection)
    guard state.generation == generation, state.phase != .complete else { return false }
    // An earlier attempt may have ended in the middle.
    try connection.execute(
      """
      TRUNCATE posting, block, day;
      DROP TABLE IF EXISTS built;
      CREATE TABLE built (LIKE posting);
      CREATE INDEX built_loose ON built (place) WHERE term = '|' AND slots IS NULL;
      UPDATE state SET phase = \(IndexPhase.building.rawValue)
      """)
    try connection.execute(
      """
      BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
      DECLARE records NO SCROLL CURSOR FOR
        SELECT \(BlockWriter.Member.columns) FROM snapshot WHERE place IS NOT NULL ORDER BY place
      """)
    try connection.sessionUnlock(Schema.changes)
    return true
  }

  /// Builds the next block.
  /// - Returns: whether there can be more.
  private func buildBlock(
    _ generation: Int, from source: PostgreSQLPool, to writers: PostgreSQLPool
  ) async throws -> Bool {
    let members = try await source.perform { [block] connection in
      try connection.query("FETCH \(block) FROM records").map(BlockWriter.Member.init)
    }
    guard !members.isEmpty else { return false }
    let next = try await writers.perform { _ in try BlockWriter(members) }
    return try await writers.transaction { connection in
      try connection.lock(Schema.changes)
      guard try Self.isBuilding(generation, connection) else { return false }
      // The last transaction, which completes the build, makes all of them durable.
      try connection.execute("SET LOCAL synchronous_commit = off")
      try next.write(connection, postings: "built", isNew: true)
      return true
    }
  }

  /// Gives the table that was built the place of `posting`, with what other servers have indexed meanwhile.
  private static let replacement = """
    INSERT INTO built SELECT * FROM posting;
    DROP TABLE posting;
    ALTER TABLE built RENAME TO posting;
    ALTER INDEX built_pkey RENAME TO posting_pkey;
    ALTER INDEX built_loose RENAME TO loose;
    ALTER INDEX built_packed RENAME TO packed
    """

  private static func isBuilding(_ generation: Int, _ connection: PostgreSQLConnection) throws -> Bool {
    let state = try IndexState.read(connection)
    return state.generation == generation && state.phase == .building
  }
}
