import Testing

@testable import SnapshotStore

@Suite struct PaceTests {
  @Test func `bytes pass at the rate, in pieces of any size`() {
    for piece in [1, 100, 1000] {
      var pace = Pace(bytesPerSecond: 1000)
      var time = Duration.zero
      for _ in 0..<(5000 / piece) { time += pace.delay(after: piece, at: time) }
      #expect(time > .milliseconds(4999) && time < .milliseconds(5001))
    }
  }

  @Test func `bytes that were slower than the rate are not delayed, and the lost time is not caught up`() {
    var pace = Pace(bytesPerSecond: 1000)
    #expect(pace.delay(after: 1000, at: .seconds(100)) == .zero)
    #expect(pace.delay(after: 1000, at: .seconds(100)) == .seconds(1))
    #expect(pace.delay(after: 500, at: .seconds(101)) == .milliseconds(500))
  }

  @Test(arguments: [(1, 4096), (40_960, 4096), (409_600, 40_960), (1 << 40, 262_144)] as [(Int64, Int)])
  func `a piece has about a tenth of a second's bytes`(rate: Int64, size: Int) {
    #expect(Pace(bytesPerSecond: rate).pieceSize == size)
  }
}
