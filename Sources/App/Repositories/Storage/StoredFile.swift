import Foundation
import SystemIO

/// A value in a JSON file: `{"schemaVersion": 3, "value": …}`. In the file of a collection, `undecoded` contains the
/// elements that the app could not decode.
final class StoredFile<Value: Codable & Sendable>: Sendable {
  /// What is written.
  struct Contents: Sendable {
    var value: Value
    var undecoded: [UndecodedElement] = []
  }

  /// What was read.
  struct Loaded {
    let contents: Contents
    /// The schema of the file.
    let version: Int
    /// Whether the value differs from the file, because it was migrated or more of it can be decoded than before.
    var isChanged = false
    var events: [RepositoryEvent] = []
  }

  /// Decodes a file of this version or an older one.
  private typealias Reader = (_ bytes: [UInt8], StoredJSON.Header) throws -> Loaded

  let path: String
  let onEvent: @Sendable (RepositoryEvent) -> Void
  private let migrations: Migrations
  private let disk: Disk
  private let isFailing = Lock(false)

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
  func write(_ contents: Contents) throws(RepositoryError) {
    do throws(RepositoryError) {
      let bytes = try encoded(contents)
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

  private func encoded(_ contents: Contents) throws(RepositoryError) -> [UInt8] {
    let value: Data
    do {
      value = try StoredJSON.makeEncoder().encode(contents.value)
    } catch {
      throw RepositoryError(.notEncodable, "\(error)")
    }
    let bytes = StoredJSON.file(version: migrations.version, value: value, undecoded: contents.undecoded)
    guard bytes.count <= FileLimits.bytes else {
      throw RepositoryError(.notEncodable, "\(bytes.count) bytes, the maximum is \(FileLimits.bytes)")
    }
    return bytes
  }

  // MARK: - Reading

  /// Loads the newest value that this schema can read, from the file or from one that was set aside.
  /// - Parameter elementwise: whether the elements of an array that can't be decoded are left out and kept.
  func load(elementwise: Bool, _ check: (Value) throws -> Void) throws(RepositoryError) -> Loaded? {
    // A cast, because only arrays of models have elements.
    let array = elementwise ? Value.self as? any StoredArray.Type : nil
    return try loadFiles { bytes, header in
      guard let array else { return try decode(bytes, header, check) }
      if !header.hasUndecoded {
        do { return try decode(bytes, header, check) } catch {
          // The elements are read one by one.
        }
      }
      return try decodeElements(bytes, header, array)
    }
  }

  private func loadFiles(_ reader: Reader) throws(RepositoryError) -> Loaded? {
    removeStaged()
    var loaded = try loadNewest(reader)
    // The file that came first replaces the others, because it was in use before them.
    for number in undecodedNumbers.sorted(by: >) {
      guard let found = readAgain(number, reader) else { continue }
      if let loaded { try setAside(loaded.version, "a file that can be decoded again replaces it") }
      try comeBackDecoded(number)
      loaded = found
    }
    for event in loaded?.events ?? [] { onEvent(event) }
    return loaded
  }

  private func loadNewest(_ reader: Reader) throws(RepositoryError) -> Loaded? {
    // Each iteration returns, throws, or sets one file aside or moves one back, so that the loop terminates.
    while true {
      let newest = setAsideVersions.filter { $0 <= migrations.version }.max()
      guard let bytes = try read() else {
        guard let newest else { return nil }
        try comeBack(newest)
        continue
      }
      do {
        let header = try header(of: bytes)
        let version = header.schemaVersion
        if version > migrations.version {
          try setAside(version, "it has schema \(version), this app supports schema \(migrations.version)")
        } else if let newest, newest > version {
          try setAside(version, "the file of schema \(newest) replaces it")
          try comeBack(newest)
        } else {
          return try reader(bytes, header)
        }
      } catch let damage as Damage {
        try setAsideCorrupt(damage.reason)
      } catch let error as RepositoryError where error.code == .unreadable {
        throw error
      } catch {
        try setAsideUndecoded("\(error)")
      }
    }
  }

  /// Decodes a file that an earlier version of the app set aside, if that is possible now.
  private func readAgain(_ number: Int, _ reader: Reader) -> Loaded? {
    do {
      guard let bytes = try disk.read("\(path).undecoded-\(number)", FileLimits.bytes + 1) else { return nil }
      let header = try header(of: bytes)
      return header.schemaVersion <= migrations.version ? try reader(bytes, header) : nil
    } catch {
      // It is tried again at the next launch.
      return nil
    }
  }

  /// The file is not JSON, or not the file of a repository.
  private struct Damage: Error {
    let reason: String
  }

  private func read() throws(RepositoryError) -> [UInt8]? {
    do {
      return try disk.read(path, FileLimits.bytes + 1)
    } catch {
      throw RepositoryError(.unreadable, "\(error)")
    }
  }

  private func header(of bytes: [UInt8]) throws(Damage) -> StoredJSON.Header {
    guard bytes.count <= FileLimits.bytes else {
      throw Damage(reason: "it is larger than \(FileLimits.bytes) bytes")
    }
    do {
      return try StoredJSON.makeDecoder().decode(StoredJSON.Header.self, from: Data(bytes))
    } catch {
      throw Damage(reason: "\(error)")
    }
  }

  private func decode(
    _ bytes: [UInt8], _ header: StoredJSON.Header, _ check: (Value) throws -> Void
  ) throws -> Loaded {
    let version = header.schemaVersion
    let decoder = StoredJSON.makeDecoder()
    let isMigrated = version != migrations.version
    let value: Value
    if isMigrated {
      let tree = try decoder.decode(StoredJSON.Envelope<JSONTree>.self, from: Data(bytes)).value
      let migrated = try migrations.migrate(tree, from: version)
      value = try decoder.decode(Value.self, from: StoredJSON.makeEncoder().encode(migrated))
    } else {
      value = try decoder.decode(StoredJSON.Envelope<Value>.self, from: Data(bytes)).value
    }
    try check(value)
    return Loaded(
      contents: Contents(value: value), version: version, isChanged: isMigrated,
      events: isMigrated ? [migration(from: version)] : [])
  }

  private func decodeElements<Elements: StoredArray>(
    _ bytes: [UInt8], _ header: StoredJSON.Header, _: Elements.Type
  ) throws -> Loaded {
    let version = header.schemaVersion
    let elements = try StoredElements<Elements.Element>(bytes, version: version, migrations: migrations)
    guard let value = elements.models as? Value else { throw Damage(reason: "it is not an array of models") }
    // If nothing can be decoded, the file stays as it is, for the app that wrote it.
    let isMigrated = version != migrations.version && !elements.models.isEmpty
    var loaded = Loaded(
      contents: Contents(value: value, undecoded: elements.undecoded), version: version,
      isChanged: isMigrated || elements.decodedAgain > 0)
    if isMigrated { loaded.events.append(migration(from: version)) }
    if elements.decodedAgain > 0 {
      loaded.events.append(
        RepositoryEvent(.cameBack, path, "\(elements.decodedAgain) elements can be decoded again"))
    }
    if let failures = elements.failures { loaded.events.append(RepositoryEvent(.undecoded, path, failures)) }
    return loaded
  }

  private func migration(from version: Int) -> RepositoryEvent {
    RepositoryEvent(.migrated, path, "from schema \(version) to \(migrations.version)")
  }
}

/// An array of models, whose elements can be decoded one by one.
protocol StoredArray<Element> {
  associatedtype Element: Decodable & Identifiable
}

extension Array: StoredArray where Element: Decodable & Identifiable {}
