import Dispatch
import Foundation
import SnapshotFormat
import SnapshotStore
import SystemIO

/// Writes the bytes of one upload to disk: collects small pieces, then writes, hashes and counts them on one queue, in
/// the order in which they arrive.
///
/// At most two pieces are in flight: one that is being written, and one that waits. Small pieces are collected first,
/// so that thousands of clients that send a few bytes each, or disconnect early, do not keep the disk busy.
///
/// The files are directly in `uploads/`, without a folder per upload. Creating and removing a folder with every upload
/// would cost more than everything else, since file systems are slow to reuse an inode that was just removed.
final class ArrivingBytes: Sendable {
  fileprivate struct Flow {
    /// Bytes that were received and are too few to be written yet.
    var gathered: IOBuffer?
    /// Whether any bytes were, or are about to be, written.
    var hasBegun = false
    var inFlight = 0
    var failure: StoreError?
    /// The caller that waits for room.
    var waiter: CheckedContinuation<StoreError?, Never>?
  }

  private struct Written {
    /// Open while bytes arrive. The file of a transient upload is created when it is first needed: an upload that
    /// breaks off earlier does not touch the file system.
    var file: File?
    /// The offset up to which all bytes were written without a failure.
    var end: Int64 = 0
    /// The digest of the bytes before ``end``, or of as many of them as have been hashed.
    var digest = PrefixDigest()
    /// The digest at the time the file was opened.
    var digestAtOpening = PrefixDigest()
    /// The range whose writeback was last started; everything before it since the opening is on the disk.
    var writing: Range<Int64> = 0..<0
    /// Whether the system has lost bytes since the opening. No later flush reports this again.
    var isLost = false
  }

  /// The state of all bytes passed so far.
  struct Settled: Sendable {
    /// The offset up to which all bytes were written without a failure.
    var end: Int64
    /// The reason why the remaining bytes were not written.
    var failure: StoreError?
    /// Whether none of the bytes received since the opening can be relied upon.
    var isLost: Bool
  }

  /// The most bytes that are collected before they are written.
  static let gatheredSize = 16 << 10

  /// The number of bytes after which writeback is started. The writer then waits for the writeback of the range before.
  /// So at most two ranges of an upload are not on the disk yet, and a flush of a small upload, or of the whole volume,
  /// waits for no more than those of each large upload. 2 MiB take the disk a few milliseconds, and suffice for full
  /// speed.
  private static let writeOutSize: Int64 = 2 << 20

  let names: StagedBundle
  /// The queue on which the files are written.
  let queue: DispatchQueue
  /// The space reserved for the bytes.
  let arrival: QuotaTracker.Arrival
  private let folder: StorageFolder
  private let isTransient: Bool
  private let flow = Lock(Flow())
  /// Held while pieces are taken from the flow and enqueued, so that they are written in the order in which they were
  /// taken. The writer does not need it.
  private let order = Lock(0)
  /// Accessed from one queue at a time.
  private let written = Lock(Written())

  /// - Parameter isTransient: whether the file is created with the first byte, and the files are removed after the
  ///   first failure.
  init(_ names: StagedBundle, on queue: DispatchQueue, in folder: StorageFolder, isTransient: Bool) {
    self.names = names
    self.queue = queue
    self.folder = folder
    self.isTransient = isTransient
    arrival = QuotaTracker.Arrival(in: folder.quotaTracker)
  }

  /// Whether a file may exist.
  var hasBegun: Bool { flow.withLock { $0.hasBegun } }

  /// Throws the first failure.
  func requireNoFailure() throws(StoreError) {
    if let failure = flow.withLock({ $0.failure }) { throw failure }
  }

  // MARK: Passing bytes on

  /// Takes the next bytes; returns when there is room for more. A failure to write them is thrown by the next call, and
  /// by every call after it.
  func append(_ bytes: IOBuffer) async throws(StoreError) {
    let isWritten = try order.withLock { _ throws(StoreError) in
      let pieces = try flow.withLock { flow throws(StoreError) in
        if let failure = flow.failure { throw failure }
        let pieces = flow.gather(bytes)
        if !pieces.isEmpty { (flow.inFlight, flow.hasBegun) = (flow.inFlight + 1, true) }
        return pieces
      }
      guard !pieces.isEmpty else { return false }
      queue.async { self.write(pieces) }
      return true
    }
    guard isWritten else { return }
    if let failure = await room() { throw failure }
  }

  /// Writes the collected bytes; returns when all bytes received so far are written or have failed. More bytes may be
  /// appended meanwhile.
  func settle() async -> Settled {
    let isWritten = order.withLock { _ in
      let pieces: [IOBuffer]? = flow.withLock { flow in
        guard flow.inFlight > 0 || flow.gathered != nil else { return nil }
        flow.inFlight += 1
        return flow.gathered.take().map { [$0] } ?? []
      }
      guard let pieces else { return false }
      queue.async { self.write(pieces) }
      return true
    }
    if isWritten { await queue.perform {} }
    let (end, isLost) = written.withLock { ($0.end, $0.isLost) }
    return Settled(end: end, failure: flow.withLock { $0.failure }, isLost: isLost)
  }

  /// Writes the collected bytes, and returns the upload, all of whose bytes are then written. The file of an empty
  /// upload is created here. Blocks: call on ``queue``.
  /// - Parameter epoch: the flusher's epoch before the first byte was written.
  func whole(since epoch: Int) throws(StoreError) -> WholeUpload {
    let rest = flow.withLock { flow in
      (flow.inFlight, flow.hasBegun) = (flow.inFlight + 1, true)
      return flow.gathered.take()
    }
    write(rest.map { [$0] } ?? [])
    try requireNoFailure()
    do {
      return try written.withLock { written throws(SystemError) in
        WholeUpload(
          names: names, file: try file(&written), size: written.end, sha256: written.digest.value,
          arrival: arrival, epoch: epoch)
      }
    } catch {
      throw StoreError(error)
    }
  }

  /// Waits until at most one piece is in flight; returns the first failure, if any.
  private func room() async -> StoreError? {
    await withCheckedContinuation { continuation in
      let answer: StoreError?? = flow.withLock { flow in
        if flow.inFlight < 2 { return .some(flow.failure) }
        flow.waiter = continuation
        return .none
      }
      if let answer { continuation.resume(returning: answer) }
    }
  }

  // MARK: On the queue

  /// Writes on the upload's queue. After a failure, writes nothing.
  private func write(_ pieces: [IOBuffer]) {
    var failure = flow.withLock { $0.failure }
    if failure == nil {
      do {
        for piece in pieces { try write(piece) }
      } catch {
        failure = error
        if isTransient {
          arrival.release()
          folder.attempt("remove a failed upload", names.remove)
        }
      }
    }
    let waiter: CheckedContinuation<StoreError?, Never>? = flow.withLock { flow in
      flow.inFlight -= 1
      flow.failure = failure
      return flow.inFlight < 2 ? flow.waiter.take() : nil
    }
    waiter?.resume(returning: failure)
  }

  /// Appends `bytes` to the file and hashes them, if there is space. Blocks.
  func write(_ bytes: IOBuffer) throws(StoreError) {
    let count = Int64(bytes.count)
    try folder.requireFreeSpace(for: count)
    try arrival.grow(by: count)
    do {
      try written.withLock { written throws(SystemError) in
        let file = try file(&written)
        try unsafe bytes.withUnsafeBytes { buffer throws(SystemError) in
          try unsafe file.write(buffer, at: written.end)
        }
        try written.digest.take(bytes, at: written.end, of: file)
        written.end += count
        try writeOut(&written, file)
      }
    } catch {
      arrival.shrink(by: count)
      throw StoreError(error)
    }
  }

  private func writeOut(_ written: inout Written, _ file: File) throws(SystemError) {
    let unwritten = written.writing.upperBound..<written.end
    guard unwritten.count >= Self.writeOutSize else { return }
    file.beginWriting(unwritten)
    do {
      try file.waitForWriting(written.writing)
    } catch {
      written.isLost = true
      throw error
    }
    written.writing = unwritten
  }

  private func file(_ written: inout Written) throws(SystemError) -> File {
    if let file = written.file { return file }
    let file = try File(names.bundle, .create(mode: 0o600))
    written.file = file
    return file
  }

  // MARK: Bytes of a resumable upload

  /// Creates the file, for bytes that are written before any request appends. Blocks.
  func create() throws(SystemError) -> File {
    try written.withLock { written throws(SystemError) in try file(&written) }
  }

  /// Reserves the space of the `count` bytes that an earlier run of the server has stored.
  func restore(_ count: Int64) { arrival.restore(count) }

  /// Opens the file for a request that appends, and truncates it to `offset`. Blocks: call on ``queue``.
  func open(at offset: Int64) throws(SystemError) -> File {
    let file = try File(names.bundle, .update)
    try truncate(file, to: offset)
    flow.withLock { $0 = Flow(hasBegun: true) }
    written.withLock { written in
      // The digest may include bytes of an earlier request that were written but do not count.
      if written.digest.count > offset { written.digest = PrefixDigest() }
      written = Written(
        file: file, end: offset, digest: written.digest, digestAtOpening: written.digest,
        writing: offset..<offset)
    }
    return file
  }

  /// Closes the file and drops the collected bytes: no request appends now.
  func close() {
    flow.withLock { $0.gathered = nil }
    written.withLock { $0.file = nil }
  }

  /// Removes the bytes of a request that do not count. Blocks: call on ``queue``.
  func cut(_ file: File, to offset: Int64) throws(SystemError) {
    written.withLock { written in
      guard written.digest.count > offset else { return }
      written.digest =
        written.digestAtOpening.count <= offset ? written.digestAtOpening : PrefixDigest()
    }
    try truncate(file, to: offset)
  }

  private func truncate(_ file: File, to offset: Int64) throws(SystemError) {
    guard try file.size > offset else { return }
    try file.truncate(to: offset)
    arrival.keepOnly(offset)
  }

  /// The digest of the first `size` bytes, which are the whole file; `nil` if some remain to be read. Each call reads
  /// one slice, since other uploads wait for the same queue. Blocks: call on ``queue``.
  func digest(of size: Int64, in file: File) throws(SystemError) -> ContentDigest? {
    try written.withLock { written throws(SystemError) in
      if written.digest.count > size { written.digest = PrefixDigest() }
      try written.digest.catchUp(
        to: min(size, written.digest.count + PrefixDigest.sliceSize), of: file)
      return written.digest.count == size ? written.digest.value : nil
    }
  }

  // MARK: The end

  /// Removes the files of an upload that was abandoned or refused, and releases its space.
  func remove() async {
    guard hasBegun else { return }
    await queue.perform { [self] in removeFiles("remove a refused upload") }
  }

  /// Removes the files of an upload that was never ended, asynchronously.
  func removeLater() {
    guard hasBegun else { return }
    queue.async { [self] in removeFiles("remove an abandoned upload") }
  }

  private func removeFiles(_ what: String) {
    arrival.release()
    folder.attempt(what, names.remove)
  }
}

extension ArrivingBytes.Flow {
  /// Collects `bytes`.
  /// - Returns: the pieces to write now, in order; empty while there are too few bytes.
  fileprivate mutating func gather(_ bytes: IOBuffer) -> [IOBuffer] {
    let former = gathered
    guard (former?.count ?? 0) + bytes.count <= ArrivingBytes.gatheredSize else {
      gathered = nil
      return [former, bytes].compactMap(\.self)
    }
    let room = former ?? IOBuffer(capacity: ArrivingBytes.gatheredSize)
    unsafe bytes.withUnsafeBytes { bytes in
      _ = unsafe room.fill { rest in
        unsafe rest.copyMemory(from: bytes)
        return bytes.count
      }
    }
    gathered = room
    return []
  }
}
