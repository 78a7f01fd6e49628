import SnapshotDiff
import Testing

@Suite struct SequenceAlignmentTests {
  /// The pairs, after checking that they are valid.
  private func pairs(_ first: [Int], _ second: [Int]) -> [(first: Int, second: Int)] {
    let pairs = SequenceAlignment(first, second).pairs
    var last = (first: -1, second: -1)
    for pair in pairs {
      #expect(pair.first > last.first && pair.second > last.second)
      #expect(first[pair.first] == second[pair.second])
      last = pair
    }
    return pairs
  }

  /// The length of the longest common subsequence, computed with a full table.
  private func longest(_ first: [Int], _ second: [Int]) -> Int {
    var row = [Int](repeating: 0, count: second.count + 1)
    for element in first {
      var next = row
      for (index, other) in second.enumerated() {
        next[index + 1] = element == other ? row[index] + 1 : max(next[index], row[index + 1])
      }
      row = next
    }
    return row[second.count]
  }

  @Test func `the alignment is as long as possible`() {
    var random = SystemRandomNumberGenerator()
    for round in 0..<600 {
      let letters = round % 6 + 1
      let sequences = (0..<2).map { _ in
        (0..<Int.random(in: 0...12, using: &random)).map { _ in Int.random(in: 0..<letters, using: &random) }
      }
      #expect(pairs(sequences[0], sequences[1]).count == longest(sequences[0], sequences[1]), "\(sequences)")
    }
  }

  @Test func `insertions, removals and changes in long sequences do not affect other elements`() {
    let first = Array(0..<100_000)
    var second = first
    second.insert(-1, at: 0)
    second.removeSubrange(500..<700)
    second[99_000] = -2
    second.append(-3)
    #expect(pairs(first, second).count == 100_000 - 201)
  }

  @Test func `very different sequences are aligned quickly`() {
    let first = (0..<200_000).map { $0 % 1000 == 0 ? -$0 : $0 }
    let second = (0..<200_000).map { $0 % 1000 == 0 ? -$0 : $0 + 1_000_000 }
    #expect(pairs(first, second).count >= 199)
    #expect(pairs(first, Array(first.reversed())).count >= 1)
    let same = [Int](repeating: 7, count: 100_000)
    #expect(pairs(same, [1] + same + [2]).count == 100_000)
    _ = pairs((0..<100_000).map { $0 & 1 }, (0..<100_000).map { $0 % 3 & 1 })
  }
}
