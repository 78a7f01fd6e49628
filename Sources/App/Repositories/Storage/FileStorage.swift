public import Foundation

/// Keeps a value in a JSON file that is written before a commit counts.
///
/// **What holds:**
/// - When `update` returns, the file holds the value, and a power cut would not lose it. The calling thread waits for
///   that, a millisecond or so; where this is too long, use ``InMemoryStorageWithFilePersistence``.
/// - The file is replaced in one step: whoever reads it, at whatever time, sees a whole value.
/// - If it can't be written, `update` throws (``RepositoryError/Code/outOfSpace`` where the disk is full) and the value
///   stays what it was, in memory as well. The first of several failures is told to `onEvent` too, and so is the
///   end of them.
/// - A file of an older schema is migrated, one of a newer schema or a corrupt one is set aside: see ``Migrations``.
public struct FileStorage<Value: Codable & Sendable>: RepositoryStorage {
  private let file: StoredFile<Value>

  /// A storage in `file`; its folder is made when there is something to keep.
  /// - Parameters:
  ///   - file: the file; others whose names begin with its name and a dot stand beside it.
  ///   - migrations: the way from every older schema to that of `Value`.
  ///   - onEvent: is told, on any thread, what an app should hear of. It must not update the repository.
  public init(
    file: URL, migrations: Migrations = [],
    onEvent: @escaping @Sendable (RepositoryEvent) -> Void = { _ in }
  ) {
    self.init(file: file, migrations: migrations, disk: .real, onEvent: onEvent)
  }

  package init(
    file: URL, migrations: Migrations = [], disk: Disk,
    onEvent: @escaping @Sendable (RepositoryEvent) -> Void = { _ in }
  ) {
    self.file = StoredFile(path: file.path, migrations: migrations, disk: disk, onEvent: onEvent)
  }

  /// What is in the file, migrated.
  public func load(_ check: (Value) throws -> Void) throws(RepositoryError) -> Value? {
    guard let loaded = try file.load(check) else { return nil }
    if loaded.isMigrated {
      // Memory goes on with the new schema; the file follows with the next commit, and the event was told.
      do { try file.write(loaded.value) } catch {}
    }
    return loaded.value
  }

  /// Replaces the file.
  public func save(_ value: Value) throws(RepositoryError) { try file.write(value) }

  /// The files that were set aside beside this one, with the reasons of those that are corrupt.
  public var setAside: [URL] { file.setAside }
}
