import Observability
import Testing

@Suite struct WritingPaceTests {
  private let start = ContinuousClock.now
  private var pace = WritingPace(
    patience: .milliseconds(2), periods: .milliseconds(100) ... .milliseconds(400))

  /// Adds a write that begins at `time` and takes `duration`, in milliseconds.
  private mutating func write(at time: Int, for duration: Int) {
    let begin = start + .milliseconds(time)
    pace.add(from: begin, to: begin + .milliseconds(duration))
  }

  private func isSlow(at time: Int) -> Bool { pace.isSlow(at: start + .milliseconds(time)) }

  @Test mutating func `only a write that takes longer than the patience makes the disk slow`() {
    #expect(!isSlow(at: 0))
    write(at: 0, for: 2)
    #expect(!isSlow(at: 2))
    write(at: 10, for: 3)
    #expect(isSlow(at: 13) && isSlow(at: 112))
    #expect(!isSlow(at: 113))
  }

  @Test mutating func `each slow write doubles the time, up to the longest`() {
    var time = 0
    for period in [100, 200, 400, 400] {
      write(at: time, for: 3)
      #expect(isSlow(at: time + 3 + period - 1))
      #expect(!isSlow(at: time + 3 + period))
      time += 3 + period
    }
  }

  @Test mutating func `a fast write ends the doubling, but not while the disk counts as slow`() {
    for _ in 0..<3 { write(at: 0, for: 3) }
    write(at: 10, for: 1)
    #expect(isSlow(at: 402))
    write(at: 403, for: 3)
    #expect(isSlow(at: 805))
    write(at: 806, for: 1)
    write(at: 807, for: 3)
    #expect(isSlow(at: 909))
    #expect(!isSlow(at: 910))
  }
}
