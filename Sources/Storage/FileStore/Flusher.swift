import Foundation
import SnapshotStore
import Synchronization
import SystemIO

/// Makes files and names durable: each with its own flush, or, if several callers wait at the same time, all with one
/// flush of the whole volume.
///
/// A shared flush that fails does not report whose bytes were lost, and the next one does not report the failure again.
/// So everything that was being written at that time counts as lost: callers detect this by ``epoch``.
final class Flusher: Sendable {
  /// A file or folder to make durable.
  enum Target: Sendable {
    case file(File)
    case folder(String)
  }

  private struct Waiting: Sendable {
    let targets: [Target]
    let epoch: Int
    let finish: @Sendable (SystemError?) -> Void
  }

  /// The number of callers from which one flush of the volume is faster than a flush of each file.
  static let sharedFrom = 3

  private let onFlush: @Sendable (Duration) -> Void
  private let flushAll: (@Sendable () throws(SystemError) -> Void)?
  private let queues: QueueSet
  private let batches = BatchQueue<Waiting>("file-store.flusher")
  private let failures = Atomic(0)

  /// - Parameters:
  ///   - count: how many files are flushed at once, if each is flushed separately.
  ///   - onFlush: called with the duration of each round of flushes.
  ///   - flushAll: flushes the volume that holds all files, and reports a failure to this object only; with `nil`, each
  ///     file is flushed separately.
  init(
    count: Int, onFlush: @escaping @Sendable (Duration) -> Void = { _ in },
    flushAll: (@Sendable () throws(SystemError) -> Void)?
  ) {
    self.onFlush = onFlush
    queues = QueueSet("file-store.flusher", count: count)
    self.flushAll = flushAll
  }

  /// The number of shared flushes that have failed. Callers read it before they write their first byte, for
  /// ``flush(_:since:)``.
  var epoch: Int { failures.load(ordering: .acquiring) }

  /// Makes `targets` durable, together with those of all other waiting callers; returns when they would survive a power
  /// cut.
  func flush(_ targets: [Target], since epoch: Int) async throws(SystemError) {
    let failure: SystemError? = await withCheckedContinuation { continuation in
      let waiting = Waiting(targets: targets, epoch: epoch) { continuation.resume(returning: $0) }
      if !batches.add(waiting, flush(_:)) {
        continuation.resume(returning: SystemError(operation: "flush", code: POSIXErrorCode.EBADF.rawValue))
      }
    }
    if let failure { throw failure }
  }

  /// The number of callers that wait.
  var waiting: Int { batches.waiting }

  /// Completes the waiting flushes, and refuses new ones.
  func close() async { await batches.close() }

  private func flush(_ round: [Waiting]) {
    let failures = flush(round.map(\.targets))
    for (waiting, failure) in zip(round, failures) {
      let isLost = waiting.epoch != epoch
      waiting.finish(
        failure ?? (isLost ? SystemError(operation: "syncfs", code: POSIXErrorCode.EIO.rawValue) : nil))
    }
  }

  /// Flushes the targets of several callers, and returns the failure of each. Blocks.
  func flush(_ callers: [[Target]]) -> [SystemError?] {
    let began = SystemClock.monotonicNanoseconds
    defer { onFlush(.nanoseconds(Int64(SystemClock.monotonicNanoseconds - began))) }
    if let flushAll, callers.count >= Self.sharedFrom {
      do throws(SystemError) {
        try flushAll()
        return Array(repeating: nil, count: callers.count)
      } catch {
        failures.wrappingAdd(1, ordering: .acquiringAndReleasing)
        return Array(repeating: error, count: callers.count)
      }
    }
    let failures = Mutex([SystemError?](repeating: nil, count: callers.count))
    let all = callers.enumerated().flatMap { caller, targets in targets.map { (caller, $0) } }
    // All at once, including the targets of one caller: the disk then completes them in a single pass.
    queues.perform(all.count) { index in
      let (caller, target) = all[index]
      do throws(SystemError) {
        try target.synchronize()
      } catch {
        failures.withLock { $0[caller] = $0[caller] ?? error }
      }
    }
    return failures.withLock { $0 }
  }
}

extension Flusher.Target {
  fileprivate func synchronize() throws(SystemError) {
    switch self {
    case .file(let file): try file.synchronize()
    case .folder(let path): try Folder.synchronize(path)
    }
  }
}
