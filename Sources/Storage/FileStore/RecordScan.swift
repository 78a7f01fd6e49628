import Dispatch
import Foundation
import Logging
import SnapshotFormat
import SnapshotStore
import SystemIO

/// Reads every record, for the catalogue, for retention and for scrubbing.
final class RecordScan: Sendable {
  private let layout: StorageLayout
  private let logger: Logger
  private let validate: UploadValidator.Validator
  /// Reads one record at a time, so that readers of bundles find a free queue.
  private let scanner: DispatchQueue
  /// For retention and scrubbing, which no client waits for.
  private let keeper: BackgroundQueue

  /// - Parameter validate: reads the identifiers from a bundle if its record lacks them.
  init(_ folder: StorageFolder, on queues: ServerQueues, validate: @escaping UploadValidator.Validator) {
    scanner = queues.background.next
    keeper = queues.maintenance
    layout = folder.layout
    logger = folder.logger
    self.validate = validate
  }

  /// Opens a bundle for reading, with its record as stored in the file.
  func openAnew(_ id: SnapshotID) async throws(StoreError) -> StoredBundle {
    try await keeper.perform { [layout] () throws(StoreError) in
      do throws(StoreError) {
        return try layout.open(id, anew: true)
      } catch {
        layout.forget(id)
        throw error
      }
    }
  }

  /// The ids of all bundles in one shard.
  func ids(in shard: SnapshotShard) async throws(StoreError) -> [SnapshotID] {
    try await scanner.perform { [layout] () throws(StoreError) in
      let folder = layout.folder(of: shard)
      return try StoreError.disk { () throws(SystemError) in
        guard try Folder.hasFolder(folder) else { return [] }
        return try layout.published(in: folder)
      }
    }
  }

  /// The records of those of `ids` that exist, each with its identifiers. A record that can't be read is omitted and
  /// logged.
  func records(_ ids: [SnapshotID]) async -> [SnapshotRecord] {
    await scanner.perform { [self] in
      ids.compactMap { id in
        recordIfReadable(id) { record in
          if record.identifiers == nil { record.identifiers = identifiers(of: id) }
        }
      }
    }
  }

  /// The retention summaries of those of `ids` that exist. A record that can't be read is omitted and logged.
  func summaries(_ ids: [SnapshotID]) async -> [RetentionSummary] {
    await keeper.perform { [self] in
      ids.compactMap { id in recordIfReadable(id) { _ in }.map(RetentionSummary.init) }
    }
  }

  /// Reads a record without caching it, since a full scan would evict all others.
  private func recordIfReadable(
    _ id: SnapshotID, _ complete: (inout SnapshotRecord) -> Void
  ) -> SnapshotRecord? {
    do {
      var record = try layout.asServed(layout.storedRecord(id))
      complete(&record)
      return record
    } catch {
      switch error {
      case .deleted, .notFound: break
      default: logger.error("A record can't be read", metadata: ["id": "\(id)", "error": "\(error)"])
      }
      return nil
    }
  }

  /// Reads the identifiers from the bundle itself, because records written by older versions don't contain them. A
  /// bundle that can't be read has none: it is listed, but can't be found by an identifier.
  private func identifiers(of id: SnapshotID) -> [String]? {
    do {
      return try validate(
        URL(filePath: layout.path(.bundle, of: id)), .structure
      ).summary.identifiers
    } catch {
      logger.warning(
        "The identifiers in a bundle can't be read", metadata: ["id": "\(id)", "error": "\(error)"])
      return nil
    }
  }
}
