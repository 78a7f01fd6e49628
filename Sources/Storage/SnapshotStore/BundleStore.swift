public import SnapshotFormat
public import SystemIO

/// Keeps bundles under their UUIDs, each with its record.
///
/// The rules that every store obeys, held to by one suite of tests:
/// - A bundle never changes. It is there whole or not at all, whatever happens at whatever moment.
/// - ``BundleUpload/commit(_:)`` returns only when bundle and record would survive a power cut, and
///   ``delete(_:)`` only when the deletion would.
/// - One UUID names one bundle for ever: the same bytes for the same report again are answered with the record
///   that is there, other bytes are refused, and a deleted UUID is never used again. Of uploads that race for a
///   UUID exactly one creates it.
/// - What was never committed leaves nothing behind, at the latest after the next start.
/// - Every method may be called from any task at any time, and none blocks the caller's executor.
public protocol BundleStore: Sendable {
  /// Begins to take a bundle in.
  /// - Parameter length: how many bytes it has, as far as the sender says so: what is bound not to fit is refused
  ///   here, as ``StoreError/outOfSpace`` or ``StoreError/quotaExceeded(limit:)``; a few KB that don't fit on the disk
  ///   may be refused when they are committed.
  func beginUpload(expecting length: Int64?) async throws(StoreError) -> any BundleUpload
  /// The record of a bundle; throws ``StoreError/notFound`` or ``StoreError/deleted``.
  func record(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord
  /// A bundle, open for reading; it stays readable even if it is deleted meanwhile. Throws
  /// ``StoreError/notFound``, ``StoreError/deleted``, or ``StoreError/damaged`` where it was set aside, where its record
  /// says that it is damaged, and where its length is not that of its record.
  func open(_ id: SnapshotID) async throws(StoreError) -> StoredBundle
  /// As ``open(_:)``, but what is told of the record comes from where it is kept, not from memory: for looking whether
  /// all is as it was written.
  func openAnew(_ id: SnapshotID) async throws(StoreError) -> StoredBundle
  /// Removes a bundle and its record for good, leaving a tombstone that holds nothing but the UUID. Throws
  /// ``StoreError/notFound`` where there never was one, ``StoreError/deleted`` where it is gone already.
  func delete(_ id: SnapshotID) async throws(StoreError)
  /// Deletes a bundle as ``delete(_:)`` does if its record is as `condition` wants it at that very moment: no change
  /// of the record comes between.
  /// - Returns: whether it was deleted.
  func delete(
    _ id: SnapshotID, if condition: @escaping @Sendable (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> Bool
  /// Changes what may change of a record, and returns it as it is then, when that would survive a power cut. Changes
  /// at the same time are all made. Throws ``StoreError/notFound`` or ``StoreError/deleted``.
  @discardableResult
  func change(_ change: RecordChange, of id: SnapshotID) async throws(StoreError) -> SnapshotRecord
  /// Takes a bundle out of use whose bytes are not those any more that came: from here on its record says `damaged`,
  /// and ``open(_:)`` throws ``StoreError/damaged``, until the same bytes for the same report come again, which are
  /// checked whole and put it right. Its bytes are kept for people to look at. Harmless where it was done before.
  /// - Returns: the record as it is then.
  @discardableResult
  func setAside(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord
  /// Why no bundle can be taken in at the moment; `nil` where nothing is known to be wrong. Answers within seconds.
  func fault() async -> StorageFault?
  /// The ids in one part of all, in no order: of all that is neither deleted nor absent, readable or not.
  func ids(in shard: SnapshotShard) async throws(StoreError) -> [SnapshotID]
  /// The records of those of `ids` that are there, in no order, each with its identifiers: those of a record that
  /// has none are read out of the bundle. One that can't be read is left out and logged.
  func records(_ ids: [SnapshotID]) async throws(StoreError) -> [SnapshotRecord]
  /// What rules ask for of the records of those of `ids` that are there, in no order. One that can't be read is left
  /// out and logged.
  func summaries(_ ids: [SnapshotID]) async throws(StoreError) -> [RetentionSummary]
}

extension BundleStore {
  /// Nothing is wrong.
  public func fault() async -> StorageFault? { nil }

  /// The most records that ``scan(_:)`` holds at once.
  public static var scanLength: Int { 1000 }

  /// As ``records(_:)``, as far as rules ask for it.
  public func summaries(_ ids: [SnapshotID]) async throws(StoreError) -> [RetentionSummary] {
    try await records(ids).map(RetentionSummary.init)
  }

  /// Every record, in no order and in batches, so that memory does not grow with the store: what a catalogue is
  /// built from. What arrives meanwhile may be missing.
  public func scan(_ visit: ([SnapshotRecord]) async throws -> Void) async throws {
    try await forEachBatch { ids in try await visit(try await records(ids)) }
  }

  /// Every id, in no order and in batches.
  func forEachBatch(_ visit: ([SnapshotID]) async throws -> Void) async throws {
    for shard in SnapshotShard.allCases {
      let ids = try await ids(in: shard)
      for start in stride(from: 0, to: ids.count, by: Self.scanLength) {
        try await visit(Array(ids[start..<min(start + Self.scanLength, ids.count)]))
      }
    }
  }

  /// Every record, in no order: for stores that are known to be small.
  public func allRecords() async throws -> [SnapshotRecord] {
    var all: [SnapshotRecord] = []
    try await scan { all += $0 }
    return all
  }

  /// Begins to take in a bundle of a length that nobody knows.
  public func beginUpload() async throws(StoreError) -> any BundleUpload {
    try await beginUpload(expecting: nil)
  }

  /// As ``open(_:)``, for stores that keep nothing of it in memory, or nothing anywhere else.
  public func openAnew(_ id: SnapshotID) async throws(StoreError) -> StoredBundle { try await open(id) }
}

/// A bundle on its way in. Used by one task at a time; ends with ``commit(_:)`` or ``discard()``.
public protocol BundleUpload: Sendable {
  /// Takes the next bytes, in order; returns when there is room for more, which may be before they are written.
  ///
  /// What goes wrong with bytes that were taken is thrown by the next call, whichever it is. Once the upload has
  /// failed, every call throws the first failure; once it has ended, ``StoreError/notFound``.
  func append(_ bytes: IOBuffer) async throws(StoreError)
  /// Checks what arrived, and publishes it. When it throws, nothing of the upload is left.
  func commit(_ attachment: Attachment) async throws(StoreError) -> Publication
  /// Removes what arrived. Harmless after ``commit(_:)``, and twice.
  func discard() async
}

/// A bundle that can be read.
public struct StoredBundle: Sendable {
  /// What is known of it.
  public let record: SnapshotRecord
  /// Its bytes.
  public let file: File

  /// Pairs a record with its bytes.
  public init(record: SnapshotRecord, file: File) {
    self.record = record
    self.file = file
  }
}
