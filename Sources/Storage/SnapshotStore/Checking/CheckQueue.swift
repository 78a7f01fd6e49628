import Dispatch
package import Foundation
package import SnapshotFormat
package import SystemIO

/// Checks bundles in slices on a few threads, the shortest check first. A large bundle does not delay small ones, and
/// several large bundles are finished one after the other instead of all at the end.
package final class CheckQueue: Sendable {
  /// A thread or queue that does one slice at a time.
  package struct Worker: Sendable {
    /// The longest check that this worker takes, in bytes: see ``SnapshotFormat/BundleCheck/weight(of:depth:)``.
    package var most = Int64.max
    /// Runs a closure on a thread that may block, after the closures that were enqueued before it.
    package var run: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Creates a worker.
    package init(
      most: Int64 = .max, run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
      self.most = most
      self.run = run
    }
  }

  private struct State {
    var waiting = ShortestFirst<CheckJob>()
    var busy: Set<Int> = []
  }

  /// The longest check, in bytes, that counts as short: about 10 ms of work.
  package static let shortWeight: Int64 = 4 << 20

  private let workers: [Worker]
  private let state = Lock(State())

  /// Creates a queue with `workers`.
  package init(_ workers: [Worker]) { self.workers = workers }

  /// Creates a queue that checks on a low-priority thread, for checks that no client waits for.
  package convenience init(on queue: BackgroundQueue) { self.init([Worker { queue.async($0) }]) }

  /// Creates the queue for checks that a client waits for: two workers for all checks, and one for short checks only. A
  /// slice can't be interrupted, and the check of the structure is a single slice, so long checks can keep the first
  /// two busy.
  package convenience init(on queues: QueueSet) {
    self.init(
      [.max, .max, Self.shortWeight].map { most in
        let queue = queues.next
        return Worker(most: most) { queue.async(execute: $0) }
      })
  }

  /// The number of checks that wait for their next slice.
  package var waiting: Int { state.withLock { $0.waiting.count } }

  /// Enqueues a check.
  package func add(_ job: CheckJob) { add(job, weight: job.size, hasBegun: false, from: nil) }

  /// Checks a zip.
  /// - Parameter depth: returns how much is checked, given the length of a full check.
  package func check(
    _ zip: URL, size: Int64, by validate: @escaping UploadValidator.Validator,
    depth: @escaping @Sendable (_ weight: Int64) -> SnapshotBundle.Depth = { _ in .full }
  ) async throws(BundleError) -> CheckJob.Outcome {
    let result: Result<CheckJob.Outcome, BundleError> = await withCheckedContinuation { continuation in
      add(CheckJob(zip, size: size, by: validate, depth: depth) { continuation.resume(returning: $0) })
    }
    return try result.get()
  }

  /// Drops the waiting checks. Their `finish` closures are never called.
  package func removeAll() { state.withLock { $0.waiting.removeAll() } }

  /// - Parameter worker: the worker that just did a slice of this job and takes the next slice in any case.
  private func add(_ job: CheckJob, weight: Int64, hasBegun: Bool, from worker: Int?) {
    let started = state.withLock { state -> Int? in
      state.waiting.add(job, weight: weight, hasBegun: hasBegun)
      // This worker takes its next slice anyway. An idle worker is only needed for a job that is too long for it.
      if let worker, weight <= workers[worker].most { return nil }
      let idle = workers.indices.first { !state.busy.contains($0) && weight <= workers[$0].most }
      if let idle { state.busy.insert(idle) }
      return idle
    }
    if let started { workers[started].run { self.work(started) } }
  }

  /// Does one slice.
  private func work(_ worker: Int) {
    let job = state.withLock { state in
      let job = state.waiting.next(upTo: workers[worker].most)
      if job == nil { state.busy.remove(worker) }
      return job
    }
    guard let job else { return }
    if let (weight, hasBegun) = job.advance() { add(job, weight: weight, hasBegun: hasBegun, from: worker) }
    workers[worker].run { self.work(worker) }
  }
}
