import Foundation
import SystemIO
import Testing

@Suite struct ClockMarkTests {
  private static let start = 1_800_000_000.0
  private static let day = ClockMark.tolerance
  private static let year = 365 * ClockMark.tolerance

  @Test(arguments: [(0, 0), (1, 0), (-1, 0), (30, 29), (0.5, 0.5)] as [(Double, Double)])
  func `a reading within a day of the expected one is believed`(days: Double, elapsedDays: Double) {
    var mark = ClockMark(time: Self.start)
    let now = Self.start + days * Self.day
    let hasJumped = mark.observe(now, elapsed: elapsedDays * Self.day)
    #expect(!hasJumped && mark.isBelieved && mark.time == max(now, Self.start))
  }

  @Test(arguments: [(1.001, 0), (-1.001, 0), (365, 0), (-365, 0), (30, 28), (-2, 1)] as [(Double, Double)])
  func `another reading is a jump, and the clock is doubted for an hour`(days: Double, elapsedDays: Double) {
    var mark = ClockMark(time: Self.start)
    let jump = Self.start + days * Self.day
    let hasJumped = mark.observe(jump, elapsed: elapsedDays * Self.day)
    #expect(hasJumped)
    for second in [60.0, 1800, 3599] {
      let now = jump + second
      let jumpsAgain = mark.observe(now, elapsed: now - mark.last)
      #expect(!jumpsAgain && !mark.isBelieved && mark.time == Self.start)
    }
    mark.observe(jump + 3600, elapsed: 1)
    #expect(mark.isBelieved && mark.time == jump + 3600)
  }

  @Test func `a jump during the hour begins it again, also if it corrects the clock`() {
    var mark = ClockMark(time: Self.start)
    mark.observe(Self.start + Self.year, elapsed: 0)
    mark.observe(Self.start + Self.year + 3000, elapsed: 3000)
    mark.observe(Self.start + 3001, elapsed: 1)
    mark.observe(Self.start + 6600, elapsed: 3599)
    #expect(!mark.isBelieved)
    mark.observe(Self.start + 6601, elapsed: 1)
    #expect(mark.isBelieved && mark.time == Self.start + 6601)
  }

  @Test func `a mark is stored with the hour that has begun`() throws {
    var mark = ClockMark(time: Self.start)
    mark.observe(Self.start - Self.year, elapsed: 0)
    mark.observe(Self.start - Self.year + 3000, elapsed: 3000)
    let stored = try JSONDecoder().decode(ClockMark.self, from: JSONEncoder().encode(mark))
    #expect(stored == mark)
    mark = stored
    mark.observe(Self.start - Self.year + 3600, elapsed: 600)
    #expect(mark.isBelieved)
  }
}
