import Dispatch
import HTTPEngine
import HTTPTypes
import Observability
import SnapshotStore
import SystemIO

/// Runs comparisons and searches of contents: as many at a time as there are processors, the shortest of those that wait first. Refuses more than
/// a number of waiting ones, which would only be answered after their clients have given up. Thread-safe.
final class ComparisonQueue: Sendable {
  private typealias Turn = CheckedContinuation<Result<DispatchQueue, HTTPProblem>, Never>

  private struct State {
    var idle: [DispatchQueue]
    var waiting = ShortestFirst<Turn>()
  }

  /// How many comparisons may wait for each processor. A comparison takes at most about a second.
  private static let waitingPerWorker = 16

  private let limit: Int
  private let state: Lock<State>

  /// Creates a queue for `workers` comparisons at a time.
  init(workers: Int = Processors.count, on queues: QueueSet = ServerQueues.shared.comparisons) {
    limit = workers * Self.waitingPerWorker
    state = Lock(State(idle: (0..<workers).map { _ in queues.next }))
  }

  /// The number of comparisons that wait.
  var waiting: Int { state.withLock { $0.waiting.count } }

  /// Waits for its turn, and then calls `work` with a queue to compare on. Throws a problem if too many wait.
  /// - Parameter weight: about how many bytes are compared.
  func perform<Value: Sendable>(
    weight: Int64, _ work: (DispatchQueue) async throws -> Value
  ) async throws -> Value {
    let queue = try await withCheckedContinuation { begin(weight, $0) }.get()
    defer { end(queue) }
    // The client possibly left while it waited.
    try Task.checkCancellation()
    return try await work(queue)
  }

  private func begin(_ weight: Int64, _ turn: Turn) {
    let answer: Result<DispatchQueue, HTTPProblem>? = state.withLock { state in
      if let queue = state.idle.popLast() { return .success(queue) }
      guard state.waiting.count < limit else { return .failure(Self.busy) }
      state.waiting.add(turn, weight: weight, hasBegun: false)
      return nil
    }
    if let answer { turn.resume(returning: answer) }
  }

  private func end(_ queue: DispatchQueue) {
    let next = state.withLock { state in
      let next = state.waiting.next()
      if next == nil { state.idle.append(queue) }
      return next
    }
    next?.resume(returning: .success(queue))
  }

  private static var busy: HTTPProblem {
    HTTPProblem(
      .busy, detail: "Too many comparisons and searches are waiting. Try again in a few seconds.",
      headerFields: [.retryAfter: "5"])
  }
}
