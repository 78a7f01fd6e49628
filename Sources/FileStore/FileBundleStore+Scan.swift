import Foundation
import Logging
public import SnapshotFormat
public import SnapshotStore
import SystemIO

extension FileBundleStore {
  /// The ids of the bundles in one part of all.
  public func ids(in shard: SnapshotShard) async throws(StoreError) -> [SnapshotID] {
    try await scanner.perform { [shelf] () throws(StoreError) in
      let folder = "\(shelf.bundles)/\(shard.digits)"
      guard Folder.isFolder(folder) else { return [] }
      do throws(SystemError) { return try shelf.published(in: folder) } catch { throw StoreError(error) }
    }
  }

  /// The records of those of `ids` that are there, each with its identifiers. One that can't be read is left out and
  /// logged.
  public func records(_ ids: [SnapshotID]) async throws(StoreError) -> [SnapshotRecord] {
    await scanner.perform { [self] in ids.compactMap(recordIfReadable) }
  }

  private func recordIfReadable(_ id: SnapshotID) -> SnapshotRecord? {
    do throws(StoreError) {
      var record = try shelf.record(id)
      if record.identifiers == nil { record.identifiers = identifiers(of: id) }
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
      let manifest = try configuration.admission.validate(
        URL(filePath: shelf.path(.bundle, of: id)), .structure)
      return SnapshotRecord.identifiers(of: manifest)
    } catch {
      logger.warning(
        "The identifiers in a bundle can't be read", metadata: ["id": "\(id)", "error": "\(error)"])
      return nil
    }
  }
}
