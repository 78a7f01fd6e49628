import GRDB
import SnapshotStore
import Synchronization
import SystemIO

/// One database file while it is open.
final class OpenIndex: Sendable {
  let pool: DatabasePool
  let generation: Int
  private let path: String
  private let identity: FileIdentity?
  private let known: Mutex<CatalogState.Extent>
  /// What waits while it is made anew, for the one writer; `nil` once everything is in it.
  private let rebuild: Mutex<IndexWriter.Rebuild?>

  /// How much of the store it knows.
  var extent: CatalogState.Extent {
    get { known.withLock { $0 } }
    set { known.withLock { $0 = newValue } }
  }

  /// Opens the database, or makes it. Blocks.
  init(_ configuration: SQLiteCatalog.Configuration, generation: Int) throws {
    path = configuration.path
    self.generation = generation
    var settings = GRDB.Configuration()
    settings.maximumReaderCount = configuration.readers
    settings.busyMode = .timeout(5)
    settings.label = "sqlite-catalog"
    // SQLite gives its log and its shared memory the mode of the database.
    let isEmpty = try File(path, .openOrCreate(mode: 0o600)).size == 0
    settings.prepareDatabase { db in
      // What is begun anew lasts once it is complete.
      if isEmpty { try db.execute(sql: "PRAGMA synchronous = OFF") }
      try db.execute(sql: "PRAGMA cache_size = -\(configuration.cacheBytes / 1024)")
      try db.execute(sql: "PRAGMA temp_store = MEMORY")
    }
    pool = try DatabasePool(path: path, configuration: settings)
    let extent = try Self.prepare(pool)
    known = Mutex(extent)
    rebuild = Mutex(extent == .nothing ? IndexWriter.Rebuild() : nil)
    identity = Self.identity(path)
    try setDurability()
  }

  /// Sets up what is new, refuses what is of another form, and notes that the database is in use.
  private static func prepare(_ pool: DatabasePool) throws -> CatalogState.Extent {
    let format = try pool.read { try Int.fetchOne($0, sql: "PRAGMA user_version") ?? 0 }
    let isNew = try pool.read { try !$0.tableExists("grdb_migrations") }
    guard isNew || format == Schema.format, try !pool.read(Schema.migrator.hasBeenSuperseded) else {
      throw OtherForm(format: format)
    }
    // What waited to be written went with whoever began it.
    guard try isNew || pool.read({ try value("complete", $0) }) == 1 else { throw Unfinished() }
    try Schema.migrator.migrate(pool)
    return try pool.write { db in
      // Ten times as many pages as SQLite's own: a rebuild writes many, and there is room.
      try db.execute(sql: "PRAGMA wal_autocheckpoint = 10000")
      try db.execute(sql: "PRAGMA journal_size_limit = \(64 << 20)")
      try db.execute(sql: "DELETE FROM removed")
      let wasClosed = try value("closed", db) == 1
      try set("closed", 0, db)
      return isNew ? .nothing : wasClosed ? .everything : .uncertain
    }
  }

  /// A database that was made by an older or newer version.
  struct OtherForm: Error, CustomStringConvertible {
    let format: Int
    var description: String { "It is of form \(format), not \(Schema.format)." }
  }

  /// A database that was not filled to the end.
  struct Unfinished: Error, CustomStringConvertible {
    var description: String { "It was never complete." }
  }

  /// Whether the file is still the one that was opened.
  var isInPlace: Bool { identity != nil && Self.identity(path) == identity }

  private static func identity(_ path: String) -> FileIdentity? {
    do { return try Folder.file(at: path)?.identity } catch { return nil }
  }

  /// Every commit lasts, but for those that would be made anew anyhow.
  private func setDurability() throws {
    let isNew = extent == .nothing
    try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = \(isNew ? "OFF" : "FULL")") }
    if isNew { try set(.rebuild) }
  }

  /// When the index's parts are merged, of which every commit makes one.
  private struct Merging {
    /// How many parts are merged little by little as they come; none where 0.
    let gradually: Int
    /// How many parts are merged at once.
    let atOnce: Int
    /// How many bytes wait in memory for a part to be made.
    let room: Int

    /// SQLite's own numbers.
    static let usual = Merging(gradually: 4, atOnce: 16, room: 1 << 20)
    /// As seldom as can be, since all are merged in the end; but there must never be 2,000, which is as many as SQLite
    /// can tell apart. All that waits at once goes into one part.
    static let rebuild = Merging(gradually: 0, atOnce: 64, room: 32 << 20)
  }

  private func set(_ merging: Merging) throws {
    let numbers = [
      ("automerge", merging.gradually), ("crisismerge", merging.atOnce), ("hashsize", merging.room),
    ]
    try pool.write { db in
      for (name, value) in numbers {
        try db.execute(sql: "INSERT INTO term (term, rank) VALUES (?, ?)", arguments: [name, value])
      }
    }
  }

  /// Changes rows, all that `body` says in one transaction. While the index is made anew some of it waits, and after an
  /// error there is no telling what: then it is of no use any more.
  func write<Value>(all: Bool = false, _ body: (inout IndexWriter) throws -> Value) throws -> Value {
    try pool.write { db in
      // Taken out, so that it is not copied when it changes.
      var writer = IndexWriter(db: db, rebuild: rebuild.withLock { $0.take() })
      let value = try body(&writer)
      try writer.finish(all: all)
      rebuild.withLock { $0 = writer.rebuild }
      return value
    }
  }

  /// Notes that everything is in it.
  func complete() throws {
    guard extent != .everything else { return }
    if extent == .nothing {
      try write(all: true) { _ in }
      rebuild.withLock { $0 = nil }
      extent = .uncertain
      try set(.usual)
      try setDurability()
      // What was written without being flushed lasts before anything says so: one change more, so that there is
      // something to bring over.
      try pool.write { try Self.set("closed", 0, $0) }
      try checkpoint()
    }
    try pool.write { try Self.set("complete", 1, $0) }
    extent = .everything
    try optimize()
  }

  /// Has SQLite look after its statistics.
  func optimize() throws { try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA optimize") } }

  /// Brings the log over into the database, and empties it.
  func checkpoint() throws {
    try pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
  }

  /// Merges some of the index's parts into one.
  /// - Parameter begins: whether to take all parts on.
  /// - Returns: whether there was something to merge.
  func merge(begins: Bool) throws -> Bool {
    try pool.write { db in
      let before = db.totalChangesCount
      try db.execute(
        sql: "INSERT INTO term (term, rank) VALUES ('merge', ?)", arguments: [begins ? -2000 : 2000])
      return db.totalChangesCount - before >= 2
    }
  }

  /// Ends all reading, and closes the file.
  func close() throws {
    if isInPlace {
      let isComplete = extent == .everything
      try pool.write { try Self.set("closed", isComplete ? 1 : 0, $0) }
      try optimize()
    }
    try pool.close()
  }

  private static func value(_ name: String, _ db: Database) throws -> Int? {
    try Int.fetchOne(db, sql: "SELECT value FROM state WHERE name = ?", arguments: [name])
  }

  private static func set(_ name: String, _ value: Int, _ db: Database) throws {
    try db.execute(sql: "INSERT OR REPLACE INTO state VALUES (?, ?)", arguments: [name, value])
  }
}
