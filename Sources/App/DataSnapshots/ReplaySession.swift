import Foundation
import SystemIO

/// The state of replaying since it began: the position in each history, the time, and the missed identifiers.
final class ReplaySession: Sendable {
  private struct Memory {
    var positions: [String: Int] = [:]
    var time: Date?
    var hasServed = false
    var wasClockAsked = false
    var misses: [ModuleReport.Miss] = []
    var missed: Set<String> = []
  }

  /// The maximum number of missed identifiers remembered. The nearest identifiers are searched only for these.
  static let mostMisses = 100
  private let memory = Lock(Memory())

  /// Returns the index, below `count`, of the next call of `identifier`. After the last call of a history, returns the
  /// last index again, or throws ``ReplayProblem/exhausted(_:)``, as `afterLast` specifies.
  func next(
    _ identifier: String, of count: Int, isHistory: Bool, _ afterLast: SnapshotMode.Policy.AfterLast
  ) throws(ReplayProblem) -> Int {
    guard isHistory, count > 1 || afterLast != .repeat else { return count - 1 }
    let position = memory.withLock { memory in
      let position = memory.positions[identifier, default: 0]
      memory.positions[identifier] = min(position + 1, count)
      return position
    }
    if position < count { return position }
    guard afterLast == .repeat else { throw .exhausted(count) }
    return count - 1
  }

  /// Sets the time to that of a datum that is served, unless it is later already.
  func advance(to time: Date) {
    memory.withLock { memory in
      memory.hasServed = true
      memory.time = max(memory.time ?? time, time)
    }
  }

  /// Returns the time of the latest datum served, or that of `start` before the first one. Remembers that it was asked.
  func now(start: () -> Date?) -> Date? {
    let known = memory.withLock { memory in
      memory.wasClockAsked = true
      return memory.time
    }
    guard known == nil, let start = start() else { return known }
    return memory.withLock { memory in
      let time = max(memory.time ?? start, start)
      memory.time = time
      return time
    }
  }

  /// Whether the app asked for the time; `nil` if nothing was replayed.
  var wasClockAsked: Bool? { memory.withLock { $0.hasServed || $0.wasClockAsked ? $0.wasClockAsked : nil } }

  /// Remembers an identifier that has no further recording as missed.
  func miss(_ identifier: String) { _ = nearest(to: identifier) { [] } }

  /// Returns the recorded identifiers that are nearest to `identifier`, which has no recording. Remembers it as missed.
  func nearest(to identifier: String, among recorded: () -> [String]) -> [String] {
    let known: ModuleReport.Miss?? = memory.withLock { memory in
      if memory.missed.contains(identifier) { return memory.misses.first { $0.identifier == identifier } }
      guard memory.misses.count < Self.mostMisses else { return .some(nil) }
      return nil
    }
    if let known { return known?.nearest ?? [] }
    let miss = ModuleReport.Miss(
      identifier: identifier,
      nearest: ExchangeIdentifier(identifier)?.nearest(among: recorded())
        ?? NearestIdentifiers.find(identifier, among: recorded()))
    memory.withLock { memory in
      if memory.misses.count < Self.mostMisses, memory.missed.insert(identifier).inserted {
        memory.misses.append(miss)
      }
    }
    return miss.nearest
  }

  /// The identifiers without a recording, in the order in which they were first requested.
  var misses: [ModuleReport.Miss] { memory.withLock { $0.misses } }
}
