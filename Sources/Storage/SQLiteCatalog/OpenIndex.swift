import Foundation
import GRDB
import SnapshotStore
import SystemIO

/// An open database file.
///
/// During a rebuild it has no journal, so that every page is written once, and a full disk has room for it after the
/// former file was removed. No reader uses the database then, and the file is discarded after a crash or an error.
final class OpenIndex: Sendable {
  let database: any DatabaseWriter
  let generation: Int
  private let configuration: SQLiteCatalog.Configuration
  private let files: Lock<Files>
  private let known: Lock<CatalogState.Extent>
  /// The seal with which the index was closed; `nil` if it was closed without one, or not at all.
  let seal: Int64?
  /// Whether the file was created, and not opened.
  let isNew: Bool
  /// Whether the file was closed when it was complete.
  private let wasClosed: Bool
  /// Whether the file states durably that it is in use. This precedes the first change.
  private let isMarked: Lock<Bool>

  /// How much of the store the index covers.
  var extent: CatalogState.Extent {
    get { known.withLock { $0 } }
    set { known.withLock { $0 = newValue } }
  }

  /// Opens the database, or creates it. Blocks the calling thread.
  /// - Parameter storeIsEmpty: whether a new index is complete as it is, so that it needs no rebuild.
  init(_ configuration: SQLiteCatalog.Configuration, generation: Int, storeIsEmpty: Bool = false) throws {
    let path = configuration.path
    self.configuration = configuration
    self.generation = generation
    var settings = GRDB.Configuration()
    settings.maximumReaderCount = configuration.readers
    settings.busyMode = .timeout(5)
    settings.label = "sqlite-catalog"
    // SQLite gives its log the mode of the database.
    let isNew = try File(path, .openOrCreate(mode: 0o600)).size == 0
    let rebuilds = isNew && !storeIsEmpty
    settings.prepareDatabase { db in
      // A new file that a power cut damages is replaced like any other.
      if isNew, !db.configuration.readonly {
        try db.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
      }
      try db.execute(sql: "PRAGMA cache_size = -\(configuration.cacheBytes / 1024)")
      try db.execute(sql: "PRAGMA temp_store = MEMORY")
    }
    let name = Self.unmapped(path)
    database =
      rebuilds
      ? try DatabaseQueue(path: name, configuration: settings)
      : try DatabasePool(path: name, configuration: settings)
    if !isNew { try Self.flushCommits(of: database) }
    let (extent, seal) = try Self.prepare(database, isNew: isNew, rebuilds: rebuilds)
    known = Lock(extent)
    self.seal = seal
    self.isNew = isNew
    wasClosed = extent == .everything
    isMarked = Lock(isNew)
    files = Lock(Files(path))
    if !rebuilds { try Self.flushCommits(of: database, always: false) }
    // An earlier version, or another program, may have left one when it crashed.
    try Folder.removeIfPresent(path + "-shm")
  }

  /// The file name for SQLite, with the VFS that keeps the index of the write-ahead log on the heap.
  ///
  /// The default VFS maps this index from a file, so that the process receives `SIGBUS` if the file is truncated or its
  /// volume fails. This VFS maps nothing. The connections of this process still share the index; other processes find
  /// the database locked.
  private static func unmapped(_ path: String) -> String {
    let name = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
    return (path.hasPrefix("/") ? "file://" : "file:") + name + "?vfs=unix-excl"
  }

  /// Creates the schema of a new database, and rejects a database of another format.
  private static func prepare(
    _ database: any DatabaseWriter, isNew: Bool, rebuilds: Bool
  ) throws -> (CatalogState.Extent, seal: Int64?) {
    if !isNew { try database.writeWithoutTransaction(requireUsable) }
    try Schema.migrator.migrate(database)
    if isNew {
      try database.write { db in
        try set("closed", 0, db)
        if !rebuilds { try set("complete", 1, db) }
      }
    }
    return try database.writeWithoutTransaction { db in
      // Ten times SQLite's default: after a crash every record is written again.
      try db.execute(sql: "PRAGMA wal_autocheckpoint = 10000")
      try db.execute(sql: "PRAGMA journal_size_limit = \(64 << 20)")
      let (wasClosed, seal) = (try value("closed", db) == 1, try value("seal", db))
      if isNew { return (rebuilds ? .nothing : .everything, nil) }
      return wasClosed ? (.everything, seal.map(Int64.init)) : (.uncertain, nil)
    }
  }

  /// Throws if the database has another format, or was never filled completely.
  private static func requireUsable(_ db: Database) throws {
    let format = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    guard format == Schema.format, try !Schema.migrator.hasBeenSuperseded(db) else {
      throw OtherForm(format: format)
    }
    guard try value("complete", db) == 1 else { throw Unfinished() }
  }

  /// The database was written by an older or newer version.
  struct OtherForm: Error, CustomStringConvertible {
    let format: Int
    var description: String { "The database has format \(format) instead of \(Schema.format)." }
  }

  /// The database was never filled completely.
  struct Unfinished: Error, CustomStringConvertible {
    var description: String { "The database was never filled completely." }
  }

  /// The file was removed or replaced during the rebuild.
  struct Gone: Error, CustomStringConvertible {
    var description: String { "The database was removed or replaced during the rebuild." }
  }

  /// The identity and sizes of the database and its log, as found at their paths.
  private struct Files {
    private(set) var identity: FileIdentity?
    private var sizes: [Int64] = []

    init(_ path: String) {
      do {
        guard let database = try Folder.file(at: path) else { return }
        identity = database.identity
        sizes = [database.size, try Folder.file(at: path + "-wal")?.size ?? 0]
      } catch {
        identity = nil
      }
    }

    /// Whether these are the same files as `former`, and none of them is shorter.
    func keep(_ former: Files) -> Bool {
      identity != nil && identity == former.identity && zip(sizes, former.sizes).allSatisfy { $0 >= $1 }
    }
  }

  /// Whether the files are still those that were opened, and neither is shorter than after the last change. SQLite does
  /// not notice such a change: it keeps pages in its cache, and would write past the end of a truncated log.
  var isInPlace: Bool { Files(configuration.path).keep(files.withLock { $0 }) }

  private func isSame(as other: OpenIndex) -> Bool {
    files.withLock(\.identity) == other.files.withLock(\.identity)
  }

  /// Runs a change that can affect the files' sizes, and records the new sizes.
  private func changing<Value>(_ body: () throws -> Value) rethrows -> Value {
    defer {
      let changed = Files(configuration.path)
      // A file that replaced the database does not belong to this index.
      files.withLock { if changed.identity == $0.identity { $0 = changed } }
    }
    return try body()
  }

  /// Runs `body` in one transaction.
  func write<Value>(_ body: (inout IndexWriter) throws -> Value) throws -> Value {
    try changing {
      try markInUse()
      return try database.write { db in
        var writer = IndexWriter(db: db)
        let value = try body(&writer)
        try writer.finish()
        return value
      }
    }
  }

  /// Marks the file as in use, durably. Later commits are not flushed: a power cut can lose the last ones, and the mark
  /// then causes a comparison with the store.
  private func markInUse() throws {
    try isMarked.withLock { isMarked in
      guard !isMarked else { return }
      try Self.flushCommits(of: database)
      try database.write { db in
        try Self.set("closed", 0, db)
        try Self.removeSeal(db)
        try db.execute(sql: "DELETE FROM removed")
      }
      try Self.flushCommits(of: database, always: false)
      isMarked = true
    }
  }

  /// Marks the index as complete.
  /// - Returns: the index to use from now on. After a rebuild, that is the same file opened again with a journal.
  func completed() throws -> OpenIndex {
    switch extent {
    case .everything: return self
    case .nothing: return try finished().completed()
    case .uncertain:
      extent = .everything
      try optimize()
      return self
    }
  }

  /// Ends a rebuild: synchronizes the file, closes it and opens it again.
  private func finished() throws -> OpenIndex {
    try Self.flushCommits(of: database)
    // Two commits: everything written without synchronization is durable before the file states that it is complete.
    try database.write { try Self.set("closed", 0, $0) }
    try database.write { try Self.set("complete", 1, $0) }
    try database.close()
    let index = try OpenIndex(configuration, generation: generation)
    guard index.isSame(as: self) else { throw Gone() }
    return index
  }

  /// Sets whether SQLite synchronizes the log at every commit, or only before a checkpoint.
  private static func flushCommits(of database: any DatabaseWriter, always: Bool = true) throws {
    try database.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA synchronous = \(always ? "FULL" : "NORMAL")")
    }
  }

  /// Updates SQLite's statistics.
  func optimize() throws {
    try changing { try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA optimize") } }
  }

  /// Copies the log into the database, and truncates the log.
  func checkpoint() throws {
    try changing { try database.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) } }
  }

  /// Ends all reads. The integrity check reads the whole database, and the log can't be truncated before it ends.
  func endReads() throws {
    database.interrupt()
    // Each connection keeps the interruption until its next statement. A checkpoint is not a statement, and would fail.
    try database.writeWithoutTransaction { try $0.execute(sql: "SELECT 1") }
  }

  /// Marks a complete index as closed, ends all reads, and closes the file.
  func close(seal: Int64? = nil) throws {
    let isUnchanged = wasClosed && !isMarked.withLock { $0 } && seal == self.seal
    if isInPlace, !isUnchanged {
      let isComplete = extent == .everything
      try database.write { db in
        try Self.set("closed", isComplete ? 1 : 0, db)
        try Self.removeSeal(db)
        if let seal, isComplete { try Self.set("seal", Int(seal), db) }
      }
      try optimize()
    }
    try database.close()
  }

  private static func removeSeal(_ db: Database) throws {
    try db.execute(sql: "DELETE FROM state WHERE name = 'seal'")
  }

  private static func value(_ name: String, _ db: Database) throws -> Int? {
    try Int.fetchOne(db, sql: "SELECT value FROM state WHERE name = ?", arguments: [name])
  }

  private static func set(_ name: String, _ value: Int, _ db: Database) throws {
    try db.execute(sql: "INSERT OR REPLACE INTO state VALUES (?, ?)", arguments: [name, value])
  }
}
