import SnapshotStore
import Testing

@Suite struct ShortestFirstTests {
  @Test func `the shortest is first, and of two equals the one added first`() {
    var work = ShortestFirst<String>()
    for (name, weight) in [("c", 3), ("a", 1), ("b", 2), ("a2", 1)] as [(String, Int64)] {
      work.add(name, weight: weight, hasBegun: false)
    }
    #expect((0..<5).map { _ in work.next() } == ["a", "a2", "b", "c", nil])
  }

  @Test(arguments: [(50, "new"), (51, "begun")] as [(Int64, String)])
  func `work that has begun continues unless new work is at most half as long`(weight: Int64, first: String) {
    var work = ShortestFirst<String>()
    work.add("begun", weight: 100, hasBegun: true)
    work.add("new", weight: weight, hasBegun: false)
    #expect(work.next() == first)
    #expect(work.count == 1)
  }

  @Test func `a worker for short work takes no other`() {
    var work = ShortestFirst<String>()
    work.add("long", weight: 11, hasBegun: false)
    work.add("begun", weight: 20, hasBegun: true)
    #expect(work.next(upTo: 10) == nil)
    work.add("short", weight: 10, hasBegun: false)
    #expect(work.next(upTo: 10) == "short")
    #expect(work.next() == "begun")
  }

  @Test func `little work has begun at the same time, whatever is added`() {
    var generator = SystemRandomNumberGenerator()
    var work = ShortestFirst<Int>()
    var left: [Int: Int64] = [:]
    var begun: Set<Int> = []
    var mostBegun = 0
    for round in 0..<2000 {
      if round < 1000 {
        left[round] = Int64.random(in: 1...(1 << Int64.random(in: 1...40)), using: &generator)
        work.add(round, weight: left[round] ?? 0, hasBegun: false)
      }
      guard let next = work.next(), let weight = left[next] else { break }
      let rest = weight - Int64.random(in: 1...max(1, weight / 8), using: &generator)
      if rest > 0 {
        begun.insert(next)
        left[next] = rest
        work.add(next, weight: rest, hasBegun: true)
      } else {
        begun.remove(next)
      }
      mostBegun = max(mostBegun, begun.count)
    }
    #expect(mostBegun <= 42)
  }
}
