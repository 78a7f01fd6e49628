/// Chooses what is done next of work that is done in slices: the shortest first.
///
/// Work that has begun holds memory until it is done. So work that has not begun goes before it only where it is at most
/// half as long as what is left of the shortest: however much waits, what has begun and waits is no more than a
/// logarithm of the lengths. No work waits for other work that is more than twice as long.
struct ShortestFirst<Work> {
  private struct Waiting {
    let work: Work
    let weight: Int64
    let hasBegun: Bool
  }

  private var waiting: [Waiting] = []

  /// How much waits.
  var count: Int { waiting.count }

  /// Adds work of which about `weight` is left.
  mutating func add(_ work: Work, weight: Int64, hasBegun: Bool) {
    waiting.append(Waiting(work: work, weight: weight, hasBegun: hasBegun))
  }

  /// Takes what is to be done next, of all work of which at most `most` is left; of two equals the one added first.
  mutating func next(upTo most: Int64 = .max) -> Work? {
    var begun: Int?
    var fresh: Int?
    for (index, item) in waiting.enumerated() where item.weight <= most {
      if item.hasBegun {
        if begun.map({ item.weight < waiting[$0].weight }) ?? true { begun = index }
      } else if fresh.map({ item.weight < waiting[$0].weight }) ?? true {
        fresh = index
      }
    }
    if let begun, let candidate = fresh, waiting[candidate].weight > waiting[begun].weight / 2 { fresh = nil }
    guard let chosen = fresh ?? begun else { return nil }
    return waiting.remove(at: chosen).work
  }

  /// Drops all that waits.
  mutating func removeAll() { waiting = [] }
}
