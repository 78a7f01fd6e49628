import Foundation
import S3Client
import SnapshotFormat
import SnapshotStore
import SystemIO

/// The bytes of one upload in a file of the staging folder, written and hashed on one queue in the order in which they
/// arrive. The file is removed with the last reference at the latest.
final class StagedUpload: Sendable {
  /// All bytes of an upload.
  struct Whole: Sendable {
    let file: URL
    let size: Int64
    let sha256: ContentDigest
  }

  private struct State {
    /// Created with the first byte.
    var file: File?
    var size: Int64 = 0
    var digest = DigestComputation()
    var failure: StoreError?
  }

  private let folder: String
  private let path: String
  private let queue: DispatchQueue
  private let state = Lock(State())

  init(in folder: String, on queue: DispatchQueue) {
    self.folder = folder
    path = "\(folder)/\(SnapshotID()).zip"
    self.queue = queue
  }

  deinit { remove() }

  /// The number of bytes written.
  var size: Int64 { state.withLock { $0.size } }

  /// The failure of an earlier write, after which no more bytes can be written.
  var failure: StoreError? { state.withLock { $0.failure } }

  /// Writes the next bytes. After a failure, every call throws it.
  func append(_ bytes: IOBuffer) async throws(StoreError) {
    try await queue.perform { [self] () throws(StoreError) in
      try state.withLock { state throws(StoreError) in try write(bytes, &state) }
    }
  }

  private func write(_ bytes: IOBuffer, _ state: inout State) throws(StoreError) {
    if let failure = state.failure { throw failure }
    do {
      let (contents, file) = (bytes.bytes, try file(&state))
      try file.write(contents, at: state.size)
      state.digest.update(contents)
      state.size += Int64(contents.count)
    } catch {
      let failure = StoreError(error)
      state.failure = failure
      throw failure
    }
  }

  private func file(_ state: inout State) throws(SystemError) -> File {
    if let file = state.file { return file }
    try Folder.create(folder)
    let file = try File(path, .create(mode: 0o600))
    state.file = file
    return file
  }

  /// All bytes. No more can be appended.
  func whole() async throws(StoreError) -> Whole {
    try await queue.perform { [self] () throws(StoreError) in
      try state.withLock { state throws(StoreError) in
        if let failure = state.failure { throw failure }
        _ = try StoreError.disk { () throws(SystemError) in try file(&state) }
        return Whole(file: URL(filePath: path), size: state.size, sha256: state.digest.digest)
      }
    }
  }

  /// Whether the file still exists: an operator can delete the folder.
  func isThere() async -> Bool {
    await queue.perform { [path] in
      do { return try Folder.kind(of: path) == .file } catch { return false }
    }
  }

  /// Writes all bytes of another upload.
  func append(contentsOf other: StagedUpload) async throws(StoreError) {
    let (length, piece) = (other.size, Int64(1 << 20))
    for start in stride(from: 0, to: length, by: Int64.Stride(piece)) {
      try await append(IOBuffer(try await other.bytes(in: start..<min(start + piece, length))))
    }
  }

  /// A range of the bytes as the content of a request to the object store.
  func body(of range: Range<Int64>) async throws(StoreError) -> S3Body {
    try await queue.perform { [path] () throws(StoreError) in
      try StoreError.disk { () throws(SystemError) in try S3Body(part: range, of: URL(filePath: path)) }
    }
  }

  /// A range of the bytes, which must fit into memory.
  func bytes(in range: Range<Int64>) async throws(StoreError) -> [UInt8] {
    if range.isEmpty { return [] }
    return try await queue.perform { [path] () throws(StoreError) in
      return try StoreError.disk { () throws(SystemError) in
        let bytes = try File(path).read(upTo: range.count, at: range.lowerBound)
        guard bytes.count == range.count else {
          throw SystemError(operation: "read", path: path, code: POSIXErrorCode.EIO.rawValue)
        }
        return bytes
      }
    }
  }

  /// Removes the file asynchronously. A failure is without consequence: the next start removes what remains.
  func remove() {
    let file = state.withLock { state in
      state.failure = .notFound
      return state.file.take()
    }
    guard file != nil else { return }
    queue.async { [path] in
      do throws(SystemError) { try Folder.removeIfPresent(path) } catch {}
    }
  }
}
