import Dispatch
import Foundation
import HTTPArchiveImport
package import Logging
import Redaction
import SnapshotAPI
package import SnapshotFormat
import SnapshotService
import SnapshotStore
package import SystemIO

/// Makes snapshots of HTTP archives that are uploaded in forms. Secrets are removed by the rules that an app calls
/// `usualSecrets`. Archives are converted in turn.
///
/// The archive as it arrived is in a file without a name, which the system removes with the process. Only its redacted
/// parts are in the folder, while they are packed.
package struct HTTPArchiveConverter: BundleConverter {
  /// The maximum size of an archive, in bytes.
  package static let maximumSize: Int64 = 512 << 20
  /// The space that a conversion needs for the parts and the bundle, as a multiple of the archive's size.
  private static let neededSizes: Int64 = 2
  private static let pieceSize = 256 << 10

  private let folder: String
  private let reserve: Int64
  private let limit: Int64
  private let logger: Logger
  private let queue = ServerQueues.shared.background.next

  /// - Parameters:
  ///   - folder: a folder for this purpose alone, which is created when it is needed.
  ///   - reserve: the number of bytes of the disk that conversions leave free.
  ///   - limit: the maximum size of an archive, in bytes.
  ///   - logger: gets what can't be removed.
  package init(in folder: String, reserve: Int64, limit: Int64 = Self.maximumSize, logger: Logger) {
    (self.folder, self.reserve, self.limit, self.logger) = (folder, reserve, limit, logger)
  }

  /// Removes what a conversion left that was interrupted. Call it before the first.
  package func removeRemains() throws(SystemError) {
    if try Folder.exists(folder) { try Folder.removeTree(folder) }
  }

  package func converts(_ fileName: String) -> Bool { fileName.lowercased().hasSuffix(".har") }

  package func bundle(
    of name: String, for report: ReportID, _ next: () async throws -> IOBuffer?
  ) async throws -> @Sendable () async throws -> IOBuffer? {
    let archive = try await stage(next)
    let bundle = try await queue.perform { try convert(archive, name, report) }
    let position = Lock<Int64>(0)
    return {
      let bytes = try await onDisk { () throws(SystemError) in
        try bundle.read(upTo: Self.pieceSize, at: position.value)
      }
      position.add(Int64(bytes.count))
      return bytes.isEmpty ? nil : IOBuffer(bytes)
    }
  }

  /// Writes the archive to a file without a name.
  private func stage(_ next: () async throws -> IOBuffer?) async throws -> File {
    let file = try await onDisk { () throws(SystemError) in
      try Folder.createDurably(folder)
      return try File(temporaryIn: folder)
    }
    var size: Int64 = 0
    while let piece = try await next() {
      let start = size
      size += Int64(piece.count)
      guard size <= limit else {
        throw ConversionRefusal(
          "The HTTP archive has more than \(limit) bytes. Make a bundle with `snapshot import`, and upload that."
        )
      }
      try await onDisk { () throws(SystemError) in try file.write(piece.bytes, at: start) }
    }
    let needed = size * Self.neededSizes + reserve
    guard try await onDisk({ () throws(SystemError) in try Folder.availableBytes(folder) }) >= needed else {
      throw StoreError.outOfSpace
    }
    return file
  }

  private func onDisk<Value: Sendable>(
    _ work: @escaping @Sendable () throws(SystemError) -> Value
  ) async throws(StoreError) -> Value {
    do { return try await ServerQueues.shared.writers.next.perform(work) } catch { throw StoreError(error) }
  }

  /// Returns the bundle, in a file without a name.
  private func convert(_ archive: File, _ name: String, _ report: ReportID) throws -> File {
    let parts = folder + "/" + UUID().uuidString
    do {
      try Folder.create(parts)
      defer {
        do { try Folder.removeTree(parts) } catch {
          logger.warning(
            "The parts of an HTTP archive stay until the next start", metadata: ["error": "\(error)"])
        }
      }
      let imported = try ArchiveImport(
        ArchiveFile(archive, named: name), by: RedactionRules(.usualSecrets),
        in: URL(filePath: parts, directoryHint: .isDirectory))
      let bundle = parts + "/bundle.zip"
      _ = try imported.pack(to: URL(filePath: bundle), report: report)
      return try File(bundle)
    } catch let error as ArchiveImportError {
      if let cause = error.systemError { throw StoreError(cause) }
      throw ConversionRefusal(error.description)
    } catch let error as SystemError {
      throw StoreError(error)
    }
  }
}
