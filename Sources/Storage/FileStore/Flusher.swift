import Foundation
import SnapshotStore
import Synchronization
import SystemIO

/// Makes files and names last: each by itself, or, where several wait at the same time, all with one flush of the
/// whole volume.
///
/// A shared flush that fails does not say whose bytes were lost, nor does the next one tell it again. So whatever
/// was being written then counts as lost too: ``epoch`` shows it.
final class Flusher: Sendable {
  /// What is to survive a power cut.
  enum Target: Sendable {
    case file(File)
    case folder(String)
  }

  private struct Waiting: Sendable {
    let targets: [Target]
    let epoch: Int
    let finish: @Sendable (SystemError?) -> Void
  }

  /// From how many callers on one flush of everything is quicker than one of each file.
  static let sharedFrom = 3

  private let onFlush: @Sendable (Duration) -> Void
  private let flushAll: (@Sendable () throws(SystemError) -> Void)?
  private let queues: QueueSet
  private let batches = BatchQueue<Waiting>("file-store.flusher")
  private let failures = Atomic(0)

  /// - Parameters:
  ///   - count: how many are flushed at once where each is by itself.
  ///   - onFlush: told how long a round of flushes took.
  ///   - flushAll: flushes the volume that everything lies on, and tells this object alone of a failure; `nil`
  ///     flushes each by itself.
  init(
    count: Int, onFlush: @escaping @Sendable (Duration) -> Void = { _ in },
    flushAll: (@Sendable () throws(SystemError) -> Void)?
  ) {
    self.onFlush = onFlush
    queues = QueueSet("file-store.flusher", count: count)
    self.flushAll = flushAll
  }

  /// To be asked before the first byte is written, for ``flush(_:since:)``.
  var epoch: Int { failures.load(ordering: .acquiring) }

  /// Returns when all of `targets` would survive a power cut, together with whatever else waits.
  func flush(_ targets: [Target], since epoch: Int) async throws(SystemError) {
    let failure: SystemError? = await withCheckedContinuation { continuation in
      let waiting = Waiting(targets: targets, epoch: epoch) { continuation.resume(returning: $0) }
      if !batches.add(waiting, flush(_:)) {
        continuation.resume(returning: SystemError(operation: "flush", code: POSIXErrorCode.EBADF.rawValue))
      }
    }
    if let failure { throw failure }
  }

  /// How many callers wait.
  var waiting: Int { batches.waiting }

  /// Finishes what waits, and takes nothing any more.
  func close() async { await batches.close() }

  private func flush(_ round: [Waiting]) {
    let failures = flush(round.map(\.targets))
    for (waiting, failure) in zip(round, failures) {
      let isLost = waiting.epoch != epoch
      waiting.finish(
        failure ?? (isLost ? SystemError(operation: "syncfs", code: POSIXErrorCode.EIO.rawValue) : nil))
    }
  }

  /// Flushes what several callers want, and answers what failed for each. Blocks.
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
    // All at the same time, those of one caller too: the disk waits once for what it gets together.
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
