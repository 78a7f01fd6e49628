import Dispatch
import Foundation
package import SnapshotFormat
package import SnapshotStore
import SystemIO

/// A store for tests. It gives all guarantees but durability: its contents are lost with the process.
///
/// A bundle's bytes are in a file without a name, so that they can be sent like those of any other store.
package final class InMemoryStore: BundleStore {
  private enum Entry {
    case published(StoredBundle)
    case setAside(StoredBundle)
    case deleted
  }

  let validator: UploadValidator
  private let entries = Lock<[SnapshotID: Entry]>([:])
  /// The limits of resumable uploads.
  package let uploadLimits: UploadLimits
  let uploads = Lock<[UploadID: InMemoryResumable]>([:])
  let queue = DispatchQueue(label: "in-memory-store")

  /// Creates an empty store.
  package init(validator: UploadValidator = UploadValidator(), uploadLimits: UploadLimits = UploadLimits()) {
    self.validator = validator
    self.uploadLimits = uploadLimits
  }

  /// The record of a bundle.
  package func record(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    try entries.withLock { entries throws(StoreError) in try Self.record(entries[id]) }
  }

  /// Opens a bundle for reading.
  package func open(_ id: SnapshotID) async throws(StoreError) -> StoredBundle {
    try entries.withLock { entries throws(StoreError) in
      guard case .published(let bundle) = entries[id] else {
        _ = try Self.record(entries[id])
        throw .damaged
      }
      return bundle
    }
  }

  /// Removes a bundle permanently.
  package func delete(_ id: SnapshotID) async throws(StoreError) { _ = try await delete(id) { _ in true } }

  /// Removes a bundle permanently if its record satisfies `condition`.
  package func delete(
    _ id: SnapshotID, if condition: @escaping @Sendable (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> Bool {
    try entries.withLock { entries throws(StoreError) in
      guard condition(try Self.record(entries[id])) else { return false }
      entries[id] = .deleted
      return true
    }
  }

  /// Changes a record.
  @discardableResult
  package func change(_ change: RecordChange, of id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    try entries.withLock { entries throws(StoreError) in
      switch entries[id] {
      case .published(let bundle):
        let changed = try bundle.changed(by: change)
        entries[id] = changed.record.verified == .damaged ? .setAside(changed) : .published(changed)
      case .setAside(let bundle): entries[id] = .setAside(try bundle.changed(by: change))
      case .deleted, nil: break
      }
      return try Self.record(entries[id])
    }
  }

  /// Takes a bundle out of use.
  @discardableResult
  package func setAside(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    try entries.withLock { entries throws(StoreError) in
      if case .published(let bundle) = entries[id] { entries[id] = .setAside(bundle) }
      return try Self.record(entries[id])
    }
  }

  /// The ids of all bundles in one shard.
  package func ids(in shard: SnapshotShard) async throws(StoreError) -> [SnapshotID] {
    entries.withLock { entries in
      entries.compactMap { id, entry in
        Self.readable(entry) != nil && SnapshotShard(of: id) == shard ? id : nil
      }
    }
  }

  /// The records of those of `ids` that exist.
  package func records(_ ids: [SnapshotID]) async throws(StoreError) -> [SnapshotRecord] {
    entries.withLock { entries in
      ids.compactMap { entries[$0].flatMap(Self.readable) }
    }
  }

  private static func record(_ entry: Entry?) throws(StoreError) -> SnapshotRecord {
    guard let entry else { throw .notFound }
    guard let record = readable(entry) else { throw .deleted }
    return record
  }

  /// `nil` for a deleted bundle.
  private static func readable(_ entry: Entry) -> SnapshotRecord? {
    switch entry {
    case .published(let bundle): return bundle.record
    case .setAside(let bundle):
      var record = bundle.record
      record.verified = .damaged
      return record
    case .deleted: return nil
    }
  }

  /// Writes `bytes` to a file without a name, checks them, and publishes them.
  func publish(_ bytes: [UInt8], as attachment: Attachment) throws(StoreError) -> Publication {
    let place = FileManager.default.temporaryDirectory.appending(path: "in-memory-store-\(UUID().uuidString)")
    let admitted = Result { () throws(StoreError) in try admit(bytes, at: place, as: attachment) }
    do { try Folder.removeIfPresent(place.path) } catch { throw StoreError(error) }
    let (file, made) = try admitted.get()
    return try entries.withLock { entries throws(StoreError) in
      let record = attachment.id == nil && entries[made.id] != nil ? made.renamed() : made
      switch entries[record.id] {
      case .published(let existing):
        try attachment.requireRepeat(of: existing.record, sha256: record.sha256)
        return .alreadyThere(existing.record)
      case .setAside(let existing):
        try attachment.requireRepeat(of: existing.record, sha256: record.sha256)
        var repaired = existing.record
        repaired.verified = .intact
        entries[record.id] = .published(StoredBundle(record: repaired, file: file))
        return .alreadyThere(repaired)
      case .deleted:
        throw .deleted
      case nil:
        entries[record.id] = .published(StoredBundle(record: record, file: file))
        return .created(record)
      }
    }
  }
}

extension InMemoryStore {
  private func isSetAside(_ id: SnapshotID) -> Bool {
    entries.withLock { if case .setAside = $0[id] { true } else { false } }
  }

  private func admit(
    _ bytes: [UInt8], at place: URL, as attachment: Attachment
  ) throws(StoreError) -> (File, SnapshotRecord) {
    let file: File
    do {
      file = try File(place.path, .create(mode: 0o600))
      try file.write(bytes, at: 0)
    } catch {
      throw StoreError(error)
    }
    let digest = ContentDigest.of(bytes)
    try validator.requireDigest(digest, of: attachment)
    let size = Int64(bytes.count)
    var depth = validator.depth(
      for: attachment, weight: BundleCheck.weight(of: place, depth: .full) ?? size)
    var summary = try validator.check(place, depth)
    if depth == .structure, let id = attachment.id, isSetAside(id) {
      depth = .full
      summary = try validator.check(place, depth)
    }
    return (
      file, try validator.record(of: summary, depth, size: size, sha256: digest, as: attachment)
    )
  }
}

extension StoredBundle {
  fileprivate func changed(by change: RecordChange) throws(StoreError) -> StoredBundle {
    var record = record
    try change.apply(to: &record)
    return StoredBundle(record: record, file: file)
  }
}
