import Foundation
import SnapshotFormat
import SnapshotStore
import SystemIO

/// The digests of the files in a backup that belong to no snapshot, by their relative paths: tokens, keys and logs. It is
/// stored like the index of a shard, with a digest of its own.
struct FileIndex: Codable, Sendable, Equatable {
  /// The name of the file in the folder of the indexes.
  static let name = "files"

  /// A file has several while a run replaces it.
  var digests: [String: [ContentDigest]] = [:]

  init() {}

  /// Decodes ``bytes``; `nil` if they are incomplete or damaged.
  init?(_ bytes: [UInt8]) {
    guard let index = CheckedBlock.decode(Self.self, from: bytes) else { return nil }
    self = index
  }

  var bytes: [UInt8] {
    get throws(SystemError) {
      do { return try CheckedBlock.encode(self) } catch {
        throw SystemError(operation: "encode", path: Self.name, code: POSIXErrorCode.EBADMSG.rawValue)
      }
    }
  }
}

/// Learns about every file that belongs to no snapshot while it is copied.
protocol OtherFilesObserver: AnyObject {
  /// Called when a file was copied, before the copy gets its name.
  func didCopy(of name: String, _ sha256: ContentDigest)
  /// Whether a copy that an earlier run has made can stay, which has the length and the time of the original.
  func canKeep(_ copy: File, of name: String) throws(SystemError) -> Bool
  /// Called when a copy will be removed, before it is.
  func didRemove(of name: String)
}

/// Keeps the index of a backup's other files up to date while they change: at any moment each file that it names is there
/// and has one of the digests, also after a crash. Files that are new are added at the end.
final class FileLedger: OtherFilesObserver {
  private let backup: BackupFolder
  private let rehashes: Bool
  private var index: FileIndex
  private var present: [String: ContentDigest] = [:]
  private var isSaved = true

  /// - Parameter rehashes: whether to read and verify the copies of earlier runs.
  init(_ backup: BackupFolder, rehashes: Bool) throws(SystemError) {
    self.backup = backup
    self.rehashes = rehashes
    index = try backup.readFileIndex() ?? FileIndex()
  }

  func didCopy(of name: String, _ sha256: ContentDigest) {
    present[name] = sha256
    guard let known = index.digests[name], !known.contains(sha256) else { return }
    index.digests[name] = known + [sha256]
    isSaved = false
  }

  func canKeep(_ copy: File, of name: String) throws(SystemError) -> Bool {
    let known = index.digests[name] ?? []
    if !rehashes, known.count == 1 {
      present[name] = known[0]
      return true
    }
    let digest = try ContentDigest.of(contentsOf: copy)
    guard known.isEmpty || known.contains(digest) else { return false }
    didCopy(of: name, digest)
    return true
  }

  func didRemove(of name: String) {
    present[name] = nil
    if index.digests.removeValue(forKey: name) != nil { isSaved = false }
  }

  /// Makes the digests durable of files that are about to be replaced, or removed.
  func save() throws(SystemError) {
    guard !isSaved else { return }
    try backup.write(index)
    isSaved = true
  }

  /// Adds new files, and forgets the digests of what was replaced, when all copies are durable.
  func finish() throws(SystemError) {
    for (name, digest) in present where index.digests[name] != [digest] {
      index.digests[name] = [digest]
      isSaved = false
    }
    // Also the first one, which may be empty.
    if try backup.readFileIndex() == nil { isSaved = false }
    try save()
  }
}

/// Compares files that are restored with the index of their backup.
final class FileCheck: OtherFilesObserver {
  private let expected: [String: [ContentDigest]]
  private var seen: Set<String> = []
  private var damaged: Set<String> = []

  /// - Parameter index: `nil` if the backup has none: one of an earlier version, or a copy that was made by hand.
  init(_ index: FileIndex?, where isExpected: (String) -> Bool = { _ in true }) {
    expected = (index?.digests ?? [:]).filter { isExpected($0.key) }
  }

  func didCopy(of name: String, _ sha256: ContentDigest) {
    seen.insert(name)
    if isExpected(sha256, of: name) { damaged.remove(name) } else { damaged.insert(name) }
  }

  func canKeep(_ copy: File, of name: String) throws(SystemError) -> Bool {
    guard isExpected(try ContentDigest.of(contentsOf: copy), of: name) else { return false }
    seen.insert(name)
    return true
  }

  func didRemove(of name: String) {}

  private func isExpected(_ sha256: ContentDigest, of name: String) -> Bool {
    expected[name]?.contains(sha256) ?? true
  }

  /// The files that differ from the index or are missing.
  var problems: [TransferReport.FileProblem] {
    let missing = expected.keys.filter { !seen.contains($0) }
    return damaged.sorted().map { .init(path: $0, kind: .damaged) }
      + missing.sorted().map { .init(path: $0, kind: .missing) }
  }
}
