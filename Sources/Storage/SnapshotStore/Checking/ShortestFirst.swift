/// A queue of work that is done in slices. It selects the work with the least remaining first.
///
/// Work that has begun holds memory until it is done. So work that has not begun is preferred to it only if it is at
/// most half as long as the shortest remaining work that has begun. This limits the number of items that have begun and
/// wait to the logarithm of the lengths, however many wait. No item waits for another that is more than twice as long.
package struct ShortestFirst<Work> {
  private struct Waiting {
    let work: Work
    let weight: Int64
    let hasBegun: Bool
  }

  private var waiting: [Waiting] = []

  /// Creates an empty queue.
  package init() {}

  /// The number of items that wait.
  package var count: Int { waiting.count }

  /// Adds work with about `weight` bytes remaining.
  package mutating func add(_ work: Work, weight: Int64, hasBegun: Bool) {
    waiting.append(Waiting(work: work, weight: weight, hasBegun: hasBegun))
  }

  /// Removes and returns the next item among those with at most `most` bytes remaining. Of two equal items, the one
  /// added first is returned.
  package mutating func next(upTo most: Int64 = .max) -> Work? {
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

  /// Removes all items.
  mutating func removeAll() { waiting = [] }
}
