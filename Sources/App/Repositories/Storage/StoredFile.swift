import Foundation
import Synchronization
import SystemIO

/// A value in a JSON file: `{"schemaVersion": 3, "value": …}`.
final class StoredFile<Value: Codable & Sendable>: Sendable {
  /// A loaded value.
  struct Loaded {
    let value: Value
    /// Whether the value was migrated, so that the file still has an older schema.
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

  /// Replaces the file. Calls ``onEvent`` for the first of several failures, and for the success that ends them.
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
    if wasFailing {
      onEvent(RepositoryEvent(.savedAgain, path, "the file contains the last committed value"))
    }
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
      throw RepositoryError(.notEncodable, "\(bytes.count) bytes, the maximum is \(FileLimits.bytes)")
    }
    return bytes
  }

  // MARK: - Reading

  /// Loads the newest value that this schema can read, from the file or from one that was set aside.
  func load(_ check: (Value) throws -> Void) throws(RepositoryError) -> Loaded? {
    removeStaged()
    // Each iteration returns, throws, or sets one file aside or moves one back, so that the loop terminates.
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
          try setAside(version, "it has schema \(version), this app supports schema \(migrations.version)")
        } else if let newest, newest > version {
          try setAside(version, "the file of schema \(newest) replaces it")
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
      throw Unusable(reason: "it is larger than \(FileLimits.bytes) bytes")
    }
    let version = try StoredJSON.makeDecoder().decode(StoredJSON.Header.self, from: Data(bytes)).schemaVersion
    guard version >= migrations.oldestVersion else {
      throw Unusable(
        reason: "schema \(version) is older than \(migrations.oldestVersion), the oldest supported")
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

/// Files that can't be used are renamed, not deleted:
///
///     trips.json.version-4          a file of schema 4, for an app that supports it
///     trips.json.corrupt-1          a corrupt file
///     trips.json.corrupt-1.reason   the reason why it counts as corrupt
extension StoredFile {
  private var folder: String { Folder.parent(of: path) }
  private var prefix: String { (path.split(separator: "/").last.map(String.init) ?? path) + "." }

  /// The suffixes of related files: the names in the folder without this file's name and the dot.
  private var suffixes: [String] {
    do {
      return try Folder.entries(folder).filter { $0.hasPrefix(prefix) }.map {
        String($0.dropFirst(prefix.count))
      }
    } catch {
      // A missing folder contains no files. If the folder can't be listed, its files are left alone.
      return []
    }
  }

  var setAside: [URL] {
    suffixes.filter { $0.hasPrefix("version-") || $0.hasPrefix("corrupt-") }
      .map { URL(filePath: path + "." + $0) }
  }

  /// The schema versions of the files that were set aside.
  var setAsideVersions: [Int] {
    suffixes.compactMap { suffix in
      guard suffix.hasPrefix("version-"), let version = Int(suffix.dropFirst("version-".count)),
        suffix == "version-\(version)", Folder.isRegularFile("\(path).\(suffix)")
      else { return nil }
      return version
    }
  }

  /// Renames the file to `….version-N`. If that name exists, the existing file is older; it is kept as a corrupt file.
  func setAside(_ version: Int, _ reason: String) throws(RepositoryError) {
    let aside = "\(path).version-\(version)"
    if try exists(aside) { try keep(aside, "a newer file of schema \(version) replaced it") }
    try move(path, to: aside)
    onEvent(RepositoryEvent(.setAside, aside, reason))
  }

  /// Moves a file that was set aside back to its original path, which must be free.
  func comeBack(_ version: Int) throws(RepositoryError) {
    let aside = "\(path).version-\(version)"
    try move(aside, to: path)
    onEvent(RepositoryEvent(.cameBack, path, "this app supports its schema \(version)"))
  }

  func setAsideCorrupt(_ reason: String) throws(RepositoryError) { try keep(path, reason) }

  private func keep(_ file: String, _ reason: String) throws(RepositoryError) {
    var number = 1
    while number < FileLimits.corruptFiles, try exists("\(path).corrupt-\(number)") { number += 1 }
    let aside = "\(path).corrupt-\(number)"
    try move(file, to: aside)
    // If the disk is full, only the event contains the reason.
    do { try DurableFile.replace(aside + ".reason", with: Array((reason + "\n").utf8)) } catch {}
    onEvent(RepositoryEvent(.corrupt, aside, reason))
  }

  /// Throws if the disk can't be read, so that no file is overwritten.
  private func exists(_ name: String) throws(RepositoryError) -> Bool {
    do { return try Folder.exists(name) } catch {
      throw RepositoryError(.unreadable, "a file can't be set aside: \(error)")
    }
  }

  /// Throws if a file can't be renamed: it must not be overwritten, and the repository can't start.
  private func move(_ file: String, to name: String) throws(RepositoryError) {
    do {
      try Folder.replace(name, with: file)
      try Folder.synchronize(folder)
    } catch {
      throw RepositoryError(.unreadable, "a file can't be set aside: \(error)")
    }
  }

  /// Removes temporary files that a crash left behind.
  func removeStaged() {
    for suffix in suffixes where suffix.hasSuffix(".staged") {
      // The next launch tries again.
      do { try Folder.removeIfPresent(path + "." + suffix) } catch {}
    }
  }
}
