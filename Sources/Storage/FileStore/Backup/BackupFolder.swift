import Foundation
import SnapshotFormat
import SnapshotStore
import SystemIO

/// The folder of a backup. It has the layout of a storage folder, so that it can also be restored by copying it, and
/// three names more:
///
///     backup.json      states that this is a backup, and when it was last completed
///     index/3f         what the backup has of the shard `3f`, with the digests
///     index/files      the digests of tokens, keys and logs
///     incomplete/…     files that are still being copied
struct BackupFolder: Sendable {
  let root: String
  let layout: StorageLayout

  init(_ root: String) {
    self.root = root
    layout = StorageLayout(root: root)
  }

  static let markerName = "backup.json"
  static let indexName = "index"
  static let incompleteName = "incomplete"

  var marker: String { root + "/" + Self.markerName }
  var indexFolder: String { root + "/" + Self.indexName }
  var incomplete: String { root + "/" + Self.incompleteName }

  /// The names that only a backup has.
  static let ownNames: Set<String> = [markerName, indexName, incompleteName]

  /// What the file `backup.json` states.
  struct Marker: Codable, Sendable {
    var format = 1
    /// When the last complete run began: what was stored before is in the backup.
    var completeUntil: Date?
    var bundles = 0
    var bytes: Int64 = 0
    /// The names of the indexes that the backup has; `nil` in a backup of an earlier version.
    var indexes: [String]?
    /// The identity of an archive; `nil` in a folder.
    var archive: UUID?
    /// The archive without which this one is incomplete; `nil` if there is none.
    var follows: UUID?
    /// The store that is being moved to this folder, which is not a backup then.
    var origin: String?
  }

  /// Reads the marker; `nil` if there is none.
  func readMarker() throws(SystemError) -> Marker? {
    guard try Folder.kind(of: marker) == .file else { return nil }
    return try Marker(try File(marker).read(upTo: Marker.maximumBytes, at: 0), path: marker)
  }

  func write(_ marker: Marker) throws(SystemError) {
    try DurableFile.replace(self.marker, with: try marker.bytes(for: self.marker))
  }

  /// Creates the folders of a run, which finds nothing that an earlier one has left incomplete.
  func prepare(isIndexed: Bool = true) throws(SystemError) {
    let folder = try OpenFolder(root)
    try folder.removeTree(Self.incompleteName)
    for name in ["bundles", Self.incompleteName] + (isIndexed ? [Self.indexName] : []) {
      _ = try folder.makeFolder(at: name)
    }
  }

  /// Removes what a run has left incomplete.
  func removeIncomplete() throws(SystemError) { try OpenFolder(root).removeTree(Self.incompleteName) }

  func readIndex(_ shard: SnapshotShard) throws(SystemError) -> BackupIndex? {
    try index(shard.digits).flatMap { (section) throws(SystemError) in
      BackupIndex(text: String(decoding: try section.read(), as: UTF8.self))
    }
  }

  /// An index; `nil` if there is no such file.
  func index(_ name: String) throws(SystemError) -> FileSection? {
    let path = "\(indexFolder)/\(name)"
    return try Folder.kind(of: path) == .file ? FileSection(File(path)) : nil
  }

  /// The index of the files that belong to no snapshot; `nil` if it is missing or damaged.
  func readFileIndex() throws(SystemError) -> FileIndex? {
    try index(FileIndex.name).flatMap { (section) throws(SystemError) in FileIndex(try section.read()) }
  }

  func write(_ index: FileIndex) throws(SystemError) {
    let folder = try OpenFolder(root).makeFolder(at: Self.indexName)
    try folder.replaceDurably(FileIndex.name, with: index.bytes)
  }

  /// The names of all indexes.
  func indexes() throws(SystemError) -> [String] {
    let names = Set(SnapshotShard.allCases.map(\.digits)).union([FileIndex.name])
    return try Folder.entries(indexFolder).filter(names.contains)
  }

  func write(_ index: BackupIndex, of shard: SnapshotShard) throws(SystemError) {
    let folder = try OpenFolder(root).makeFolder(at: Self.indexName)
    try folder.replaceDurably(shard.digits, with: Array(index.text.utf8))
  }
}

extension BackupFolder.Marker {
  /// The most bytes of a marker.
  static let maximumBytes = 64 << 10
  private struct Unreadable: Error {}

  /// - Parameter path: the file, for the error.
  init(_ bytes: [UInt8], path: String) throws(SystemError) {
    do {
      let marker = try SnapshotJSON.decode(Self.self, from: Data(bytes))
      guard marker.format == Self().format else { throw Unreadable() }
      self = marker
    } catch {
      throw SystemError(operation: "decode", path: path, code: POSIXErrorCode.EBADMSG.rawValue)
    }
  }

  func bytes(for path: String) throws(SystemError) -> [UInt8] {
    do { return Array(try SnapshotJSON.encode(self, pretty: true)) } catch {
      throw SystemError(operation: "encode", path: path, code: POSIXErrorCode.EBADMSG.rawValue)
    }
  }
}

/// What a backup has of one shard, as lines of text, so that a restore knows what is missing, and the next run knows
/// what is there without reading it.
struct BackupIndex: Sendable, Equatable {
  enum Entry: Sendable, Equatable {
    case deleted
    /// A bundle, and the length and time of its record in the storage when it was copied.
    case bundle(size: Int64, sha256: ContentDigest, record: RecordStamp)
  }

  /// Changes when a record is replaced.
  struct RecordStamp: Sendable, Equatable {
    let size: Int64
    let modified: Int64
  }

  var entries: [SnapshotID: Entry] = [:]

  init() {}

  /// Parses ``text``; `nil` if it is incomplete or damaged.
  init?(text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count >= 2, lines.last == "", let last = lines.dropLast().last else { return nil }
    let body = lines.dropLast(2)
    guard last == Self.seal(of: body.map { $0 + "\n" }.joined()) else { return nil }
    for line in body {
      let words = line.split(separator: " ")
      guard let id = words.first.flatMap({ SnapshotID(String($0)) }) else { return nil }
      if words.count == 2, words[1] == "deleted" {
        entries[id] = .deleted
      } else if words.count == 5, let size = Int64(words[1]),
        let digest = ContentDigest(hexadecimal: String(words[2])), let length = Int64(words[3]),
        let modified = Int64(words[4])
      {
        entries[id] = .bundle(
          size: size, sha256: digest, record: RecordStamp(size: length, modified: modified))
      } else {
        return nil
      }
    }
  }

  /// A line for each entry, in the order of the ids, and one with the digest of all others.
  var text: String {
    let lines = entries.map { id, entry in
      switch entry {
      case .deleted: "\(id) deleted\n"
      case .bundle(let size, let digest, let record):
        "\(id) \(size) \(digest) \(record.size) \(record.modified)\n"
      }
    }
    let body = lines.sorted().joined()
    return body + Self.seal(of: body) + "\n"
  }

  private static func seal(of body: String) -> String { "sha256 \(ContentDigest.of(Array(body.utf8)))" }
}
