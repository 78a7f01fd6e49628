import Foundation
import S3Client
import SnapshotFormat
import SnapshotStore

/// The object that marks an object store as the target of a migration. Servers refuse to use such a store. It is written
/// before anything else, and deleted when the migration is complete.
///
/// Each run writes its own name into the object, and stops when it finds another one there. So if two runs copy at the
/// same time, only the later one continues.
struct MigrationMark: Sendable {
  /// The contents of the object.
  private struct Document: Codable, Hashable {
    static let presentFormat = 1

    var format = presentFormat
    /// The store that is copied.
    var origin: String
    /// The run that copies.
    var run: SnapshotID
  }

  private let store: MigratedStore
  private let document: Document

  /// Whether a migration into the store is not complete.
  static func exists(in client: S3Client) async throws(S3Error) -> Bool {
    do {
      // An answer to HEAD does not say why a store refuses.
      _ = try await client.get(ObjectKeys.migration, limit: S3StoreLimits.markBytes)
      return true
    } catch {
      if error.isNotFound { return false }
      throw error
    }
  }

  /// Begins a run. Throws if the store contains anything but the copy of an earlier run from the same origin.
  /// - Returns: the mark, and what writes to the store.
  static func begin(
    _ store: MigratedStore, origin: String
  ) async throws(TransferError) -> (MigrationMark, S3ConditionalWriter) {
    let present = try await read(store)
    if let present {
      guard present.document.origin == origin else { throw .otherOrigin(store.name) }
    } else {
      try await requireEmpty(store)
    }
    let mark = MigrationMark(store: store, document: Document(origin: origin, run: SnapshotID()))
    let bytes: Data
    do { bytes = try SnapshotJSON.encode(mark.document) } catch {
      throw TransferError(error, operation: "encode", path: ObjectKeys.migration)
    }
    let writer = try await store.access { client async throws(S3Error) in
      let writer = try await S3ConditionalWriter.proving(client, scratch: ObjectKeys.proof)
      if let present {
        _ = try await writer.replace(ObjectKeys.migration, bytes, version: present.version)
      } else {
        _ = try await writer.create(ObjectKeys.migration, bytes)
      }
      return writer
    }
    // The write may have failed because another run has begun, or may have no answer.
    try await mark.requireCurrent()
    return (mark, writer)
  }

  /// Throws ``/SnapshotStore/TransferError/superseded(_:)`` unless this run is the latest one.
  func requireCurrent() async throws(TransferError) {
    guard let present = try await Self.read(store) else {
      throw .unavailable("The mark of the migration to \(store.name) is gone; run the command again.")
    }
    guard present.document == document else { throw .superseded(store.name) }
  }

  /// Lets servers use the store.
  func remove() async throws(TransferError) {
    try await store.access { client async throws(S3Error) in try await client.delete(ObjectKeys.migration) }
  }

  private static func read(
    _ store: MigratedStore
  ) async throws(TransferError) -> (document: Document, version: S3ETag)? {
    let object = try await store.access { client async throws(S3Error) -> (Data, S3ObjectInfo)? in
      do throws(S3Error) {
        return try await client.get(ObjectKeys.migration, limit: S3StoreLimits.markBytes)
      } catch {
        if error.isNotFound { return nil }
        throw error
      }
    }
    guard let (bytes, info) = object else { return nil }
    do {
      let document = try SnapshotJSON.decode(Document.self, from: bytes)
      guard document.format == Document.presentFormat else { throw TransferError.unknownFormat(store.name) }
      return (document, info.etag)
    } catch {
      throw .unknownFormat(store.name)
    }
  }

  private static func requireEmpty(_ store: MigratedStore) async throws(TransferError) {
    let page = try await store.access { client async throws(S3Error) in try await client.list(prefix: "") }
    // A server or a run that was killed at its start can have left its proof.
    guard page.objects.allSatisfy({ $0.key.hasPrefix("\(ObjectKeys.proof)/") }) else {
      throw .occupied(store.name)
    }
  }
}
