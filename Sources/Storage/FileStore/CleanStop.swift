import Foundation
import SnapshotFormat
import SnapshotStore
import SystemIO

/// The file `clean`, which a store writes when it is closed cleanly and removes before its next change. With it,
/// the next start does not read `bundles/`.
///
/// The file is ignored if a folder in `bundles/` was changed after it was written, for example because a backup was
/// restored. That is detected by the folders' times of change, and not by reading them.
struct CleanStop: Codable, Sendable {
  /// The most unverified bundles that are listed. The next start looks for more of them in the records.
  static let pendingLimit = 1000
  private static let currentFormat = 1
  private static let sizeLimit: Int64 = 1 << 20

  private let format: Int
  /// Identifies this stop, also in the catalogue.
  let seal: Int64
  private let bundles: Int
  private let bytes: Int64
  /// The bundles whose checksums are not verified yet; `nil` if they are not known.
  let pending: [SnapshotID]?
  /// Whether there was a folder with keys; `nil` in files of earlier versions.
  let hadKeys: Bool?
  /// The digest of the folders' stamps.
  private let stamps: ContentDigest

  /// Describes the storage as it is now.
  init(_ folder: StorageFolder, pending: [SnapshotID]?) throws(SystemError) {
    let usage = folder.quotaTracker.kept
    format = Self.currentFormat
    seal = .random(in: 1 ... .max)
    bundles = usage.bundles
    bytes = usage.bytes
    self.pending = pending.flatMap { $0.count <= Self.pendingLimit ? $0 : nil }
    hadKeys = try Folder.exists(folder.layout.keys)
    stamps = try Self.stamps(folder.layout, folder.faults)
  }

  /// The number and bytes of the bundles.
  var usage: StoreUsage { StoreUsage(bundles: bundles, bytes: bytes) }

  /// Reads the file; `nil` if it is missing or unusable, or if `bundles/` was changed since.
  static func read(
    _ layout: StorageLayout, _ faults: FaultInjection
  ) throws(SystemError) -> CleanStop? {
    guard let stop = try stored(layout), try stop.stamps == stamps(layout, faults) else { return nil }
    return stop
  }

  /// Reads the file; `nil` if it is missing or unusable. What it states may have been changed since.
  static func stored(_ layout: StorageLayout) throws(SystemError) -> CleanStop? {
    guard try Folder.kind(of: layout.cleanStop) == .file else { return nil }
    let file = try File(layout.cleanStop)
    let bytes = try file.read(upTo: Int(min(file.size, sizeLimit)), at: 0)
    guard let stop = CheckedBlock.decode(CleanStop.self, from: bytes), stop.format == currentFormat
    else { return nil }
    return stop
  }

  /// Writes the file durably.
  func write(_ layout: StorageLayout) throws(SystemError) {
    let bytes: [UInt8]
    do { bytes = try CheckedBlock.encode(self) } catch {
      throw SystemError(operation: "encode", path: layout.cleanStop, code: POSIXErrorCode.EBADMSG.rawValue)
    }
    try DurableFile.replace(layout.cleanStop, with: bytes)
  }

  /// Removes the file durably, if it exists.
  static func remove(_ layout: StorageLayout) throws(SystemError) {
    do { try Folder.remove(layout.cleanStop) } catch  where error.isNotFound { return }
    try Folder.synchronize(layout.root)
  }

  private static func stamps(
    _ layout: StorageLayout, _ faults: FaultInjection
  ) throws(SystemError) -> ContentDigest {
    var text = ""
    for folder in [layout.bundles] + SnapshotShard.allCases.map(layout.folder) {
      if let stamp = try faults.stamp(folder) { text += "\(folder.suffix(2)) \(stamp)\n" }
    }
    return ContentDigest.of(Array(text.utf8))
  }
}
