import Dispatch
import Foundation
import SnapshotFormat
import SnapshotStore
import Synchronization
import SystemIO

/// A bundle on its way into a ``FileBundleStore``.
///
/// At most two pieces are in flight: one that is written, and one that waits for its turn. Bytes that come in dribs and
/// drabs are gathered before: clients by the thousand that send some and no more, or break off, keep the disk from nobody.
final class FileUpload: BundleUpload {
  fileprivate struct Flow {
    /// What came and is too little to be written.
    var gathered: IOBuffer?
    /// Whether anything was, or is to be, written.
    var isStaged = false
    var inFlight = 0
    var failure: StoreError?
    var hasEnded = false
    /// Who waits for room.
    var waiter: CheckedContinuation<StoreError?, Never>?
  }

  /// How much is gathered, in bytes.
  static let gatheredSize = 16 << 10

  private let staging: StagedUpload
  private let queue: DispatchQueue
  private let store: FileBundleStore
  private let arrival: QuotaTracker.Arrival
  private let flow = Mutex(Flow())

  init(_ staging: StagedUpload, on queue: DispatchQueue, in store: FileBundleStore) {
    self.staging = staging
    self.queue = queue
    self.store = store
    arrival = QuotaTracker.Arrival(in: store.quotaTracker)
  }

  deinit {
    guard flow.withLock({ !$0.hasEnded && $0.isStaged }) else { return }
    queue.async { [staging, store] in store.attempt("remove an abandoned upload", staging.names.remove) }
  }

  func append(_ bytes: IOBuffer) async throws(StoreError) {
    let pieces = try flow.withLock { flow throws(StoreError) in
      if let failure = flow.failure { throw failure }
      if flow.hasEnded { throw .notFound }
      let pieces = flow.gather(bytes)
      if !pieces.isEmpty { (flow.inFlight, flow.isStaged) = (flow.inFlight + 1, true) }
      return pieces
    }
    guard !pieces.isEmpty else { return }
    queue.async { self.write(pieces) }
    if let failure = await room() { throw failure }
  }

  func commit(_ attachment: Attachment) async throws(StoreError) -> Publication {
    try end()
    do throws(StoreError) {
      return try await store.publish(try await whole(), as: attachment)
    } catch {
      await remove()
      throw error
    }
  }

  func discard() async {
    do { try end() } catch { return }
    await remove()
  }

  /// Marks the upload as ended; throws where it has ended or failed before.
  private func end() throws(StoreError) {
    let failure: StoreError? = flow.withLock { flow in
      defer { flow.hasEnded = true }
      return flow.failure ?? (flow.hasEnded ? .notFound : nil)
    }
    if let failure { throw failure }
  }

  /// Writes on the upload's queue.
  private func write(_ pieces: [IOBuffer]) {
    var failure = flow.withLock { $0.failure }
    if failure == nil {
      do throws(StoreError) {
        for piece in pieces { try stage(piece) }
      } catch {
        failure = error
        arrival.release()
        store.attempt("remove a failed upload", staging.names.remove)
      }
    }
    let waiter: CheckedContinuation<StoreError?, Never>? = flow.withLock { flow in
      flow.inFlight -= 1
      flow.failure = failure
      return flow.inFlight < 2 ? flow.waiter.take() : nil
    }
    waiter?.resume(returning: failure)
  }

  private func stage(_ bytes: IOBuffer) throws(StoreError) {
    try store.requireFreeSpace(for: Int64(bytes.count))
    try arrival.grow(by: Int64(bytes.count))
    do { try staging.append(bytes) } catch { throw StoreError(error) }
  }

  /// Waits until no more than one piece is in flight; answers what has failed meanwhile.
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

  /// Writes what was gathered; returns when all bytes are written.
  private func whole() async throws(StoreError) -> WholeUpload {
    let rest = flow.withLock { flow in
      (flow.inFlight, flow.isStaged) = (flow.inFlight + 1, true)
      return flow.gathered.take()
    }
    return try await queue.perform { [self] () throws(StoreError) in
      write(rest.map { [$0] } ?? [])
      if let failure = flow.withLock({ $0.failure }) { throw failure }
      do throws(SystemError) { return try staging.whole(arrival, on: queue) } catch {
        throw StoreError(error)
      }
    }
  }

  private func remove() async {
    arrival.release()
    guard flow.withLock({ $0.isStaged }) else { return }
    await queue.perform { [staging, store] in store.attempt("remove a refused upload", staging.names.remove) }
  }
}

extension FileUpload.Flow {
  /// Takes `bytes` in.
  /// - Returns: what is to be written now, in order: nothing as long as it is little.
  fileprivate mutating func gather(_ bytes: IOBuffer) -> [IOBuffer] {
    let former = gathered
    guard (former?.count ?? 0) + bytes.count <= FileUpload.gatheredSize else {
      gathered = nil
      return [former, bytes].compactMap(\.self)
    }
    let room = former ?? IOBuffer(capacity: FileUpload.gatheredSize)
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
