import SnapshotFormat
import SystemIO

/// Copies files beside their final names, and moves many of them there at once when all are durable.
///
/// An interrupted run leaves files under their final names only if they are complete. Blocks. Not thread-safe.
final class StagedFiles {
  /// The most files and bytes that wait for one flush.
  private static let batchFiles = 256
  private static let batchBytes: Int64 = 256 << 20
  private static let pieceBytes = 1 << 20

  private let folder: String
  /// Flushes all files at once, if the file system can.
  private let volume: Volume?
  private var moves: [(staged: String, final: String)] = []
  private var removals: [String] = []
  private var changedFolders: Set<String> = []
  private var waitingBytes: Int64 = 0
  private var count = 0

  /// - Parameter folder: an empty folder in the same file system as the final names.
  init(in folder: String) throws(SystemError) {
    self.folder = folder
    volume = try Volume.holding(folder)
  }

  /// A file that was copied, and does not have its final name yet.
  struct Copy {
    fileprivate let path: String
    fileprivate let file: File
    let size: Int64
    let sha256: ContentDigest
  }

  /// Copies `source`, and hashes what it copies.
  func copy(_ source: FileSection, mode: UInt16) throws(SystemError) -> Copy {
    let (path, file) = try newFile(mode)
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
    return Copy(path: path, file: file, size: size, sha256: computation.digest)
  }

  func copy(_ bytes: [UInt8], mode: UInt16) throws(SystemError) -> Copy {
    let (path, file) = try newFile(mode)
    try file.write(bytes, at: 0)
    return Copy(path: path, file: file, size: Int64(bytes.count), sha256: ContentDigest.of(bytes))
  }

  private func newFile(_ mode: UInt16) throws(SystemError) -> (String, File) {
    count += 1
    let path = "\(folder)/\(count)"
    return (path, try File(path, .create(mode: mode)))
  }

  /// Removes a copy that is not used.
  func discard(_ copy: Copy) throws(SystemError) { try Folder.remove(copy.path) }

  /// Gives `copy` its final name with the next ``commit()``, in the order of the calls.
  /// - Parameter modified: the time of change in milliseconds since 1970; `nil` for now.
  func add(_ copy: Copy, as final: String, modified: Int64? = nil) throws(SystemError) {
    if let modified { try copy.file.setModifiedAt(modified) }
    if volume == nil { try copy.file.synchronize() }
    moves.append((copy.path, final))
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
    if !moves.isEmpty { try volume?.synchronize() }
    for (staged, final) in moves {
      try Folder.replace(final, with: staged)
      changedFolders.insert(Folder.parent(of: final))
    }
    // What replaces the removed files must be durable before they are gone.
    try flushFolders()
    for path in removals {
      do {
        try Folder.remove(path)
        changedFolders.insert(Folder.parent(of: path))
      } catch  where error.isNotFound {}
    }
    try flushFolders()
    (moves, removals, waitingBytes) = ([], [], 0)
  }

  private func flushFolders() throws(SystemError) {
    for folder in changedFolders.sorted() { try Folder.synchronize(folder) }
    changedFolders = []
  }
}
