import SystemIO

/// The state of replaying since it began: the position in each history, and the missed identifiers.
final class ReplaySession: Sendable {
  private struct Memory {
    var positions: [String: Int] = [:]
    var misses: [ModuleReport.Miss] = []
    var missed: Set<String> = []
  }

  /// The maximum number of missed identifiers remembered. The nearest identifiers are searched only for these.
  static let mostMisses = 100
  private let memory = Lock(Memory())

  /// Returns the index, below `count`, of the next call of `identifier`. After the last call, returns the last index
  /// again.
  func next(_ identifier: String, of count: Int) -> Int {
    guard count > 1 else { return 0 }
    return memory.withLock { memory in
      let position = memory.positions[identifier, default: 0]
      memory.positions[identifier] = min(position + 1, count - 1)
      return min(position, count - 1)
    }
  }

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
