import Dispatch
import Foundation
import SnapshotFormat
import SnapshotStore
import Synchronization
import SystemIO

/// A bundle on its way into a ``FileBundleStore``.
///
/// At most two pieces are in flight: one that is written, and one that waits for its turn.
final class FileUpload: BundleUpload {
  private struct Flow {
    var inFlight = 0
    var failure: StoreError?
    var hasEnded = false
    /// Who waits for room.
    var waiter: CheckedContinuation<StoreError?, Never>?
  }

  private let staging: Staging
  private let queue: DispatchQueue
  private let store: FileBundleStore
  private let arrival: Occupancy.Arrival
  private let flow = Mutex(Flow())

  init(_ staging: Staging, on queue: DispatchQueue, in store: FileBundleStore) {
    self.staging = staging
    self.queue = queue
    self.store = store
    arrival = Occupancy.Arrival(in: store.occupancy)
  }

  deinit {
    guard !flow.withLock({ $0.hasEnded }) else { return }
    queue.async { [staging, store] in store.attempt("remove an abandoned upload", staging.names.remove) }
  }

  func append(_ bytes: IOBuffer) async throws(StoreError) {
    try flow.withLock { flow throws(StoreError) in
      if let failure = flow.failure { throw failure }
      if flow.hasEnded { throw .notFound }
      flow.inFlight += 1
    }
    queue.async { self.write(bytes) }
    if let failure = await room() { throw failure }
  }

  func commit(_ attachment: Attachment) async throws(StoreError) -> Publication {
    try end()
    do throws(StoreError) {
      let (record, files) = try await admit(attachment)
      do throws(SystemError) { try await staging.makeLast(files) } catch { throw StoreError(error) }
      let publication = try await store.publish(
        staging.names, arrival, as: record, createOnly: attachment.createOnly)
      if case .created(let record) = publication, record.verified == .pending {
        store.verifyLater(record.id)
      }
      return publication
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
  private func write(_ bytes: IOBuffer) {
    var failure = flow.withLock { $0.failure }
    if failure == nil {
      do throws(StoreError) {
        try store.requireFreeSpace(for: Int64(bytes.count))
        try arrival.grow(by: Int64(bytes.count))
        do { try staging.append(bytes) } catch { throw StoreError(error) }
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

  /// Checks what arrived once all of it is written, and writes its record.
  /// - Returns: the record, and the files that are to be made last.
  private func admit(
    _ attachment: Attachment
  ) async throws(StoreError) -> (SnapshotRecord, [Flusher.Target]) {
    let arrived = try await queue.perform { [self] () throws(StoreError) in
      if let failure = flow.withLock({ $0.failure }) { throw failure }
      return staging.arrived
    }
    // Inflating a whole bundle would hold up the other uploads of this queue.
    let depth = store.configuration.admission.depth(for: attachment, size: arrived.size)
    let checker = depth == .full ? store.checkers.next : queue
    return try await checker.perform { [staging, store] () throws(StoreError) in
      let record = try store.configuration.admission.admit(
        URL(filePath: staging.names.bundle), size: arrived.size, sha256: arrived.sha256, as: attachment)
      do throws(SystemError) {
        return (record, try staging.complete(with: RecordFile.encode(record), store.seams))
      } catch {
        throw StoreError(error)
      }
    }
  }

  private func remove() async {
    arrival.release()
    await queue.perform { [staging, store] in store.attempt("remove a refused upload", staging.names.remove) }
  }
}
