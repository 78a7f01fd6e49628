import FileStore
import S3Client
import S3Store
package import SnapshotStore

/// Moves the snapshots of servers between a folder and an object store, and with them the tokens and keys.
///
/// See ``/SnapshotStore/SnapshotMigration`` for what a run does. Tokens and keys are moved at the end. Audit logs, and
/// resumable uploads that have not ended, are not moved.
package struct ServerMigration: Sendable {
  private let migration: SnapshotMigration
  /// The source, if it is a folder.
  private let folder: FolderSource?
  private let access: AccessMigration

  /// Opens the source and the target, and checks both.
  /// - Parameters:
  ///   - settings: the address of the object store and of the servers' database. ``SharedSettings/store`` is ignored.
  ///   - environment: contains the credentials of the object store.
  ///   - scratch: an existing local folder for bundles on their way.
  package static func open(
    from source: StorageAddress, to target: StorageAddress, settings: SharedSettings,
    environment: [String: String], scratch: String
  ) async throws(TransferError) -> ServerMigration {
    func store(_ address: String) throws(TransferError) -> MigratedStore {
      let bucket: S3Configuration
      do {
        bucket = try settings.bucket(at: address, of: "The object store")
      } catch {
        throw .unusable(error.description)
      }
      do {
        return MigratedStore(try S3Client(bucket, environment: environment), scratch: scratch)
      } catch {
        throw TransferError(error, at: bucket)
      }
    }
    let access = AccessMigration(from: source, to: target, settings: settings, scratch: scratch)
    let (opened, folder): (any MigrationSource, FolderSource?)
    switch source {
    case .folder(let path):
      let source = try FolderSource(path)
      (opened, folder) = (source, source)
    case .objectStore(let address):
      (opened, folder) = (try await S3MigrationSource.open(store(address)), nil)
    }
    let origin = try await opened.identity
    let destination: any MigrationTarget =
      switch target {
      case .folder(let path): try FolderTarget.open(path, origin: origin)
      case .objectStore(let address): try await S3MigrationTarget.open(store(address), origin: origin)
      }
    return ServerMigration(
      migration: SnapshotMigration(from: opened, to: destination), folder: folder, access: access)
  }

  /// Copies what is new, while servers use the source.
  package func copy(
    _ progress: (TransferReport) -> Void = { _ in }
  ) async throws(TransferError) -> TransferReport {
    try await migration.copy(progress)
  }

  /// Copies the rest with tokens and keys, verifies the target, and lets servers use it. No server may use the source,
  /// which is checked if it is a folder.
  /// - Returns: the report. If it has losses that were not accepted, the target can't be used yet.
  package func finish(
    leavingLosses: Bool, _ progress: (TransferReport) -> Void = { _ in }
  ) async throws(TransferError) -> TransferReport {
    try folder?.lockAgainstServers()
    return try await migration.finish(leavingLosses: leavingLosses, progress) {
      report async throws(TransferError) in
      // Servers without their tokens would be open to everybody.
      report.otherFiles += try await access.run()
    }
  }

  /// A sentence for the operator if a server still uses the object store that is the source, as far as the database
  /// tells; otherwise `nil`. Call it before ``finish(leavingLosses:_:)``.
  package func warning() async throws(TransferError) -> String? {
    guard folder == nil, try await access.findsServers() else { return nil }
    return """
      A server is running that uses the database. Stop all servers that use the object store, and run this command \
      again: what they change after it has ended is not moved.
      """
  }

  /// Sentences about what is not moved, and what an operator has to do about it.
  package var remarks: [String] {
    get throws(TransferError) {
      var remarks = [access.remark].compactMap(\.self)
      if let folder {
        remarks.append("Audit logs, and everything else in the former folder, stay there.")
        let uploads = try folder.countUploads()
        if uploads > 0 {
          remarks.append(
            "\(uploads) resumable uploads have not ended and stay in the former folder; their clients begin again."
          )
        }
      } else {
        remarks.append(
          "Audit logs stay in the servers' folders. Clients begin resumable uploads again that have not ended."
        )
      }
      return remarks
    }
  }
}

/// Where snapshots are stored: in a folder, or in an object store.
package enum StorageAddress: Sendable, Hashable {
  /// The path of a storage folder.
  case folder(String)
  /// The bucket, and optionally a prefix in it: `s3://bucket/prefix`.
  case objectStore(String)

  /// Reads a path or an address; `nil` for an address of another kind.
  package init?(_ text: String) {
    if text.hasPrefix("s3://") {
      self = .objectStore(text)
    } else if text.contains("://") || text.isEmpty {
      return nil
    } else {
      self = .folder(text)
    }
  }
}
