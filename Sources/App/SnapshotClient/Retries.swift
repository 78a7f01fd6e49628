/// Counts the attempts at one thing, and waits between them.
struct Retries {
  private let policy: RetryPolicy
  private let environment: ClientEnvironment
  private var attempts = 0

  init(_ policy: RetryPolicy, in environment: ClientEnvironment) {
    self.policy = policy
    self.environment = environment
  }

  /// Counts anew, since something was reached.
  mutating func startOver() { attempts = 0 }

  /// Waits as long as it takes before the next attempt, or throws `error` if there is to be none.
  mutating func pause(after error: SnapshotClientError, if isAllowed: Bool) async throws(SnapshotClientError)
  {
    attempts += 1
    guard isAllowed, attempts < policy.attempts,
      let delay = policy.delay(
        afterAttempt: attempts, retryAfter: error.retryAfter, random: environment.random())
    else { throw error }
    do {
      try await environment.sleep(.seconds(delay))
      try Task.checkCancellation()
    } catch {
      throw SnapshotClientError(.cancelled, cause: error)
    }
  }
}
