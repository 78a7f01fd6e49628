public import SnapshotFormat
public import SystemIO

/// Stores bundles under their UUIDs, each with its record. Bundles are added by an ``UploadStore``.
///
/// Every store guarantees the following, and one test suite checks it for all of them:
/// - A bundle never changes. It exists completely or not at all, even after a crash at any moment.
/// - A bundle whose upload was answered survives a power cut, with its record. ``delete(_:)`` returns only when the
///   deletion is durable.
/// - A UUID names one bundle for ever. Uploading the same bytes for the same report again returns the existing record,
///   other bytes are refused, and the UUID of a deleted bundle is never used again. If several uploads race for a UUID,
///   exactly one of them creates the bundle.
/// - An upload that was never committed leaves nothing behind, at the latest when the next store has repaired the
///   remains of a crash.
/// - All methods can be called from any task at any time, and none blocks the caller's executor.
public protocol BundleStore: Sendable {
  /// Returns the record of a bundle. Throws ``StoreError/notFound`` or ``StoreError/deleted``.
  func record(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord
  /// Opens a bundle for reading. It remains readable even if it is deleted in the meantime. Throws
  /// ``StoreError/notFound``, ``StoreError/deleted``, or ``StoreError/damaged`` if it was set aside, if its record
  /// marks it as damaged, or if its length differs from its record's.
  func open(_ id: SnapshotID) async throws(StoreError) -> StoredBundle
  /// Like ``open(_:)``, but reads the record from storage instead of a cache, to verify that it is as it was written.
  func openAnew(_ id: SnapshotID) async throws(StoreError) -> StoredBundle
  /// Opens a bundle for reading if `isVisible` is true of its record; otherwise throws ``StoreError/notFound``. The record
  /// is checked before the bundle is.
  func open(
    _ id: SnapshotID, if isVisible: @Sendable (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> StoredBundle
  /// Like ``open(_:if:)``, but does not wait for all bytes of the bundle if the store has to read them from another
  /// machine.
  func contents(
    _ id: SnapshotID, if isVisible: @Sendable (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> BundleContents
  /// Removes a bundle and its record permanently. A tombstone remains that contains only the UUID. Throws
  /// ``StoreError/notFound`` if there never was such a bundle, and ``StoreError/deleted`` if it was deleted before.
  func delete(_ id: SnapshotID) async throws(StoreError)
  /// Deletes a bundle like ``delete(_:)`` if its record satisfies `condition`. The check and the deletion are atomic:
  /// the record can't change in between.
  /// - Returns: whether the bundle was deleted.
  func delete(
    _ id: SnapshotID, if condition: @escaping @Sendable (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> Bool
  /// Changes a record, and returns the changed record once it is durable. Concurrent changes are all applied. Throws
  /// ``StoreError/notFound``, ``StoreError/deleted``, or the error of ``RecordChange/apply(to:limits:)``.
  @discardableResult
  func change(_ change: RecordChange, of id: SnapshotID) async throws(StoreError) -> SnapshotRecord
  /// Takes a damaged bundle out of use. From then on its record is marked as `damaged`, and ``open(_:)`` throws
  /// ``StoreError/damaged``, until the original bytes are uploaded again for the same report; they are checked in full
  /// and repair the bundle. The damaged bytes are kept for the operator to inspect. Can be called repeatedly.
  /// - Returns: the changed record.
  @discardableResult
  func setAside(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord
  /// Returns the reason why the store can accept no bundle at the moment; `nil` if none is known. Returns within
  /// seconds.
  func fault() async -> StorageFault?
  /// The number of shards that are still to be repaired after a crash. Each is repaired before its first use, and all of
  /// them in the background.
  var remainingRepairs: Int { get }
  /// Returns the ids in one shard, in no particular order. The ids of deleted bundles are omitted; those of unreadable
  /// ones are included.
  func ids(in shard: SnapshotShard) async throws(StoreError) -> [SnapshotID]
  /// Returns the records of those of `ids` that exist, in no particular order, each with its identifiers. If a record
  /// lacks them, they are read from the bundle. A record that can't be read is omitted and logged.
  func records(_ ids: [SnapshotID]) async throws(StoreError) -> [SnapshotRecord]
  /// Returns the retention summaries of those of `ids` that exist, in no particular order. A record that can't be read
  /// is omitted and logged.
  func summaries(_ ids: [SnapshotID]) async throws(StoreError) -> [RetentionSummary]
}

extension BundleStore {
  /// Returns `nil`: no fault is known.
  public func fault() async -> StorageFault? { nil }

  /// 0: nothing needs a repair.
  public var remainingRepairs: Int { 0 }

  /// The most records that ``scan(_:)`` holds in memory at once.
  public static var scanLength: Int { 1000 }

  /// Makes the summaries from ``records(_:)``.
  public func summaries(_ ids: [SnapshotID]) async throws(StoreError) -> [RetentionSummary] {
    try await records(ids).map(RetentionSummary.init)
  }

  /// Passes every record to `visit`, in no particular order and in batches, so that memory use does not grow with the
  /// store. Used to build a catalogue. Bundles that are added during the scan may be missing.
  public func scan(_ visit: ([SnapshotRecord]) async throws -> Void) async throws {
    try await forEachBatch { ids in try await visit(try await records(ids)) }
  }

  /// Passes every id to `visit`, in no particular order and in batches.
  func forEachBatch(_ visit: ([SnapshotID]) async throws -> Void) async throws {
    for shard in SnapshotShard.allCases {
      let ids = try await ids(in: shard)
      for start in stride(from: 0, to: ids.count, by: Self.scanLength) {
        try await visit(Array(ids[start..<min(start + Self.scanLength, ids.count)]))
      }
    }
  }

  /// Returns every record, in no particular order. Only for stores that are known to be small.
  public func allRecords() async throws -> [SnapshotRecord] {
    var all: [SnapshotRecord] = []
    try await scan { all += $0 }
    return all
  }

  /// Calls ``open(_:)``: for stores without a cache, and stores that keep everything in memory.
  public func openAnew(_ id: SnapshotID) async throws(StoreError) -> StoredBundle { try await open(id) }

  /// Calls ``record(_:)`` and then ``open(_:)``: for stores that have the records at hand.
  public func open(
    _ id: SnapshotID, if isVisible: @Sendable (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> StoredBundle {
    guard isVisible(try await record(id)) else { throw .notFound }
    return try await open(id)
  }

  /// Calls ``open(_:if:)``: for stores that have the bytes at hand.
  public func contents(
    _ id: SnapshotID, if isVisible: @Sendable (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> BundleContents {
    let bundle = try await open(id, if: isVisible)
    return BundleContents(record: bundle.record, bytes: .file(bundle.file))
  }
}

/// A bundle that is open for reading.
public struct StoredBundle: Sendable {
  /// The record of the bundle.
  public let record: SnapshotRecord
  /// The bytes of the bundle.
  public let file: File

  /// Pairs a record with its bytes.
  public init(record: SnapshotRecord, file: File) {
    self.record = record
    self.file = file
  }
}

/// A bundle whose bytes are to be sent.
public struct BundleContents: Sendable {
  /// The source of the bytes.
  public enum Bytes: Sendable {
    /// A file with all of them.
    case file(File)
    /// They are read from another machine while they are sent. The closure is called with a range, and returns another
    /// one; each call of that returns the next bytes of the range, and `nil` at the end. It throws ``StoreError``.
    case arriving(@Sendable (Range<Int64>) -> @Sendable () async throws -> [UInt8]?)
  }

  /// The record of the bundle.
  public let record: SnapshotRecord
  /// The bytes of the bundle.
  public let bytes: Bytes

  /// Pairs a record with its bytes.
  public init(record: SnapshotRecord, bytes: Bytes) {
    self.record = record
    self.bytes = bytes
  }
}

/// The result of a successful upload.
public enum Publication: Sendable, Hashable {
  /// A new bundle was published.
  case created(SnapshotRecord)
  /// The same bytes were already published for the same report.
  case alreadyThere(SnapshotRecord)

  /// The record of the bundle in both cases.
  public var record: SnapshotRecord {
    switch self {
    case .created(let record), .alreadyThere(let record): record
    }
  }
}

/// The contents of a store.
public struct StoreUsage: Sendable, Hashable {
  /// The number of bundles, including those that were set aside as damaged.
  public var bundles: Int
  /// The total size of the bundles in bytes.
  public var bytes: Int64
  /// The number of published bundles whose bytes are gone, as far as that is known. ``bundles`` does not include them.
  public var lost: Int

  /// Creates a usage.
  public init(bundles: Int = 0, bytes: Int64 = 0, lost: Int = 0) {
    self.bundles = bundles
    self.bytes = bytes
    self.lost = lost
  }
}
