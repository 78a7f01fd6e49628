public import Foundation

/// Stores a value in a JSON file. A commit succeeds only after the file is written.
///
/// **Guarantees:**
/// - When `update` returns, the file contains the value durably, even after a power failure. The calling thread waits
///   for the disk, typically about a millisecond. If that is too long, use ``InMemoryStorageWithFilePersistence``.
/// - The file is replaced atomically: a reader always gets a complete value.
/// - If the file can't be written, `update` throws (``RepositoryError/Code/outOfSpace`` if the disk is full) and the
///   value does not change, in memory or on disk. `onEvent` is called for the first of several failures, and when
///   writing succeeds again.
/// - A file of an older schema is migrated; a corrupt file, or one that this version of the app can't decode, is set
///   aside: see ``Migrations``.
public struct FileStorage<Value: Codable & Sendable>: RepositoryStorage {
  /// The JSON file.
  public let file: URL
  private let stored: StoredFile<Value>

  /// Creates a storage in `file`. Its folder is created when the first value is written.
  /// - Parameters:
  ///   - file: the JSON file; by default one in Application Support that is named after `Value`: see
  ///     ``RepositoryFile``. Related files in the same folder have this file's name, a dot and a suffix as their names.
  ///   - migrations: the migrations from every older schema to that of `Value`.
  ///   - onEvent: called on any thread with events that the app should know about. It must not update the repository.
  ///   - onRollback: decides after a roll-back between what the older and what the newer app wrote; by default the
  ///     newest write. It must not use the repository.
  public init(
    file: URL? = nil, migrations: Migrations = [],
    onEvent: @escaping @Sendable (RepositoryEvent) -> Void = { _ in },
    onRollback: @escaping RollbackConflict<Value>.Decision = { $0.newestWrite }
  ) {
    self.init(
      file: file, migrations: migrations, disk: file == nil ? RepositoryFile.disk(for: Value.self) : .real,
      onEvent: onEvent, onRollback: onRollback)
  }

  package init(
    file: URL?, migrations: Migrations = [],
    disk: Disk, onEvent: @escaping @Sendable (RepositoryEvent) -> Void = { _ in },
    onRollback: @escaping RollbackConflict<Value>.Decision = { $0.newestWrite }
  ) {
    let file = file ?? RepositoryFile.folder.appending(path: RepositoryFile.name(for: Value.self))
    self.file = file
    stored = StoredFile(file, migrations: migrations, disk: disk, onEvent: onEvent, onRollback: onRollback)
  }

  /// Loads the value from the file and migrates it if necessary.
  public func load(_ check: (Value) throws -> Void) throws(RepositoryError) -> Value? {
    try load(elementwise: false, check)?.value
  }

  /// Loads the models from the file and migrates them if necessary.
  public func load(
    undecoded: inout [UndecodedElement], _ check: (Value) throws -> Void
  ) throws(RepositoryError) -> Value? {
    let contents = try load(elementwise: true, check)
    undecoded = contents?.undecoded ?? []
    return contents?.value
  }

  private func load(
    elementwise: Bool, _ check: (Value) throws -> Void
  ) throws(RepositoryError) -> StoredFile<Value>.Contents? {
    guard let loaded = try stored.load(elementwise: elementwise, check) else { return nil }
    if loaded.isChanged {
      // If the write fails, the file keeps the old schema until the next commit; `onEvent` has received the failure.
      do { try stored.write(loaded.contents) } catch {}
    }
    return loaded.contents
  }

  /// Replaces the file.
  public func save(_ value: Value) throws(RepositoryError) { try save(value, undecoded: []) }

  /// Replaces the file, and keeps the elements that could not be decoded.
  public func save(_ value: Value, undecoded: [UndecodedElement]) throws(RepositoryError) {
    try stored.write(.init(value: value, undecoded: undecoded))
  }

  /// The files that were set aside in the same folder, including files with the reasons.
  public var setAside: [URL] { stored.setAside }
}
