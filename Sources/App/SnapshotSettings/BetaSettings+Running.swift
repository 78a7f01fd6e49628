import SnapshotClient
import SnapshotFormat

extension BetaSettings {
  /// The result of an operation, for display.
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

  /// Reports progress: a new message, or `nil` to keep the current one, and the completed fraction if it is known.
  typealias Step = @Sendable (_ message: String?, _ fraction: Double?) -> Void

  /// Starts `work` unless another operation is running. ``Overview/activity`` describes it from now on.
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

  /// Runs a short operation and waits until it ends.
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
        ? Activity(
          title: title, phase: .cancelled, message: "The operation was cancelled; nothing has changed.")
        : Activity(title: title, phase: .failed, message: "\(error)")
    }
  }
}
