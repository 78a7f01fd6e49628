/// Finds the corresponding elements of two sequences.
///
/// If there are few differences, it finds the minimal number of insertions and removals (Myers, “An O(ND) Difference
/// Algorithm”, 1986). Otherwise, it uses the elements that occur exactly once in each sequence, in almost linear time.
package struct SequenceAlignment {
  /// The pairs of indices of equal elements, ascending on both sides.
  package private(set) var pairs: [(first: Int, second: Int)] = []

  /// The maximum number of insertions and removals to search for. It is smaller for long sequences, so that time is
  /// bounded.
  private static func mostEdits(_ length: Int) -> Int {
    min(length, 400, max(8, 40_000_000 / max(1, length)))
  }

  /// Aligns two sequences of hashes, which are equal for equal elements.
  package init(_ first: [Int], _ second: [Int]) {
    let shorter = min(first.count, second.count)
    var lead = 0
    while lead < shorter, first[lead] == second[lead] { lead += 1 }
    var tail = 0
    while tail < shorter - lead, first[first.count - 1 - tail] == second[second.count - 1 - tail] {
      tail += 1
    }
    pairs = (0..<lead).map { ($0, $0) }
    let middle = (
      Array(first[lead..<(first.count - tail)]), Array(second[lead..<(second.count - tail)])
    )
    let found = Self.fewestEdits(middle.0, middle.1) ?? Self.anchors(middle.0, middle.1)
    pairs += found.map { ($0.first + lead, $0.second + lead) }
    pairs += (0..<tail).reversed().map { (first.count - 1 - $0, second.count - 1 - $0) }
  }

  /// The pairs with the fewest unpaired elements; `nil` if the number of edits exceeds the limit.
  private static func fewestEdits(_ first: [Int], _ second: [Int]) -> [(first: Int, second: Int)]? {
    guard !first.isEmpty, !second.isEmpty else { return [] }
    let most = mostEdits(first.count + second.count)
    // The furthest position on each diagonal. Diagonal k has the index `most` + k.
    var reach = [Int](repeating: 0, count: 2 * most + 2)
    // The positions at the beginning of each round, limited to the round's diagonals.
    var rounds: [[Int]] = []
    for edits in 0...most {
      rounds.append(Array(reach[(most - edits)...(most + edits)]))
      for diagonal in stride(from: -edits, through: edits, by: 2) {
        let at = most + diagonal
        let goesDown =
          diagonal == -edits || diagonal != edits && reach[at - 1] < reach[at + 1]
        var x = goesDown ? (edits == 0 ? 0 : reach[at + 1]) : reach[at - 1] + 1
        while x < first.count, x - diagonal < second.count, first[x] == second[x - diagonal] { x += 1 }
        reach[at] = x
        if x >= first.count, x - diagonal >= second.count {
          return walkBack(rounds, first.count, second.count)
        }
      }
    }
    return nil
  }

  private static func walkBack(_ rounds: [[Int]], _ x: Int, _ y: Int) -> [(first: Int, second: Int)] {
    var (x, y) = (x, y)
    var pairs: [(first: Int, second: Int)] = []
    for edits in stride(from: rounds.count - 1, to: 0, by: -1) {
      let reach = rounds[edits]
      let diagonal = x - y
      let at = edits + diagonal
      let goesDown = diagonal == -edits || diagonal != edits && reach[at - 1] < reach[at + 1]
      let start = goesDown ? reach[at + 1] : reach[at - 1]
      let startOnSecond = start - (goesDown ? diagonal + 1 : diagonal - 1)
      while x > start, y > startOnSecond {
        x -= 1
        y -= 1
        pairs.append((x, y))
      }
      (x, y) = (start, startOnSecond)
    }
    while x > 0, y > 0 {
      x -= 1
      y -= 1
      pairs.append((x, y))
    }
    return pairs.reversed()
  }

  /// Pairs elements that occur once in each sequence, using the longest subsequence in the same order, and equal
  /// elements next to them.
  private static func anchors(_ first: [Int], _ second: [Int]) -> [(first: Int, second: Int)] {
    let places = onlyPlaces(in: second)
    let own = onlyPlaces(in: first)
    let candidates = first.indices.compactMap { index -> (first: Int, second: Int)? in
      guard own[first[index]] == .some(index), let place = places[first[index]] ?? nil else { return nil }
      return (index, place)
    }
    var pairs: [(first: Int, second: Int)] = []
    var (x, y) = (0, 0)
    for anchor in longestRise(candidates) + [(first.count, second.count)] {
      // Also pair equal elements directly after the previous anchor and directly before this one.
      while x < anchor.first, y < anchor.second, first[x] == second[y] {
        pairs.append((x, y))
        x += 1
        y += 1
      }
      var before = 0
      while anchor.first - before > x, anchor.second - before > y,
        first[anchor.first - before - 1] == second[anchor.second - before - 1]
      {
        before += 1
      }
      pairs += (0..<before).reversed().map { (anchor.first - 1 - $0, anchor.second - 1 - $0) }
      if anchor.first < first.count { pairs.append(anchor) }
      (x, y) = (anchor.first + 1, anchor.second + 1)
    }
    return pairs
  }

  /// The index of each element; `nil` if it occurs several times.
  private static func onlyPlaces(in sequence: [Int]) -> [Int: Int?] {
    var places: [Int: Int?] = [:]
    for (index, element) in sequence.enumerated() {
      places.updateValue(places[element] == nil ? index : nil, forKey: element)
    }
    return places
  }

  /// The longest subsequence of `pairs` with ascending second indices. The first indices must be ascending.
  private static func longestRise(_ pairs: [(first: Int, second: Int)]) -> [(first: Int, second: Int)] {
    // The last pair of the best subsequence of each length, and the predecessor of each pair.
    var ends: [Int] = []
    var before = [Int?](repeating: nil, count: pairs.count)
    for (index, pair) in pairs.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if pairs[ends[middle]].second < pair.second { low = middle + 1 } else { high = middle }
      }
      before[index] = low > 0 ? ends[low - 1] : nil
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var run: [(first: Int, second: Int)] = []
    var next = ends.last
    while let index = next {
      run.append(pairs[index])
      next = before[index]
    }
    return run.reversed()
  }
}
