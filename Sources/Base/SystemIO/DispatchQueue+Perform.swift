package import Dispatch

extension DispatchQueue {
  /// Does blocking work on this queue while the caller's executor is free for others: the one bridge from tasks to
  /// Dispatch. Cancelling the task doesn't end the wait.
  package func perform<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
      self.async { continuation.resume(returning: Result(catching: work)) }
    }
    return try result.get()
  }
}
