import Dispatch
import Foundation
import SnapshotFormat
import SnapshotStore
import Synchronization
import SystemIO

/// Checks bundles in slices on a few threads, the shortest check first: one client's large bundle keeps no small one
/// waiting, and large ones end one after the other instead of all at once.
final class CheckQueue: Sendable {
  /// Something that does one slice after the other.
  struct Worker: Sendable {
    /// The longest check that it takes, in bytes: see ``SnapshotFormat/BundleCheck/weight(of:depth:)``.
    var most = Int64.max
    /// Has a closure run where it may block, after what waits there.
    var run: @Sendable (@escaping @Sendable () -> Void) -> Void
  }

  private struct State {
    var waiting = ShortestFirst<CheckJob>()
    var busy: Set<Int> = []
  }

  /// The longest check that counts as short: some 10 ms of work.
  static let shortWeight: Int64 = 4 << 20

  private let workers: [Worker]
  private let state = Mutex(State())

  init(_ workers: [Worker]) { self.workers = workers }

  /// For checks that somebody waits for: two threads for all of them, and one that short checks need not share, since a
  /// slice is not interrupted and the check of the structure is one slice.
  convenience init() {
    let any = (0..<2).map { Self.worker("any.\($0)", most: .max) }
    self.init(any + [Self.worker("short", most: Self.shortWeight)])
  }

  private static func worker(_ name: String, most: Int64) -> Worker {
    let queue = DispatchQueue(label: "file-store.checker.\(name)", qos: .userInitiated)
    return Worker(most: most) { queue.async(execute: $0) }
  }

  /// How many checks wait for their next slice.
  var waiting: Int { state.withLock { $0.waiting.count } }

  /// Has a check done.
  func add(_ job: CheckJob) { add(job, weight: job.size, hasBegun: false, from: nil) }

  /// Has the zip checked, and returns the end of it.
  func check(
    _ zip: URL, size: Int64, _ depth: SnapshotBundle.Depth, by validate: @escaping UploadValidator.Validator
  ) async throws(BundleError) -> BundleSummary {
    let result: Result<BundleSummary, BundleError> = await withCheckedContinuation { continuation in
      add(CheckJob(zip, size: size, depth, by: validate) { continuation.resume(returning: $0) })
    }
    return try result.get()
  }

  /// Drops the checks that wait, whose ends nobody hears of.
  func removeAll() { state.withLock { $0.waiting.removeAll() } }

  /// - Parameter worker: the one that goes on with what waits in any case.
  private func add(_ job: CheckJob, weight: Int64, hasBegun: Bool, from worker: Int?) {
    let started = state.withLock { state -> [Int] in
      state.waiting.add(job, weight: weight, hasBegun: hasBegun)
      // Whoever is idle had nothing to take: only what is too long for this worker can be new to another.
      if let worker, weight <= workers[worker].most { return [] }
      let idle = workers.indices.filter { !state.busy.contains($0) && weight <= workers[$0].most }
      state.busy.formUnion(idle)
      return idle
    }
    for worker in started { workers[worker].run { self.work(worker) } }
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
