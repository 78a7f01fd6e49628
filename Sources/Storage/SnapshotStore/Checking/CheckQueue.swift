import Dispatch
package import Foundation
package import SnapshotFormat
import SystemIO

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

  /// Creates the queue for checks that a client waits for: two workers for all checks, and one for short checks only. A
  /// slice can't be interrupted, and the check of the structure is a single slice, so long checks can keep the first
  /// two busy.
  package convenience init() {
    let any = (0..<2).map { Self.worker("any.\($0)", most: .max) }
    self.init(any + [Self.worker("short", most: Self.shortWeight)])
  }

  private static func worker(_ name: String, most: Int64) -> Worker {
    let queue = DispatchQueue(label: "store.checker.\(name)", qos: .userInitiated)
    return Worker(most: most) { queue.async(execute: $0) }
  }

  /// The number of checks that wait for their next slice.
  package var waiting: Int { state.withLock { $0.waiting.count } }

  /// Enqueues a check.
  package func add(_ job: CheckJob) { add(job, weight: job.expectedWeight, hasBegun: false, from: nil) }

  /// Checks the zip and returns its summary. A check that is known to be short takes the place of a worker that is
  /// idle, and is done on the calling thread: waking another one would take longer.
  /// - Parameter weight: the length of the check, if it is known and the calling thread may block: see
  ///   ``SnapshotFormat/BundleCheck/weight(of:depth:)``.
  package func check(
    _ zip: URL, size: Int64, _ depth: SnapshotBundle.Depth, by validate: @escaping UploadValidator.Validator,
    weight: Int64? = nil
  ) async throws(BundleError) -> BundleSummary {
    if let weight, let worker = replaceWorker(weight) {
      defer { endReplacement(of: worker) }
      var check = try validate(zip, depth)
      while try check.advance() {}
      return check.summary
    }
    let result: Result<BundleSummary, BundleError> = await withCheckedContinuation { continuation in
      add(
        CheckJob(zip, size: size, depth, by: validate, weight: weight) { continuation.resume(returning: $0) })
    }
    return try result.get()
  }

  /// Marks an idle worker as busy, unless the check is long or others wait.
  private func replaceWorker(_ weight: Int64) -> Int? {
    guard weight <= Self.shortWeight else { return nil }
    return state.withLock { state in
      guard state.waiting.count == 0, let idle = idleWorker(weight, state) else { return nil }
      state.busy.insert(idle)
      return idle
    }
  }

  private func endReplacement(of worker: Int) {
    let isNeeded = state.withLock { state in
      if state.waiting.count == 0 { state.busy.remove(worker) }
      return state.waiting.count > 0
    }
    if isNeeded { workers[worker].run { self.work(worker) } }
  }

  private func idleWorker(_ weight: Int64, _ state: State) -> Int? {
    workers.indices.first { !state.busy.contains($0) && weight <= workers[$0].most }
  }

  /// Drops the waiting checks. Their `finish` closures are never called.
  package func removeAll() { state.withLock { $0.waiting.removeAll() } }

  /// - Parameter worker: the worker that just did a slice of this job and takes the next slice in any case.
  private func add(_ job: CheckJob, weight: Int64, hasBegun: Bool, from worker: Int?) {
    let started = state.withLock { state -> Int? in
      state.waiting.add(job, weight: weight, hasBegun: hasBegun)
      // This worker takes its next slice anyway. An idle worker is only needed for a job that is too long for it.
      if let worker, weight <= workers[worker].most { return nil }
      let idle = idleWorker(weight, state)
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
