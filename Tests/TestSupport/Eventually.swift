/// A condition did not begin to hold in time.
public struct NeverHeld: Error, CustomStringConvertible {
  /// Where the condition is.
  public let description: String
}

/// Waits until a condition holds, and lets other tasks run meanwhile.
///
/// Throws ``NeverHeld`` after five minutes, so that a test fails that would otherwise never end: on a busy machine a task
/// can wait long for a thread. Throws a `CancellationError` if the task is cancelled.
public func eventually(
  file: String = #fileID, line: Int = #line, _ condition: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + Duration.seconds(300).patient
  while try await !condition() {
    try Task.checkCancellation()
    guard ContinuousClock.now < end else {
      throw NeverHeld(description: "The condition at \(file):\(line) did not hold within five minutes.")
    }
    await Task.yield()
  }
}
