import Foundation
import Logging
package import SnapshotFormat
package import SnapshotStore
import SystemIO

extension FileBundleStore {
  /// The ids of the bundles in one part of all.
  package func ids(in shard: SnapshotShard) async throws(StoreError) -> [SnapshotID] {
    try await scanner.perform { [layout] () throws(StoreError) in
      let folder = "\(layout.bundles)/\(shard.digits)"
      do throws(SystemError) {
        guard try Folder.kind(of: folder) == .folder else { return [] }
        return try layout.published(in: folder)
      } catch {
        throw StoreError(error)
      }
    }
  }

  /// The records of those of `ids` that are there, each with its identifiers. One that can't be read is left out and
  /// logged.
  package func records(_ ids: [SnapshotID]) async throws(StoreError) -> [SnapshotRecord] {
    await scanner.perform { [self] in
      ids.compactMap { id in
        recordIfReadable(id) { record in
          if record.identifiers == nil { record.identifiers = identifiers(of: id) }
        }
      }
    }
  }

  /// What rules ask for of the records of those of `ids` that are there. One that can't be read is left out and logged.
  package func summaries(_ ids: [SnapshotID]) async throws(StoreError) -> [RetentionSummary] {
    await keeper.perform { [self] in
      ids.compactMap { id in recordIfReadable(id) { _ in }.map(RetentionSummary.init) }
    }
  }

  /// A record, which is not kept in memory: for those who read all.
  private func recordIfReadable(
    _ id: SnapshotID, _ complete: (inout SnapshotRecord) -> Void
  ) -> SnapshotRecord? {
    do throws(StoreError) {
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

  /// Those in the bundle itself: records of before don't repeat them. A bundle that can't be read has none to be found
  /// by, and is listed all the same.
  private func identifiers(of id: SnapshotID) -> [String]? {
    do {
      return try configuration.validator.recheck(
        URL(filePath: layout.path(.bundle, of: id)), .structure
      ).summary.identifiers
    } catch {
      logger.warning(
        "The identifiers in a bundle can't be read", metadata: ["id": "\(id)", "error": "\(error)"])
      return nil
    }
  }
}
