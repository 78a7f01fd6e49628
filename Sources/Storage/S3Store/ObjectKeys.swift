import S3Client
import SnapshotFormat
import SnapshotStore

/// The keys of all objects of a store, below the client's prefix.
enum ObjectKeys {
  /// The folder of the proof that the store honours conditions.
  static let proof = "proof"
  /// See ``MigrationMark``.
  static let migration = "migration.json"
  /// See ``S3ScrubProgress``.
  static let scrubbed = "scrubbed"
  /// See ``S3ClockMarks``.
  static let clock = "clock"
  /// The beginning of the keys of all records.
  static let allRecords = "records/"
  /// The beginning of the keys of all bundles' bytes.
  static let allBytes = "bytes/"
  /// The beginning of the keys of all bytes of uploads that are not published.
  static let allUploads = "uploads/"
  /// The beginning of the keys of all marks: see ``S3ChangeMarks``.
  static let marks = "unindexed/"
  /// The mark of a store that was filled by a migration.
  static let migrated = "\(marks)migrated"

  /// The object that belongs to a UUID: see ``StoredState``.
  static func record(_ id: SnapshotID) -> String { "\(records(in: SnapshotShard(of: id)))\(id)" }

  /// The beginning of the keys of all records in a shard.
  static func records(in shard: SnapshotShard) -> String { "\(allRecords)\(shard.digits)/" }

  /// The bytes of one attempt to publish a bundle. They never change.
  static func bytes(_ id: SnapshotID, attempt: SnapshotID) -> String {
    "\(allBytes)\(SnapshotShard(of: id).digits)/\(id)/\(attempt)"
  }

  /// The bytes of an upload that is not published, without its tail.
  static func upload(_ name: SnapshotID) -> String { "\(allUploads)\(name)" }

  /// The name of an upload's bytes in their key; `nil` for another key.
  static func name(ofUpload key: String) -> SnapshotID? {
    guard let name = SnapshotID(String(key.dropFirst(allUploads.count))), upload(name) == key else {
      return nil
    }
    return name
  }

  /// The UUID in the key of a record; `nil` for another key.
  static func id(ofRecord key: String) -> SnapshotID? {
    guard let id = key.split(separator: "/").last.flatMap({ SnapshotID(String($0)) }), record(id) == key
    else {
      return nil
    }
    return id
  }

  /// The UUID and the attempt in the key of a bundle's bytes; `nil` for another key.
  static func attempt(ofBytes key: String) -> (id: SnapshotID, attempt: SnapshotID)? {
    let parts = key.split(separator: "/")
    guard parts.count == 4, let id = SnapshotID(String(parts[2])), let attempt = SnapshotID(String(parts[3])),
      bytes(id, attempt: attempt) == key
    else { return nil }
    return (id, attempt)
  }
}

extension StoreError {
  /// The failure of an object store.
  init(_ error: S3Error) { self = .unavailable(error.description) }

  /// Runs `body`, and converts its error.
  static func accessing<Value>(
    _ body: () async throws(S3Error) -> Value
  ) async throws(StoreError) -> Value {
    do { return try await body() } catch { throw StoreError(error) }
  }
}
