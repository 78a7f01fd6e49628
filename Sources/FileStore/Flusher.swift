import Dispatch
import Foundation
import Synchronization
import SystemIO

/// Makes last what waits at the same time: by one flush of the whole file system where that can be done, else by one
/// for each, several at once.
final class Flusher: Sendable {
  /// Flushes one file or folder.
  typealias Flush = @Sendable () throws(SystemError) -> Void

  private struct Waiting: Sendable {
    let flush: Flush
    let completion: @Sendable (SystemError?) -> Void
  }

  private let seams: Seams
  private let volume: Volume?
  private let queues: QueueSet
  private let rounds: Rounds<Waiting>

  /// - Parameters:
  ///   - volume: where everything lies, if all of it can be flushed at once.
  ///   - count: how many flushes wait for the disk at once.
  init(seams: Seams, volume: Volume?, count: Int) {
    let queues = QueueSet("flusher", count: count)
    self.seams = seams
    self.volume = volume
    self.queues = queues
    rounds = Rounds("flushing") { [volume] round in
      let failures = Self.flush(
        round.map(\.flush), .flushFiles, together: round.count > 1, volume, queues, seams)
      for (waiting, failure) in zip(round, failures) { waiting.completion(failure) }
    }
  }

  /// Flushes together with what others ask for meanwhile.
  func flush(_ flush: @escaping Flush) async throws(SystemError) {
    let failure: SystemError? = await withCheckedContinuation { continuation in
      let waiting = Waiting(flush: flush) { continuation.resume(returning: $0) }
      if !rounds.add(waiting) {
        continuation.resume(
          returning: SystemError(operation: "fsync", path: nil, code: POSIXErrorCode.EBADF.rawValue))
      }
    }
    if let failure { throw failure }
  }

  /// Flushes all of them before it returns; blocks.
  /// - Parameters:
  ///   - step: what to announce.
  ///   - together: whether they are worth a flush of the whole file system.
  /// - Returns: what failed, at the same places.
  func flush(_ flushes: [Flush], _ step: Step, together: Bool) -> [SystemError?] {
    Self.flush(flushes, step, together: together, volume, queues, seams)
  }

  private static func flush(
    _ flushes: [Flush], _ step: Step, together: Bool, _ volume: Volume?, _ queues: QueueSet, _ seams: Seams
  ) -> [SystemError?] {
    if together, let volume {
      do throws(SystemError) {
        try seams.before(step)
        try volume.synchronize()
        return flushes.map { _ in nil }
      } catch {
        // Whose bytes they were that could not be written shows below.
      }
    }
    if flushes.count == 1 { return [failure(of: flushes[0], step, seams)] }
    let failures = Mutex([SystemError?](repeating: nil, count: flushes.count))
    let group = DispatchGroup()
    for (index, flush) in flushes.enumerated() {
      queues.next.async(group: group) {
        let outcome = failure(of: flush, step, seams)
        failures.withLock { $0[index] = outcome }
      }
    }
    group.wait()
    return failures.withLock { $0 }
  }

  private static func failure(of flush: Flush, _ step: Step, _ seams: Seams) -> SystemError? {
    do throws(SystemError) {
      try seams.before(step)
      try flush()
      return nil
    } catch {
      return error
    }
  }
}
