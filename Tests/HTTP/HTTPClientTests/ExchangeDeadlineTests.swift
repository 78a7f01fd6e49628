import HTTPClient
import Testing

@Suite struct ExchangeDeadlineTests {
  private let start = ContinuousClock.now

  private func after(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

  /// Moves `count` bytes of a body every `step` seconds, and returns when the deadline was exceeded, up to an hour.
  private func end(_ count: Int, every step: Double, first: Int = 0) -> Double? {
    var deadline = ExchangeDeadline(TransportTimeouts(), at: start)
    deadline.bodyBegins(at: start)
    deadline.bodyMoved(first, at: start)
    for time in stride(from: step, through: 3600, by: step) {
      if let instant = deadline.instant, instant < after(time) { return (instant - start) / .seconds(1) }
      deadline.bodyMoved(count, at: after(time))
    }
    return nil
  }

  @Test func `a body has to arrive at the minimum rate, and a fast start does not excuse a slow end`() throws
  {
    #expect(end(1024, every: 1) == nil)
    #expect(end(20 * 1024, every: 20) == nil)
    let trickle = try #require(end(1, every: 5))
    #expect((30..<31).contains(trickle))
    let late = try #require(end(1, every: 5, first: 1 << 30))
    #expect((30..<31).contains(late))
    #expect(try #require(end(512, every: 1)) < 70)
  }

  @Test func `before the body, only the time without a byte counts, and without a minimum also later`() {
    var timeouts = TransportTimeouts()
    var deadline = ExchangeDeadline(timeouts, at: start)
    #expect(deadline.instant == nil)
    deadline.moved(at: after(1))
    #expect(deadline.instant == after(61))
    deadline.bodyBegins(at: after(50))
    #expect(deadline.instant == after(80))
    timeouts.bodyBytesPerSecond = 0
    timeouts.total = 100
    deadline = ExchangeDeadline(timeouts, at: start)
    deadline.bodyBegins(at: after(30))
    #expect(deadline.instant == after(90))
    deadline.bodyMoved(1, at: after(60))
    #expect(deadline.instant == after(100))
  }
}
