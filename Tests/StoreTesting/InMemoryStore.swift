import Dispatch
import Foundation
package import SnapshotFormat
package import SnapshotStore
import Synchronization
import SystemIO

/// A store for tests: it obeys every rule but one, for what it holds goes with the process.
///
/// A bundle's bytes lie in a file without a name, so that they can be sent like those of any other store.
package final class InMemoryStore: BundleStore {
  private enum Entry {
    case published(StoredBundle)
    case setAside(StoredBundle)
    case deleted
  }

  let validator: UploadValidator
  private let entries = Mutex<[SnapshotID: Entry]>([:])
  /// How much uploads that may be resumed take on.
  package let uploadLimits: UploadLimits
  let uploads = Mutex<[UploadID: InMemoryResumable]>([:])
  let queue = DispatchQueue(label: "in-memory-store")

  /// An empty store.
  package init(validator: UploadValidator = UploadValidator(), uploadLimits: UploadLimits = UploadLimits()) {
    self.validator = validator
    self.uploadLimits = uploadLimits
  }

  /// Begins to take a bundle in.
  package func beginUpload(expecting length: Int64?) async throws(StoreError) -> any BundleUpload {
    InMemoryUpload(store: self)
  }

  /// The record of a bundle.
  package func record(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    try entries.withLock { entries throws(StoreError) in try Self.record(entries[id]) }
  }

  /// A bundle, open for reading.
  package func open(_ id: SnapshotID) async throws(StoreError) -> StoredBundle {
    try entries.withLock { entries throws(StoreError) in
      guard case .published(let bundle) = entries[id] else {
        _ = try Self.record(entries[id])
        throw .damaged
      }
      return bundle
    }
  }

  /// Removes a bundle for good.
  package func delete(_ id: SnapshotID) async throws(StoreError) { _ = try await delete(id) { _ in true } }

  /// Removes a bundle for good if its record is as `condition` wants it.
  package func delete(
    _ id: SnapshotID, if condition: @escaping @Sendable (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> Bool {
    try entries.withLock { entries throws(StoreError) in
      guard condition(try Self.record(entries[id])) else { return false }
      entries[id] = .deleted
      return true
    }
  }

  /// Changes what may change of a record.
  @discardableResult
  package func change(_ change: RecordChange, of id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    try entries.withLock { entries throws(StoreError) in
      switch entries[id] {
      case .published(let bundle):
        let changed = bundle.changed(by: change)
        entries[id] = changed.record.verified == .damaged ? .setAside(changed) : .published(changed)
      case .setAside(let bundle): entries[id] = .setAside(bundle.changed(by: change))
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

  /// The ids of the bundles in one part of all.
  package func ids(in shard: SnapshotShard) async throws(StoreError) -> [SnapshotID] {
    entries.withLock { entries in
      entries.compactMap { id, entry in
        Self.readable(entry) != nil && SnapshotShard(of: id) == shard ? id : nil
      }
    }
  }

  /// The records of those of `ids` that are there.
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

  /// `nil` for what is deleted.
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

  /// Gives `bytes` a file without a name, checks them, and publishes them.
  func publish(_ bytes: [UInt8], as attachment: Attachment) throws(StoreError) -> Publication {
    let place = FileManager.default.temporaryDirectory.appending(path: "in-memory-store-\(UUID().uuidString)")
    let admitted = Result { () throws(StoreError) in try admit(bytes, at: place, as: attachment) }
    do { try Folder.removeIfPresent(place.path) } catch { throw StoreError(error) }
    let (file, record) = try admitted.get()
    return try entries.withLock { entries throws(StoreError) in
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
    var depth = validator.depth(for: attachment, size: size)
    var summary = try validator.check(place, depth)
    if depth == .structure, isSetAside(attachment.id ?? summary.manifest.id) {
      depth = .full
      summary = try validator.check(place, depth)
    }
    return (
      file, try validator.record(of: summary, depth, size: size, sha256: digest, as: attachment)
    )
  }
}

extension StoredBundle {
  fileprivate func changed(by change: RecordChange) -> StoredBundle {
    var record = record
    change.apply(to: &record)
    return StoredBundle(record: record, file: file)
  }
}

private final class InMemoryUpload: BundleUpload {
  private let store: InMemoryStore
  /// What arrived; `nil` once the upload has ended.
  private let arrived = Mutex<[UInt8]?>([])

  init(store: InMemoryStore) { self.store = store }

  func append(_ bytes: IOBuffer) async throws(StoreError) {
    let isOpen = arrived.withLock { arrived in
      arrived?.append(contentsOf: bytes.bytes)
      return arrived != nil
    }
    guard isOpen else { throw .notFound }
  }

  func commit(_ attachment: Attachment) async throws(StoreError) -> Publication {
    guard let bytes = arrived.withLock({ $0.take() }) else { throw .notFound }
    return try await store.queue.perform { [store] () throws(StoreError) in
      try store.publish(bytes, as: attachment)
    }
  }

  func discard() async { arrived.withLock { $0 = nil } }
}
