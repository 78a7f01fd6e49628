import Foundation
import SystemIO

/// A value in a JSON file: `{"schemaVersion": 3, "value": …}`. In the file of a collection, `undecoded` contains the
/// elements that the app could not decode.
final class StoredFile<Value: Codable & Sendable>: Sendable {
  /// What is written.
  struct Contents: Sendable {
    var value: Value
    var undecoded: [UndecodedElement] = []

    init(value: Value, undecoded: [UndecodedElement] = []) {
      self.value = value
      self.undecoded = undecoded
    }

    /// Keeps the elements of two files; those that are in both once.
    init(value: Value, merging first: [UndecodedElement], _ second: [UndecodedElement]) {
      let known = Set(first.map(\.json))
      self.init(
        value: value,
        undecoded: (first + second.filter { !known.contains($0.json) }).sorted { $0.position < $1.position })
    }
  }

  /// What was read.
  struct Loaded {
    var contents: Contents
    /// The schema of the file.
    let version: Int
    /// Whether the value differs from the file, because it was migrated or more of it can be decoded than before.
    var isChanged = false
    var events: [RepositoryEvent] = []
  }

  /// Decodes a file of this version or an older one.
  private typealias Reader = (_ bytes: [UInt8], StoredJSON.Header) throws -> Loaded
  typealias Check = (Value) throws -> Void

  let path: String
  let onEvent: @Sendable (RepositoryEvent) -> Void
  private let migrations: Migrations
  private let disk: Disk
  private let onRollback: RollbackConflict<Value>.Decision
  private let isFailing = Lock(false)

  init(
    _ file: URL, migrations: Migrations, disk: Disk, onEvent: @escaping @Sendable (RepositoryEvent) -> Void,
    onRollback: @escaping RollbackConflict<Value>.Decision
  ) {
    path = file.path
    self.migrations = migrations
    self.disk = disk
    self.onEvent = onEvent
    self.onRollback = onRollback
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

  /// Loads the value that this schema can read, from the file or from one that was set aside.
  /// - Parameter elementwise: whether the elements of an array that can't be decoded are left out and kept.
  func load(elementwise: Bool, _ check: Check) throws(RepositoryError) -> Loaded? {
    // A cast, because only arrays of models have elements.
    let array = elementwise ? Value.self as? any StoredArray.Type : nil
    return try loadFiles(check) { bytes, header in
      guard let array else { return try decode(bytes, header, check) }
      if !header.hasUndecoded {
        do { return try decode(bytes, header, check) } catch {
          // The elements are read one by one.
        }
      }
      return try decodeElements(bytes, header, array)
    }
  }

  private func loadFiles(_ check: Check, _ reader: Reader) throws(RepositoryError) -> Loaded? {
    removeStaged()
    var loaded = try loadFile(check, reader)
    // The file that came first replaces the others, because it was in use before them.
    for number in undecodedNumbers.sorted(by: >) {
      guard let found = readAgain(number, reader) else { continue }
      if let loaded, try exists(path) {
        try setAside(loaded.version, "a file that can be decoded again replaces it")
      }
      try comeBackDecoded(number)
      loaded = found
    }
    for event in loaded?.events ?? [] { onEvent(event) }
    return loaded
  }

  private func loadFile(_ check: Check, _ reader: Reader) throws(RepositoryError) -> Loaded? {
    // Each iteration returns, throws, or sets one file aside or moves one back, so that the loop terminates.
    while true {
      guard let bytes = try read(path) else {
        // The oldest one first; it is compared with the others below.
        guard let oldest = supportedVersions.first else { return nil }
        try comeBack(oldest)
        continue
      }
      let found: Loaded
      do {
        let header = try header(of: bytes)
        let version = header.schemaVersion
        guard version <= migrations.version else {
          try setAside(version, "it has schema \(version), this app supports schema \(migrations.version)")
          continue
        }
        found = try reader(bytes, header)
      } catch let error as RepositoryError where error.code == .unreadable {
        throw error
      } catch {
        try setAside(path, because: error)
        continue
      }
      if let resolved = try resolve(found, check, reader) { return resolved }
    }
  }

  /// The versions of the files that were set aside and that this app can read, in order.
  private var supportedVersions: [Int] { setAsideVersions.filter { $0 <= migrations.version }.sorted() }

  // MARK: - Roll-backs

  /// Decides between a file and those that newer versions of the app had before a roll-back. Returns `nil` if one of
  /// these was moved back, and the file has to be read again.
  ///
  /// Every decision is made again if the app ends before the result is in the file: until then, both files are there
  /// with their schemas.
  private func resolve(
    _ found: Loaded, _ check: Check, _ reader: Reader
  ) throws(RepositoryError) -> Loaded? {
    var (result, written, isMerged) = (found, try timeOfWriting(path), false)
    for version in supportedVersions where version > found.version {
      let file = aside(version)
      guard let newer = try readAside(file, reader) else { continue }
      let conflict = RollbackConflict(
        older: .init(value: result.contents.value, schemaVersion: found.version, written: written),
        newer: .init(
          value: newer.contents.value, schemaVersion: newer.version, written: try timeOfWriting(file)))
      switch valid(onRollback(conflict), check) ?? conflict.newestWrite {
      case .newer:
        if !isMerged { try setAside(found.version, "the file of schema \(version) replaces it") }
        try comeBack(version)
        return nil
      case .merged(let value):
        if !isMerged { try setAside(found.version, "it is merged with the file of schema \(version)") }
        result.contents = Contents(value: value, merging: newer.contents.undecoded, result.contents.undecoded)
        (result.isChanged, written, isMerged) = (true, Date(), true)
      case .older:
        result.events.append(
          RepositoryEvent(.setAside, file, "the file of schema \(found.version) is in use instead"))
      }
    }
    return result
  }

  /// Returns `nil` if the resolution is a value that the repository rejects.
  private func valid(
    _ resolution: RollbackConflict<Value>.Resolution, _ check: Check
  ) -> RollbackConflict<Value>.Resolution? {
    guard case .merged(let value) = resolution else { return resolution }
    do {
      try check(value)
      return resolution
    } catch {
      return nil
    }
  }

  /// Reads a file that was set aside for this schema. If that is not possible, it gets another name.
  private func readAside(_ file: String, _ reader: Reader) throws(RepositoryError) -> Loaded? {
    guard let bytes = try read(file) else { return nil }
    do {
      let header = try header(of: bytes)
      guard header.schemaVersion <= migrations.version else {
        throw JSONTree.Mismatch(reason: "it has schema \(header.schemaVersion), unlike its name")
      }
      return try reader(bytes, header)
    } catch {
      try setAside(file, because: error)
      return nil
    }
  }

  private func setAside(_ file: String, because error: any Error) throws(RepositoryError) {
    if let damage = error as? Damage {
      try setAsideCorrupt(file, damage.reason)
    } else {
      try setAsideUndecoded(file, "\(error)")
    }
  }

  // MARK: - Decoding

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

  private func read(_ file: String) throws(RepositoryError) -> [UInt8]? {
    do {
      return try disk.read(file, FileLimits.bytes + 1)
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

  private func decode(_ bytes: [UInt8], _ header: StoredJSON.Header, _ check: Check) throws -> Loaded {
    let version = header.schemaVersion
    let decoder = StoredJSON.makeDecoder()
    let isMigrated = version != migrations.version
    let value: Value
    if isMigrated {
      let tree = try decoder.decode(StoredJSON.Envelope<JSONTree>.self, from: Data(bytes)).value
      // No value is none in every schema: the steps expect one.
      let isNone = tree == .null && Value.self is any StoredOptional.Type
      let migrated = isNone ? tree : try migrations.migrate(tree, from: version)
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

/// A value that can be missing.
protocol StoredOptional {}

extension Optional: StoredOptional {}

/// The file is not JSON, or not the file of a repository.
private struct Damage: Error {
  let reason: String
}
