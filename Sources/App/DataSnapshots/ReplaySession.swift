import Synchronization

/// What is remembered from the moment on that replaying begins: how far each history is, and what was not there.
final class ReplaySession: Sendable {
  private struct Memory {
    var positions: [String: Int] = [:]
    var misses: [ModuleReport.Miss] = []
    var missed: Set<String> = []
  }

  /// The most missed identifiers that are remembered; the work of finding the nearest is done for these alone.
  static let mostMisses = 100
  private let memory = Mutex(Memory())

  /// Which of `count` calls comes next under `identifier`; past the end the last one.
  func next(_ identifier: String, of count: Int) -> Int {
    guard count > 1 else { return 0 }
    return memory.withLock { memory in
      let position = memory.positions[identifier, default: 0]
      memory.positions[identifier] = min(position + 1, count - 1)
      return min(position, count - 1)
    }
  }

  /// The recorded identifiers that are nearest to one that is missing.
  func nearest(to identifier: String, among recorded: () -> [String]) -> [String] {
    let known: ModuleReport.Miss?? = memory.withLock { memory in
      if memory.missed.contains(identifier) { return memory.misses.first { $0.identifier == identifier } }
      guard memory.misses.count < Self.mostMisses else { return .some(nil) }
      return nil
    }
    if let known { return known?.nearest ?? [] }
    let miss = ModuleReport.Miss(
      identifier: identifier, nearest: NearestIdentifiers.find(identifier, among: recorded()))
    memory.withLock { memory in
      if memory.misses.count < Self.mostMisses, memory.missed.insert(identifier).inserted {
        memory.misses.append(miss)
      }
    }
    return miss.nearest
  }

  /// What was not there, in the order in which it was asked for.
  var misses: [ModuleReport.Miss] { memory.withLock { $0.misses } }
}
