import Foundation
import GRDB
import SnapshotStore
import Synchronization
import SystemIO

/// One database file while it is open.
///
/// While it is made anew it has no journal: nobody reads it, and what a crash leaves of it is thrown away. Every page is
/// written once, instead of into a log, out of it and into the database.
final class OpenIndex: Sendable {
  let database: any DatabaseWriter
  let generation: Int
  private let configuration: SQLiteCatalog.Configuration
  private let files: Mutex<Files>
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
    let path = configuration.path
    self.configuration = configuration
    self.generation = generation
    var settings = GRDB.Configuration()
    settings.maximumReaderCount = configuration.readers
    settings.busyMode = .timeout(5)
    settings.label = "sqlite-catalog"
    // SQLite gives its log the mode of the database.
    let isNew = try File(path, .openOrCreate(mode: 0o600)).size == 0
    settings.prepareDatabase { db in
      if isNew { try db.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF") }
      try db.execute(sql: "PRAGMA cache_size = -\(configuration.cacheBytes / 1024)")
      try db.execute(sql: "PRAGMA temp_store = MEMORY")
    }
    let name = Self.unmapped(path)
    database =
      isNew
      ? try DatabaseQueue(path: name, configuration: settings)
      : try DatabasePool(path: name, configuration: settings)
    if !isNew { try Self.flushCommits(of: database) }
    known = Mutex(try Self.prepare(database, isNew: isNew))
    rebuild = Mutex(isNew ? IndexWriter.Rebuild() : nil)
    files = Mutex(Files(path))
    // That the database is in use lasts from here on. Later commits need not: after a power cut the database is without
    // the last of them, and is compared with the store because it was in use.
    if isNew { try set(.rebuild) } else { try Self.flushCommits(of: database, always: false) }
    // An earlier version, or another program, may have left one when it crashed.
    try Folder.removeIfPresent(path + "-shm")
  }

  /// The file's name for SQLite, with the VFS that keeps the index of the log on the heap.
  ///
  /// The usual one maps it from a file: where that file is truncated, or its volume fails, the process gets `SIGBUS`. With
  /// this one nothing is mapped, the connections of this process share the index as before, and other processes find the
  /// database locked.
  private static func unmapped(_ path: String) -> String {
    let name = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
    return (path.hasPrefix("/") ? "file://" : "file:") + name + "?vfs=unix-excl"
  }

  /// Sets up what is new, refuses what is of another form, and notes that the database is in use.
  private static func prepare(_ database: any DatabaseWriter, isNew: Bool) throws -> CatalogState.Extent {
    let format = try database.read { try Int.fetchOne($0, sql: "PRAGMA user_version") ?? 0 }
    guard isNew || format == Schema.format, try !database.read(Schema.migrator.hasBeenSuperseded) else {
      throw OtherForm(format: format)
    }
    // What waited to be written went with whoever began it.
    guard try isNew || database.read({ try value("complete", $0) }) == 1 else { throw Unfinished() }
    try Schema.migrator.migrate(database)
    return try database.write { db in
      // Ten times as many pages as SQLite's own: after a crash every record is written again.
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

  /// A file that went while it was made anew.
  struct Gone: Error, CustomStringConvertible {
    var description: String { "It is gone." }
  }

  /// The database and its log, as they are found by their names.
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

    /// Whether these are `former`, and none of them has lost bytes.
    func keep(_ former: Files) -> Bool {
      identity != nil && identity == former.identity && zip(sizes, former.sizes).allSatisfy { $0 >= $1 }
    }
  }

  /// Whether the files are still the ones that were opened, and none is shorter than the last change left it. SQLite would
  /// not notice by itself: it knows many pages by heart, and would write behind the end of a log that was truncated.
  var isInPlace: Bool { Files(configuration.path).keep(files.withLock { $0 }) }

  private func isSame(as other: OpenIndex) -> Bool {
    files.withLock(\.identity) == other.files.withLock(\.identity)
  }

  /// Does what may change the files' sizes.
  private func changing<Value>(_ body: () throws -> Value) rethrows -> Value {
    defer {
      let changed = Files(configuration.path)
      // Another file under that name is none of the index's.
      files.withLock { if changed.identity == $0.identity { $0 = changed } }
    }
    return try body()
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
    try changing {
      try database.write { db in
        for (name, value) in numbers {
          try db.execute(sql: "INSERT INTO term (term, rank) VALUES (?, ?)", arguments: [name, value])
        }
      }
    }
  }

  /// Changes rows, all that `body` says in one transaction. While the index is made anew some of it waits, and after an
  /// error there is no telling what: then it is of no use any more.
  func write<Value>(all: Bool = false, _ body: (inout IndexWriter) throws -> Value) throws -> Value {
    try changing {
      try database.write { db in
        // Taken out, so that it is not copied when it changes.
        var writer = IndexWriter(db: db, rebuild: rebuild.withLock { $0.take() })
        let value = try body(&writer)
        try writer.finish(all: all)
        rebuild.withLock { $0 = writer.rebuild }
        return value
      }
    }
  }

  /// Notes that everything is in it.
  /// - Returns: the index to go on with: what was made anew is opened like any other from now on.
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

  /// Closes what was made anew, once all of it is on the disk, and opens it again.
  private func finished() throws -> OpenIndex {
    try write(all: true) { _ in }
    try set(.usual)
    try Self.flushCommits(of: database)
    // Two commits: what was written without being flushed lasts before anything says so.
    try database.write { try Self.set("closed", 0, $0) }
    try database.write { try Self.set("complete", 1, $0) }
    try database.close()
    let index = try OpenIndex(configuration, generation: generation)
    guard index.isSame(as: self) else { throw Gone() }
    return index
  }

  /// Has every commit last from now on, or only those that come before a checkpoint.
  private static func flushCommits(of database: any DatabaseWriter, always: Bool = true) throws {
    try database.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA synchronous = \(always ? "FULL" : "NORMAL")")
    }
  }

  /// Has SQLite look after its statistics.
  func optimize() throws {
    try changing { try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA optimize") } }
  }

  /// Brings the log over into the database, and empties it.
  func checkpoint() throws {
    try changing { try database.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) } }
  }

  /// Merges some of the index's parts into one.
  /// - Parameter begins: whether to take all parts on.
  /// - Returns: whether there was something to merge.
  func merge(begins: Bool) throws -> Bool {
    try changing {
      try database.write { db in
        let before = db.totalChangesCount
        try db.execute(
          sql: "INSERT INTO term (term, rank) VALUES ('merge', ?)", arguments: [begins ? -2000 : 2000])
        return db.totalChangesCount - before >= 2
      }
    }
  }

  /// Ends all reading, and closes the file.
  func close() throws {
    if isInPlace {
      let isComplete = extent == .everything
      try database.write { try Self.set("closed", isComplete ? 1 : 0, $0) }
      try optimize()
    }
    try database.close()
  }

  private static func value(_ name: String, _ db: Database) throws -> Int? {
    try Int.fetchOne(db, sql: "SELECT value FROM state WHERE name = ?", arguments: [name])
  }

  private static func set(_ name: String, _ value: Int, _ db: Database) throws {
    try db.execute(sql: "INSERT OR REPLACE INTO state VALUES (?, ?)", arguments: [name, value])
  }
}
