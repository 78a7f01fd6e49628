import Foundation
import Synchronization
import SystemIO

/// A value in a file: `{"schemaVersion": 3, "value": …}`.
final class StoredFile<Value: Codable & Sendable>: Sendable {
  /// What was found.
  struct Loaded {
    let value: Value
    /// Whether the file still has an older schema.
    let isMigrated: Bool
  }

  let path: String
  let onEvent: @Sendable (RepositoryEvent) -> Void
  private let migrations: Migrations
  private let disk: Disk
  private let isFailing = Mutex(false)

  init(
    path: String, migrations: Migrations, disk: Disk, onEvent: @escaping @Sendable (RepositoryEvent) -> Void
  ) {
    self.path = path
    self.migrations = migrations
    self.disk = disk
    self.onEvent = onEvent
  }

  // MARK: - Writing

  /// Replaces the file. The first failure of several is told to ``onEvent``, and so is the success that ends them.
  func write(_ value: Value) throws(RepositoryError) {
    do throws(RepositoryError) {
      let bytes = try encoded(value)
      do { try disk.replace(path, bytes) } catch { throw RepositoryError(notWritten: error) }
    } catch {
      let isFirst = isFailing.withLock { isFailing in
        defer { isFailing = true }
        return !isFailing
      }
      if isFirst { onEvent(RepositoryEvent(.notSaved, path, error.reason)) }
      throw error
    }
    let wasFailing = isFailing.withLock { isFailing in
      defer { isFailing = false }
      return isFailing
    }
    if wasFailing { onEvent(RepositoryEvent(.savedAgain, path, "the file holds what was committed last")) }
  }

  private func encoded(_ value: Value) throws(RepositoryError) -> [UInt8] {
    let bytes: [UInt8]
    do {
      bytes = Array(
        try StoredJSON.makeEncoder().encode(
          StoredJSON.Envelope(schemaVersion: migrations.version, value: value)))
    } catch {
      throw RepositoryError(.notEncodable, "\(error)")
    }
    guard bytes.count <= FileLimits.bytes else {
      throw RepositoryError(.notEncodable, "\(bytes.count) bytes, the most are \(FileLimits.bytes)")
    }
    return bytes
  }

  // MARK: - Reading

  /// The newest value that this schema can read, in the file or set aside beside it.
  func load(_ check: (Value) throws -> Void) throws(RepositoryError) -> Loaded? {
    removeStaged()
    // Each round ends with an answer, or with one file fewer that could be read.
    while true {
      let newest = setAsideVersions.filter { $0 <= migrations.version }.max()
      guard let bytes = try read() else {
        guard let newest else { return nil }
        try comeBack(newest)
        continue
      }
      do {
        let version = try version(of: bytes)
        if version > migrations.version {
          try setAside(version, "it has schema \(version), this app knows \(migrations.version)")
        } else if let newest, newest > version {
          try setAside(version, "the file of schema \(newest) takes its place")
          try comeBack(newest)
        } else {
          return try load(Data(bytes), version, check)
        }
      } catch let unusable as Unusable {
        try setAsideCorrupt(unusable.reason)
      } catch let error as RepositoryError {
        throw error
      } catch {
        try setAsideCorrupt("\(error)")
      }
    }
  }

  private struct Unusable: Error {
    let reason: String
  }

  private func read() throws(RepositoryError) -> [UInt8]? {
    do {
      return try disk.read(path, FileLimits.bytes + 1)
    } catch {
      throw RepositoryError(.unreadable, "\(error)")
    }
  }

  private func version(of bytes: [UInt8]) throws -> Int {
    guard bytes.count <= FileLimits.bytes else {
      throw Unusable(reason: "it is longer than \(FileLimits.bytes) bytes")
    }
    let version = try StoredJSON.makeDecoder().decode(StoredJSON.Header.self, from: Data(bytes)).schemaVersion
    guard version >= migrations.oldestVersion else {
      throw Unusable(reason: "schema \(version) is older than \(migrations.oldestVersion), the oldest known")
    }
    return version
  }

  private func load(_ data: Data, _ version: Int, _ check: (Value) throws -> Void) throws -> Loaded {
    let decoder = StoredJSON.makeDecoder()
    let value: Value
    if version == migrations.version {
      value = try decoder.decode(StoredJSON.Envelope<Value>.self, from: data).value
    } else {
      let tree = try decoder.decode(StoredJSON.Envelope<JSONTree>.self, from: data).value
      let migrated = try migrations.migrate(tree, from: version)
      value = try decoder.decode(Value.self, from: StoredJSON.makeEncoder().encode(migrated))
    }
    do { try check(value) } catch { throw Unusable(reason: "\(error)") }
    guard version != migrations.version else { return Loaded(value: value, isMigrated: false) }
    onEvent(RepositoryEvent(.migrated, path, "from schema \(version) to \(migrations.version)"))
    return Loaded(value: value, isMigrated: true)
  }
}
