package import Foundation
import SystemIO

/// What was asked of a replay server, and what it answered. Thread-safe. Keeps the newest requests.
package final class ReplayLog: Sendable {
  /// How a request was answered.
  package enum Outcome: Sendable, Hashable {
    /// By a recorded call.
    case recorded(number: Int, count: Int)
    /// By a recorded error.
    case failed(String, number: Int, count: Int)
    /// By the live server.
    case live
    /// The request was not recorded. The nearest one, and in what the request differs from it.
    case missing(nearest: String?, difference: String?)
    /// All recorded calls have been replayed.
    case exhausted(count: Int)
    /// A browser asked whether a page can send a request.
    case preflight
    /// The request was refused.
    case refused(String)
  }

  /// A request and its answer.
  package struct Entry: Sendable {
    /// The number of the request, from 1.
    package let number: Int
    /// When it was answered.
    package let time: Date
    /// The method.
    package let method: String
    /// The path and the query, as they were sent; a long one is cut.
    package let target: String
    /// The status; `nil` if the connection was closed instead.
    package let status: Int?
    /// How it was answered.
    package let outcome: Outcome
    /// What the client can't do with the answer; `nil` for nothing.
    package let note: String?

    /// Whether the snapshot had no answer.
    package var isMissing: Bool {
      switch outcome {
      case .missing, .exhausted: true
      case .recorded, .failed, .live, .preflight, .refused: false
      }
    }
  }

  /// All requests so far.
  package struct State: Sendable {
    /// The newest requests, oldest first.
    package fileprivate(set) var entries: [Entry] = []
    /// The numbers of requests: in all, without a recorded answer, and answered by the live server.
    package fileprivate(set) var total = 0, missing = 0, live = 0
    /// The first of each different request without a recorded answer.
    package fileprivate(set) var misses: [Entry] = []
    fileprivate var missed: Set<String> = []
  }

  private let lock = Lock(State())
  private let onEntry: @Sendable (Entry) -> Void

  /// Creates an empty log.
  /// - Parameter onEntry: called for each request, on any thread. It must return quickly.
  package init(onEntry: @escaping @Sendable (Entry) -> Void = { _ in }) { self.onEntry = onEntry }

  /// The requests so far.
  package var state: State { lock.withLock { $0 } }

  func add(_ method: String, _ target: String, status: Int?, _ outcome: Outcome, note: String? = nil) {
    let cut = String(decoding: target.utf8.prefix(ReplayLimits.loggedTargetBytes), as: UTF8.self)
    let entry = lock.withLock { state in
      state.total += 1
      let entry = Entry(
        number: state.total, time: Date(), method: method, target: cut, status: status, outcome: outcome,
        note: note)
      state.entries.append(entry)
      // Removed in portions, because the array moves each time.
      if state.entries.count >= 2 * ReplayLimits.loggedRequests {
        state.entries.removeFirst(state.entries.count - ReplayLimits.loggedRequests)
      }
      if outcome == .live { state.live += 1 }
      if entry.isMissing {
        state.missing += 1
        if state.misses.count < ReplayLimits.missingRequests, state.missed.insert("\(method) \(cut)").inserted
        {
          state.misses.append(entry)
        }
      }
      return entry
    }
    onEntry(entry)
  }
}

extension ReplayLog.Entry: CustomStringConvertible {
  /// The outcome and the note.
  var words: String { note.map { "\(outcome); \($0)" } ?? "\(outcome)" }

  /// The request and its answer on one line, such as `GET /api/feed → 200, recording 2 of 3`. It contains texts of others.
  package var description: String {
    "\(method) \(target) → \(status.map { "\($0)" } ?? "closed"), \(words)"
  }
}

extension ReplayLog.Outcome: CustomStringConvertible {
  /// The outcome in words.
  package var description: String {
    switch self {
    case .recorded(let number, let count): "recording \(number) of \(count)"
    case .failed(let error, let number, let count):
      "recorded error: \(error), recording \(number) of \(count)"
    case .live: "from the live server"
    case .missing(nil, _): "missing: nothing similar was recorded"
    case .missing(let nearest?, let difference):
      "missing: nearest \(nearest), which differs in \(difference ?? "nothing")"
    case .exhausted(let count): "missing: all \(count) recorded calls were replayed"
    case .preflight: "allowed for a page of another origin"
    case .refused(let reason): reason
    }
  }
}
