import Foundation
import SystemIO

/// Copies what a storage folder contains besides bundles: tokens, keys, audit logs, and what was set aside.
struct OtherFiles {
  /// Names in a storage folder that are not copied: locks, what is arriving, and what can be made again.
  private static let omitted: Set<String> = [
    "bundles", "uploads", "lock", "clean", "scrubbed", "incomplete-restore",
    ClockMarkFile.name,
  ]
  private static let omittedPrefixes = ["catalog.sqlite", "webhooks.sqlite", "."]
  /// The suffix of a file that is being written.
  private static let stagedSuffix = ".staged"
  /// Folders from whose copies files are removed that the original does not have: a token that was removed must not
  /// come back.
  /// Keys come first, so that a storage that is restored partly is not open to everybody.
  static let exact = ["keys", "tokens"]
  /// Up to this length, files are compared by their bytes, otherwise by length and time.
  private static let comparedBytes: Int64 = 64 << 10
  private static let logAttempts = 3
  static let log = "audit.log"

  let source: String
  let target: String
  let staged: StagedFiles
  var observer: (any OtherFilesObserver)?

  /// Copies everything that is missing or different in the target.
  /// - Returns: the number of copied files.
  func copy() throws(SystemError) -> Int {
    var count = 0
    // A server creates the key before the first token, so a key that is missing in the first round is there in the
    // second if there is a token.
    for folder in ["keys", "tokens", "keys"] { count += try copyFolder(folder) }
    for (name, kind) in try Self.entries(in: source) where !Self.exact.contains(name) && kind == .folder {
      count += try copyFolder(name)
    }
    // If a log is rotated meanwhile, all its files have other names.
    for _ in 0..<Self.logAttempts {
      let first = try Folder.file(at: logPath)?.identity
      for (name, kind) in try Self.entries(in: source) where kind == .file { count += try copyFile(name) }
      try staged.commit()
      if try Folder.file(at: logPath)?.identity == first { break }
    }
    return count
  }

  /// Copies the uploads that have not ended. No server may use the source.
  func copyUploads() throws(SystemError) -> Int { try copyFolder("uploads") }

  private var logPath: String { "\(source)/\(Self.log)" }

  private static func isWhole(_ name: String) -> Bool { !name.hasSuffix(stagedSuffix) }

  private static func isCopied(_ name: String) -> Bool {
    !omitted.contains(name) && !BackupFolder.ownNames.contains(name) && isWhole(name)
      && !omittedPrefixes.contains { name.hasPrefix($0) }
  }

  /// Whether `path` is the relative path of a file that is copied. Others are not restored, wherever they lead.
  static func isPathCopied(_ path: String) -> Bool {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    return isCopied(String(parts[0])) && parts.allSatisfy { !["", ".", ".."].contains($0) }
  }

  /// The relative paths of all files below `folder` in a storage that are copied.
  static func paths(in storage: String, below folder: String) throws(SystemError) -> [String] {
    guard try Folder.hasFolder("\(storage)/\(folder)") else { return [] }
    var paths: [String] = []
    for (name, kind) in try entries(in: "\(storage)/\(folder)", if: isWhole) {
      let path = "\(folder)/\(name)"
      if kind == .folder { paths += try Self.paths(in: storage, below: path) } else { paths.append(path) }
    }
    return paths
  }

  /// The relative paths of all files in a storage that are copied, except for keys and tokens.
  static func paths(in storage: String) throws(SystemError) -> [String] {
    var paths: [String] = []
    for (name, kind) in try entries(in: storage) where !exact.contains(name) {
      if kind == .folder { paths += try Self.paths(in: storage, below: name) } else { paths.append(name) }
    }
    return paths
  }

  /// The names in a folder that satisfy `isCopied`, with their kinds. Throws if one is a link: it would be missing in the
  /// copy.
  private static func entries(
    in folder: String, if isCopied: (String) -> Bool = OtherFiles.isCopied
  ) throws(SystemError) -> [(name: String, kind: OpenFolder.Status.Kind)] {
    let entries = try Folder.kinds(in: folder).filter { isCopied($0.name) }
    if let link = entries.first(where: { $0.kind == .link }) {
      throw SystemError(
        operation: "copy", path: "\(folder)/\(link.name)", code: POSIXErrorCode.ELOOP.rawValue)
    }
    return entries
  }

  /// Copies the files in a folder, and the folders in it.
  private func copyFolder(_ name: String) throws(SystemError) -> Int {
    guard try Folder.hasFolder("\(source)/\(name)") else { return 0 }
    try staged.makeFolder("\(target)/\(name)")
    var count = 0
    let entries = try Self.entries(in: "\(source)/\(name)", if: Self.isWhole)
    for (file, kind) in entries {
      let path = "\(name)/\(file)"
      count += try kind == .folder ? copyFolder(path) : copyFile(path)
    }
    // If the storage has lost all of them, those in the copy are the last ones.
    if Self.exact.contains(name), !entries.isEmpty {
      let names = Set(entries.map(\.name))
      for file in try Folder.entries("\(target)/\(name)") where !names.contains(file) {
        observer?.didRemove(of: "\(name)/\(file)")
        staged.remove("\(target)/\(name)/\(file)")
      }
    }
    try staged.commit()
    return count
  }

  /// Copies a file if its copy is missing or different.
  private func copyFile(_ name: String) throws(SystemError) -> Int {
    let file: File
    do { file = try File("\(source)/\(name)") } catch  where error.isNotFound { return 0 }
    // A log grows meanwhile.
    guard try file.isRegular else { return 0 }
    let size = try file.size
    let path = "\(target)/\(name)"
    if try Folder.kind(of: path) == .file {
      let former = try File(path)
      if try former.size == size {
        let isSame =
          try size <= Self.comparedBytes
          ? former.read(upTo: Int(size), at: 0) == file.read(upTo: Int(size), at: 0)
          : former.modifiedAt == file.modifiedAt
        if isSame, try observer?.canKeep(former, of: name) ?? true { return 0 }
      }
    }
    let modified = try file.modifiedAt
    let copy = try staged.copy(FileSection(file, 0..<size), mode: 0o600)
    observer?.didCopy(of: name, copy.sha256)
    try staged.add(copy, as: path, modified: modified)
    try staged.commitIfMany()
    return 1
  }
}
