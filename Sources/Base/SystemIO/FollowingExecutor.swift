package import Dispatch

extension DispatchQueue {
  /// Runs `work`, which may block, on this queue, and after each wait on the thread that ended the wait. Work that
  /// passes through several queues needs only one thread switch per queue, without one back to the caller's executor.
  ///
  /// Whatever ends a wait in `work` must hold no lock, must allow blocking, and is delayed until the next wait.
  package func following<Value: Sendable, Failure: Error>(
    _ work: @Sendable () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else {
      // Only servers wait like this. An app on an older system has one at most, for its own pages.
      return try await work()
    }
    let executor = FollowingExecutor(self)
    return try await withTaskExecutorPreference(executor) { () async throws(Failure) in
      try await executor.run(work)
    }
  }
}

/// Starts a task on a queue, and resumes it on the thread that ends its wait.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class FollowingExecutor: TaskExecutor {
  private let queue: DispatchQueue
  private let hasStarted = Lock(false)

  init(_ queue: DispatchQueue) { self.queue = queue }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if hasStarted.value {
      job.runSynchronously(on: asUnownedTaskExecutor())
    } else {
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  /// Runs `work` in a task that prefers this executor.
  @concurrent func run<Value: Sendable, Failure: Error>(
    _ work: @Sendable () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    // A synchronous call also keeps the compiler from eliminating the switch to this executor.
    dispatchPrecondition(condition: .onQueue(queue))
    hasStarted.set(true)
    return try await work()
  }
}
