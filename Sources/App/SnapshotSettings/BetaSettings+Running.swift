import SnapshotClient
import SnapshotFormat

extension BetaSettings {
  /// What came of something, for people.
  struct Outcome: Sendable {
    let title: String
    let message: String
    let snapshot: SnapshotID?

    init(_ title: String, _ message: String, _ snapshot: SnapshotID?) {
      self.title = title
      self.message = message
      self.snapshot = snapshot
    }
  }

  /// Tells how far something is: another message, or none, and the part that is done where it is known.
  typealias Step = @Sendable (_ message: String?, _ fraction: Double?) -> Void

  /// Begins `work` unless something else goes on; ``Overview/activity`` tells of it from now on.
  @discardableResult
  func begin(
    _ title: String, _ work: @escaping @Sendable (@escaping Step) async throws -> Outcome
  ) throws(BetaSettingsError) -> Task<Void, Never> {
    let running = withCore { core -> Result<Task<Void, Never>, BetaSettingsError> in
      if let activity = core.activity, activity.phase == .running { return .failure(.busy(activity.title)) }
      core.activity = Activity(title: title, phase: .running)
      let task = Task { [self] in
        let end = await Self.end(of: title) { () async throws in
          try await work { [self] message, fraction in
            withCore { core in
              if let message { core.activity?.message = message }
              core.activity?.fraction = fraction
            }
          }
        }
        withCore { $0.activity = end }
      }
      core.task = task
      return .success(task)
    }
    return try running.get()
  }

  /// Does `work`, which takes a moment at most, and waits for its end.
  func perform(
    _ title: String, _ work: @escaping @Sendable (@escaping Step) async throws -> Outcome
  ) async throws(BetaSettingsError) {
    let task = try begin(title, work)
    await task.value
  }

  private static func end(of title: String, _ work: () async throws -> Outcome) async -> Activity {
    do {
      let outcome = try await work()
      return Activity(
        title: outcome.title, phase: .done, message: outcome.message, snapshot: outcome.snapshot)
    } catch {
      let wasCancelled =
        error is CancellationError || (error as? SnapshotClientError)?.code == .cancelled
      return wasCancelled
        ? Activity(title: title, phase: .cancelled, message: "It was stopped; nothing has changed.")
        : Activity(title: title, phase: .failed, message: "\(error)")
    }
  }
}
