import Foundation
import SnapshotFormat
import SystemIO

/// Copies files beside their final names, and moves many of them there at once when all are durable.
///
/// An interrupted run leaves files under their final names only if they are complete. No link is followed below the
/// folder that gets the files: one that is in the way is an error. Blocks. Not thread-safe.
final class StagedFiles {
  /// The most files and bytes that wait for one flush.
  private static let batchFiles = 256
  private static let batchBytes: Int64 = 256 << 20
  private static let pieceBytes = 1 << 20

  /// The folder that gets the files.
  private let root: OpenFolder
  private let folder: OpenFolder
  /// Flushes all files at once, if the file system can.
  private let volume: Volume?
  /// Called before files that were added or removed change their names.
  var willCommit: () throws(SystemError) -> Void = {}
  private var moves: [(staged: String, final: String)] = []
  private var removals: [String] = []
  private var changedFolders: [String: OpenFolder] = [:]
  private var waitingBytes: Int64 = 0
  private var count = 0

  /// - Parameter folder: an empty folder in the one that gets the files.
  init(in folder: String) throws(SystemError) {
    root = try OpenFolder(Folder.parent(of: folder))
    self.folder = try root.folder(Folder.name(of: folder))
    volume = try Volume.holding(folder)
  }

  /// A file that was copied, and does not have its final name yet.
  struct Copy {
    fileprivate let name: String
    fileprivate let file: File
    let size: Int64
    let sha256: ContentDigest
  }

  /// Copies `source`, and hashes what it copies.
  func copy(_ source: FileSection, mode: UInt16) throws(SystemError) -> Copy {
    let (name, file) = try newFile(mode)
    var (computation, size) = (DigestComputation(), Int64(0))
    while true {
      let wanted = min(Int64(Self.pieceBytes), source.size - size)
      let piece = try source.file.read(upTo: Int(wanted), at: source.range.lowerBound + size)
      guard !piece.isEmpty else { break }
      computation.update(piece)
      try file.write(piece, at: size)
      file.beginWriting(size..<size + Int64(piece.count))
      size += Int64(piece.count)
    }
    return Copy(name: name, file: file, size: size, sha256: computation.digest)
  }

  func copy(_ bytes: [UInt8], mode: UInt16) throws(SystemError) -> Copy {
    let (name, file) = try newFile(mode)
    try file.write(bytes, at: 0)
    return Copy(name: name, file: file, size: Int64(bytes.count), sha256: ContentDigest.of(bytes))
  }

  private func newFile(_ mode: UInt16) throws(SystemError) -> (String, File) {
    count += 1
    return ("\(count)", try folder.file("\(count)", .create(mode: mode)))
  }

  /// Removes a copy that is not used.
  func discard(_ copy: Copy) throws(SystemError) { try folder.remove(copy.name) }

  /// Durably creates a folder and those above it, if they are missing.
  /// - Parameter path: a path below the folder that gets the files.
  func makeFolder(_ path: String) throws(SystemError) { _ = try root.makeFolder(at: try relative(path)) }

  /// Gives `copy` its final name with the next ``commit()``, in the order of the calls.
  /// - Parameter modified: the time of change in milliseconds since 1970; `nil` for now.
  func add(_ copy: Copy, as final: String, modified: Int64? = nil) throws(SystemError) {
    if let modified { try copy.file.setModifiedAt(modified) }
    if volume == nil { try copy.file.synchronize() }
    moves.append((copy.name, final))
    waitingBytes += copy.size
  }

  /// Removes a file, if it exists, when all added ones have their names.
  func remove(_ path: String) { removals.append(path) }

  /// Commits if much is waiting.
  func commitIfMany() throws(SystemError) {
    if moves.count >= Self.batchFiles || waitingBytes >= Self.batchBytes { try commit() }
  }

  /// Returns when everything that was added or removed is durable.
  func commit() throws(SystemError) {
    try willCommit()
    if !moves.isEmpty { try volume?.synchronize() }
    for (staged, final) in moves {
      try changedFolder(of: final).replace(Folder.name(of: final), with: staged, from: folder)
    }
    // What replaces the removed files must be durable before they are gone.
    try flushFolders()
    for path in removals {
      do {
        try changedFolder(of: path).removeTree(Folder.name(of: path))
      } catch  where error.isNotFound {}
    }
    try flushFolders()
    (moves, removals, waitingBytes) = ([], [], 0)
  }

  /// The open folder of a file, which will be flushed.
  private func changedFolder(of path: String) throws(SystemError) -> OpenFolder {
    let parent = try relative(Folder.parent(of: path))
    if let folder = changedFolders[parent] { return folder }
    let folder = try root.folder(at: parent)
    changedFolders[parent] = folder
    return folder
  }

  private func relative(_ path: String) throws(SystemError) -> String {
    guard path.hasPrefix(root.path) else {
      throw SystemError(operation: "open", path: path, code: POSIXErrorCode.EINVAL.rawValue)
    }
    return String(path.dropFirst(root.path.count))
  }

  private func flushFolders() throws(SystemError) {
    for (_, folder) in changedFolders.sorted(by: { $0.key < $1.key }) { try folder.synchronize() }
    changedFolders = [:]
  }
}
