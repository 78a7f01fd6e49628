import Foundation
import SnapshotStore
import SystemIO

/// Makes files and names durable in rounds: each with its own flush, or, if several callers wait at the same time, all
/// with one flush of the whole volume.
///
/// A shared flush that fails does not report whose bytes were lost, and the next one does not report the failure again.
/// So everything that was being written at that time counts as lost: callers detect this by ``epoch``.
final class Flusher: Sendable {
  /// A file or folder to make durable.
  enum Target: Sendable {
    case file(File)
    case folder(String)
  }

  /// The part of one caller in a round.
  struct Flush: Sendable {
    var targets: [Target]
    /// The epoch before the first change that is not durable yet.
    var epoch: Int
    /// Called after the flush with its failure.
    var finish: @Sendable (SystemError?) -> Void
  }

  /// Begins the part of one caller, just before the flush of its round; `nil` if it needs none.
  typealias Begin = @Sendable () -> Flush?

  /// The number of callers from which one flush of the volume is faster than a flush of each file.
  static let sharedFrom = 3

  private let onFlush: @Sendable (Duration) -> Void
  private let flushAll: (@Sendable () throws(SystemError) -> Void)?
  private let queues: QueueSet
  private let batches = BatchQueue<Begin>("flusher")
  private let failures = Lock(0)

  /// - Parameters:
  ///   - queues: flush the files, if each is flushed separately.
  ///   - onFlush: called with the duration of each round of flushes.
  ///   - flushAll: flushes the volume that holds all files, and reports a failure to this object only; with `nil`, each
  ///     file is flushed separately.
  init(
    on queues: QueueSet, onFlush: @escaping @Sendable (Duration) -> Void = { _ in },
    flushAll: (@Sendable () throws(SystemError) -> Void)?
  ) {
    self.onFlush = onFlush
    self.queues = queues
    self.flushAll = flushAll
  }

  /// The number of shared flushes that have failed. Callers read it before they write their first byte, for
  /// ``flush(_:since:)``.
  var epoch: Int { failures.value }

  /// Makes `targets` durable, together with those of all other waiting callers; returns when they would survive a power
  /// cut.
  func flush(_ targets: [Target], since epoch: Int) async throws(SystemError) {
    let failure: SystemError? = await withCheckedContinuation { continuation in
      if !add({ Flush(targets: targets, epoch: epoch) { continuation.resume(returning: $0) } }) {
        continuation.resume(returning: SystemError(operation: "flush", code: POSIXErrorCode.EBADF.rawValue))
      }
    }
    if let failure { throw failure }
  }

  /// Calls `begin` in the next round, together with those of all other waiting callers, and then flushes what they
  /// return. All calls are made one after the other, on a thread that may block.
  /// - Returns: `false` if the flusher is closed. `begin` is then never called.
  func add(_ begin: @escaping Begin) -> Bool { batches.add(begin, run(_:)) }

  /// The number of callers that wait.
  var waiting: Int { batches.waiting }

  var isClosed: Bool { batches.isClosed }

  /// Completes the waiting flushes and what follows from them, and refuses new ones.
  func close() async {
    // An upload whose files are flushed here has its names changed in the next round.
    await batches.queue.perform {}
    await batches.close()
  }

  private func run(_ round: [Begin]) {
    let flushes = round.compactMap { $0() }
    guard !flushes.isEmpty else { return }
    let failures = flush(flushes.map(\.targets))
    for (flush, failure) in zip(flushes, failures) {
      let isLost = flush.epoch != epoch
      flush.finish(
        failure ?? (isLost ? SystemError(operation: "syncfs", code: POSIXErrorCode.EIO.rawValue) : nil))
    }
  }

  /// Flushes the targets of several callers, and returns the failure of each. Blocks.
  func flush(_ callers: [[Target]]) -> [SystemError?] {
    let began = SystemClock.monotonicNanoseconds
    defer { onFlush(.nanoseconds(Int64(SystemClock.monotonicNanoseconds - began))) }
    if let flushAll, callers.count >= Self.sharedFrom {
      do {
        try flushAll()
        return Array(repeating: nil, count: callers.count)
      } catch {
        failures.add(1)
        return Array(repeating: error, count: callers.count)
      }
    }
    let failures = Lock([SystemError?](repeating: nil, count: callers.count))
    let parts = Self.parts(of: callers)
    // All at once, including the targets of one caller: the disk then completes them in a single pass.
    queues.perform(parts.count) { index in
      do throws(SystemError) {
        try parts[index].target.synchronize()
      } catch {
        failures.withLock { failures in
          for caller in parts[index].callers { failures[caller] = failures[caller] ?? error }
        }
      }
    }
    return failures.withLock { $0 }
  }

  /// The targets with the callers of each. A folder that several callers have changed is flushed once.
  private static func parts(of callers: [[Target]]) -> [(target: Target, callers: [Int])] {
    var parts: [(target: Target, callers: [Int])] = []
    var folders: [String: Int] = [:]
    for (caller, targets) in callers.enumerated() {
      for target in targets {
        if case .folder(let path) = target, let known = folders.updateValue(parts.count, forKey: path) {
          folders[path] = known
          parts[known].callers.append(caller)
        } else {
          parts.append((target, [caller]))
        }
      }
    }
    return parts
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
