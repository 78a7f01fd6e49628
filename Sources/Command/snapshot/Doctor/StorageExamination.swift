import AccessControl
import FileStore
import SnapshotFormat
import SnapshotServer
import SystemIO

/// Examines a storage folder and its disk. Changes nothing.
struct StorageExamination {
  /// The share of the disk, and of its inodes, below which there is a warning: 90 % are used.
  private static let scarceShare = 0.1
  private static let shownFlaws = 20
  /// The most snapshots that a finding names.
  private static let namedSnapshots = 5
  private let topic = "storage"
  private let path: String
  private let settings: ServerSettings
  private let user: UInt32

  /// - Parameter user: the user id that the command runs as.
  init(_ settings: ServerSettings, user: UInt32 = CurrentUser.id) {
    path = settings.storage
    self.settings = settings
    self.user = user
  }

  func run() -> [Finding] {
    do {
      guard let folder = try Folder.ownership(of: path) else {
        return [
          .error(
            topic, "There is no storage folder \(path).",
            mend: "Name it with --storage or --config; the server creates it at its first start.")
        ]
      }
      guard user == 0 || folder.owner == user else {
        return [
          .error(
            topic, "\(path) belongs to the user \(folder.owner), and this command runs as \(user).",
            mend: "Run it as the user of the server: sudo -u '#\(folder.owner)' snapshot doctor.")
        ]
      }
      // What is behind a link, or in the place of a folder, is not examined.
      let flaws = try flaws()
      return try flaws.isEmpty
        ? access(folder) + disk() + contents() + tokens() : flaws + (Folder.isFolder(path) ? disk() : [])
    } catch {
      return [.error(topic, "The storage can't be examined: \(error)", mend: "Check the disk and its log.")]
    }
  }

  /// What is missing, or is not what it must be.
  private func flaws() throws(SystemError) -> [Finding] {
    // Servers that share their snapshots have no bundles there, and get their keys from the others.
    let found =
      try settings.shared.isEnabled
      ? StorageFlaw.misplaced(in: path, isThorough: true) : StorageFlaw.all(in: path, isThorough: true)
    return found.prefix(Self.shownFlaws).map { .error(topic, $0.text, mend: $0.mend) }
  }

  /// Whether others can read private files, and the server all of its own.
  private func access(_ folder: Folder.Ownership) throws(SystemError) -> [Finding] {
    var findings: [Finding] = []
    if folder.isOpenToOthers {
      findings.append(
        .error(
          "permissions", "Other users of this machine have access to \(path).", mend: "chmod 0700 \(path)"))
    }
    var foreign: [String] = []
    var open: [String] = []
    for name in ["keys", "tokens", "bundles", "uploads"] where Folder.isFolder("\(path)/\(name)") {
      let isSecret = name == "keys" || name == "tokens"
      let inner = isSecret || name == "bundles" ? try Folder.entries("\(path)/\(name)") : []
      for entry in [name] + inner.map({ "\(name)/\($0)" }) {
        guard let found = try Folder.ownership(of: "\(path)/\(entry)") else { continue }
        if found.owner != folder.owner { foreign.append(entry) }
        if isSecret, found.isOpenToOthers { open.append(entry) }
      }
    }
    if let first = foreign.first {
      findings.append(
        .error(
          "permissions",
          "\(first) and \(foreign.count - 1) more files belong to another user than the storage folder.",
          mend: "chown -R '#\(folder.owner)' \(path)"))
    }
    if let first = open.first {
      findings.append(
        .error(
          "permissions", "Other users can read \(first) and \(open.count - 1) more secret files.",
          mend: "chmod -R go-rwx \(path)/keys \(path)/tokens"))
    }
    if findings.isEmpty { findings.append(.ok("permissions", "Only the owner has access to \(path).")) }
    return findings
  }

  private func disk() throws(SystemError) -> [Finding] {
    var findings: [Finding] = []
    if let kind = try Volume.unsuitableKind(of: path) {
      findings.append(
        .warning(
          "disk", "\(path) is in a file system of the kind \(kind).",
          mend: "Use a local disk with ext4, XFS or Btrfs: others can lose what was confirmed."))
    }
    let capacity = try Folder.capacity(of: path)
    let free = Console.size(capacity.freeBytes)
    if capacity.freeBytes < settings.reservedBytes {
      findings.append(
        .error(
          "disk", "\(free) are free, fewer than reservedBytes, so that uploads are refused with 507.",
          mend: "Free space, let snapshots expire (retention), or move the storage to a larger disk."))
    } else if Double(capacity.freeBytes) < Double(capacity.bytes) * Self.scarceShare {
      findings.append(
        .warning(
          "disk", "Only \(free) of \(Console.size(capacity.bytes)) are free.",
          mend: "Let snapshots expire (retention), or set quotaBytes."))
    }
    if capacity.files > 0, Double(capacity.freeFiles) < Double(capacity.files) * Self.scarceShare {
      let mend = "Remove files, or use a file system with more inodes, or without a limit (XFS, Btrfs)."
      findings.append(
        capacity.freeFiles == 0
          ? .error("disk", "The file system has no free inodes, so that uploads are refused.", mend: mend)
          : .warning(
            "disk", "Only \(capacity.freeFiles) of \(capacity.files) inodes are free.", mend: mend))
    }
    if findings.isEmpty { findings.append(.ok("disk", "\(free) are free.")) }
    do {
      if user != 0 { _ = try File(temporaryIn: path) }
    } catch {
      findings.append(
        .error(
          "disk", "\(path) can't be written: \(error)", mend: "Mount the disk for writing, and check its log."
        ))
    }
    return findings
  }

  private func contents() throws(SystemError) -> [Finding] {
    switch try StorageCompleteness(of: path) {
    case .storage: break
    case .restoring:
      return [
        .error(
          topic, "The storage was restored from a backup only in part.",
          mend: "Run `snapshot restore` again: no server starts before it is complete.")
      ]
    case .migrating, .backup:
      return [
        .error(
          topic,
          "\(path) is a backup, or the copy of a migration that is not complete: no server starts with it.",
          mend: "Restore it with `snapshot restore`, or run `snapshot migrate` with --finish.")
      ]
    }
    let lost = try LostBundles(in: path, naming: Self.namedSnapshots)
    if lost.count > 0 {
      let names = lost.first.map(\.description).joined(separator: ", ")
      return [
        .error(
          topic,
          "The bundles of \(lost.count) snapshots are gone, and their records are there: \(names)\(lost.count > lost.first.count ? " …" : "").",
          mend:
            "Attach the same bundles again, copy their .zip files from the backup, or delete the snapshots.")
      ]
    }
    let count = try Folder.isFolder(path + "/set-aside") ? Folder.entries(path + "/set-aside").count : 0
    if count > 0 {
      return [
        .warning(
          topic, "set-aside/ contains \(count) bundles that were found without a record.",
          mend: "Look at them with `snapshot inspect`, and upload or remove them.")
      ]
    }
    return [.ok(topic, "\(path) is a storage folder.")]
  }

  private func tokens() -> [Finding] {
    let store = TokenStore(storage: path)
    do {
      let unusable = try store.examine()
      if !unusable.isEmpty {
        return unusable.map {
          .error("tokens", $0.description, mend: "Restore the folders keys/ and tokens/ from the backup.")
        }
      }
      if try !store.hasTokens() {
        let text = "There is no token: everybody who reaches the server can read and write."
        let mend = "snapshot token create --scope admin --storage \(path)"
        return [settings.isLocal ? .warning("tokens", text, mend: mend) : .error("tokens", text, mend: mend)]
      }
      if try store.ids().isEmpty {
        return [
          .error(
            "tokens", "The storage has lost its tokens, and the server does not start.",
            mend: "Restore \(path)/tokens from the backup, or create a token.")
        ]
      }
      let count = try store.list().count
      return [.ok("tokens", count == 1 ? "There is 1 token." : "There are \(count) tokens.")]
    } catch {
      return [.error("tokens", error.description, mend: "Restore the folder tokens/ from the backup.")]
    }
  }
}
