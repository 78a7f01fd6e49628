import SnapshotFormat
import SnapshotStore
package import SystemIO

/// Something in a storage folder that is missing, or is not what it must be: a link, or a file of another kind.
///
/// The folder that a setting or an argument names may be a link, which is resolved once. Inside it nothing is followed:
/// half of a storage on another disk could be missing, or be another storage's, without an error.
package struct StorageFlaw: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  package enum Reason: Sendable, Hashable {
    case link
    /// A file or something else where a folder belongs.
    case notFolder
    /// A folder, a pipe, a device or a socket where a file belongs.
    case notFile
    /// It was there, and it is gone.
    case missing
    /// A folder of bundles has none, and had some.
    case empty
  }

  /// The path in the storage folder; empty for the folder itself.
  package let name: String
  package let reason: Reason
  private let root: String

  init(_ name: String, _ reason: Reason, in root: String) {
    self.name = name
    self.reason = reason
    self.root = root
  }

  private var path: String { name.isEmpty ? root : "\(root)/\(name)" }

  /// What is wrong, as a sentence.
  package var text: String {
    switch reason {
    case .link: "\(path) is a symbolic link, and inside a storage folder links are not followed."
    case .notFolder: "\(path) is not a folder."
    case .notFile: "\(path) is not a regular file."
    case .missing: "\(path) is missing, which was there before."
    case .empty: "\(path) is empty, and had snapshots before."
    }
  }

  /// How to correct it, as sentences.
  package var mend: String {
    switch (reason, name) {
    case (_, ""): "Name a folder."
    case (.link, _):
      """
      Put what it leads to in its place, or mount the other disk there. The whole storage can be elsewhere: the folder \
      that a setting or an option names may be a link.
      """
    case (.notFolder, _), (.notFile, _):
      "Move it away, and restore what belongs there from the backup; if it was never there, it is made again."
    case (.missing, "bundles"), (.empty, _):
      """
      Mount its disk, or restore it from the backup. If its snapshots are lost for good, make an empty folder of this \
      name, and remove \(root)/clean.
      """
    case (.missing, _):
      """
      Restore it from the backup: without it no token and no link is valid. If it is lost for good, remove \(root)/tokens \
      and \(root)/clean, and create new tokens.
      """
    }
  }

  package var description: String { "\(text) \(mend)" }
}

// MARK: - Finding

extension StorageFlaw {
  private static let folders: Set<String> = [
    "bundles", "uploads", "keys", "tokens", "set-aside", "tls", "objects", BackupFolder.indexName,
    BackupFolder.incompleteName,
  ]
  private static let files: Set<String> = [
    "lock", "clean", "scrubbed", "catalog.sqlite", "catalog.sqlite-wal", "webhooks.sqlite",
    "webhooks.sqlite-wal", "audit-id",
    "audit.log",
    "audit-refused.log", "incomplete-restore", BackupFolder.markerName,
  ]
  /// Folders that contain only files.
  private static let fileFolders: Set<String> = ["keys", "tls", "tokens"]
  private static let shards = Set(SnapshotShard.allCases.map(\.digits))

  /// Every flaw of the storage folder at `root`.
  /// - Parameter isThorough: whether to look at every file, and not only at folders and keys.
  package static func all(
    in root: String, isThorough: Bool = false
  ) throws(SystemError) -> [StorageFlaw] {
    let misplaced = try misplaced(in: root, isThorough: isThorough)
    // Behind a link everything seems to be missing.
    return misplaced.isEmpty ? try missing(in: root) : misplaced
  }

  /// Every link, and everything that is not of its kind, in a storage folder or a backup.
  package static func misplaced(
    in root: String, isThorough: Bool = false
  ) throws(SystemError) -> [StorageFlaw] {
    switch try Folder.kind(of: root) {
    case nil: return []
    case .link: return [StorageFlaw("", .link, in: root)]
    case .file, .other: return [StorageFlaw("", .notFolder, in: root)]
    case .folder: break
    }
    var flaws: [StorageFlaw] = []
    for (name, kind) in try Folder.kinds(in: root) where !name.hasPrefix(".") {
      if let reason = reason(kind, isFolder: folders.contains(name), isFile: files.contains(name)) {
        flaws.append(StorageFlaw(name, reason, in: root))
      } else if kind == .folder, folders.contains(name) {
        flaws += try misplaced(in: root, below: name, isThorough)
      }
    }
    return flaws
  }

  private static func misplaced(
    in root: String, below folder: String, _ isThorough: Bool
  ) throws(SystemError) -> [StorageFlaw] {
    // Tokens are many, and each is looked at when it is read.
    guard isThorough || ["bundles", "keys", "tls"].contains(folder) else { return [] }
    var flaws: [StorageFlaw] = []
    for (name, kind) in try Folder.kinds(in: "\(root)/\(folder)") {
      let isFolder = folder == "bundles" && shards.contains(name)
      if let reason = reason(kind, isFolder: isFolder, isFile: fileFolders.contains(folder)) {
        flaws.append(StorageFlaw("\(folder)/\(name)", reason, in: root))
      } else if kind == .folder, isThorough {
        flaws += try misplaced(in: root, below: "\(folder)/\(name)", isThorough)
      }
    }
    return flaws
  }

  private static func reason(
    _ kind: OpenFolder.Status.Kind, isFolder: Bool, isFile: Bool
  ) -> Reason? {
    if kind == .link { return .link }
    if isFolder, kind != .folder { return .notFolder }
    return isFile && kind != .file ? .notFile : nil
  }

  /// What a storage folder has lost, as far as it tells: what the last clean stop states, a lock without bundles, and
  /// tokens without their key.
  private static func missing(in root: String) throws(SystemError) -> [StorageFlaw] {
    let layout = StorageLayout(root: root)
    guard try Folder.kind(of: root) == .folder else { return [] }
    let stop = try CleanStop.stored(layout)
    let hadBundles = if let stop { stop.usage.bundles > 0 } else { false }
    if try Folder.kind(of: layout.bundles) == nil {
      // A server makes the folder before it makes the lock.
      let wasUsed = try stop == nil ? Folder.exists(layout.lock) : hadBundles
      if wasUsed { return [StorageFlaw("bundles", .missing, in: root)] }
    } else if hadBundles, try layout.shards().isEmpty {
      return [StorageFlaw("bundles", .empty, in: root)]
    }
    let hasTokens = try hasTokens(in: root)
    if hasTokens || stop?.hadKeys == true, try !Folder.hasFolder(layout.keys) {
      return [StorageFlaw("keys", .missing, in: root)]
    }
    if hasTokens, try !Folder.exists(layout.keys + "/tokens") {
      return [StorageFlaw("keys/tokens", .missing, in: root)]
    }
    return []
  }

  /// Whether there is a file with the name of a token, which is 12 hexadecimal digits.
  private static func hasTokens(in root: String) throws(SystemError) -> Bool {
    guard try Folder.hasFolder("\(root)/tokens") else { return false }
    return try Folder.entries("\(root)/tokens").contains { name in
      name.utf8.count == 17 && name.hasSuffix(".json") && name.prefix(12).allSatisfy(\.isHexDigit)
    }
  }
}

extension TransferError {
  /// Throws ``unusable(_:)`` with the first flaw of a storage folder.
  static func requireSound(_ root: String) throws(TransferError) {
    try require { () throws(SystemError) in try StorageFlaw.all(in: root) }
  }

  /// Throws ``unusable(_:)`` if a storage folder or a backup contains a link, or a file of another kind.
  static func requireNothingMisplaced(_ root: String) throws(TransferError) {
    try require { () throws(SystemError) in try StorageFlaw.misplaced(in: root) }
  }

  private static func require(_ find: () throws(SystemError) -> [StorageFlaw]) throws(TransferError) {
    let flaws: [StorageFlaw]
    do { flaws = try find() } catch { throw .system(error) }
    if let flaw = flaws.first { throw .unusable(flaw.description) }
  }
}
