import SnapshotClient
import Testing

@Suite struct BackOffTests {
  private let backOff = BackOff()

  @Test func `the delay doubles with each failure up to the cap`() {
    let waits = [1, 2, 3, 4, 10, 11, 1000].map { backOff.delay(afterFailure: $0, retryAfter: nil, random: 0) }
    #expect(waits == [2.5, 5, 10, 20, 1280, 1800, 1800])
  }

  @Test func `the random part covers the upper half of the delay`() {
    #expect(backOff.delay(afterFailure: 2, retryAfter: nil, random: 0.5) == 7.5)
    #expect(backOff.delay(afterFailure: 2, retryAfter: nil, random: 0.999) < 10)
  }

  @Test func `no attempt is earlier than the server's Retry-After, up to a limit`() {
    #expect(backOff.delay(afterFailure: 1, retryAfter: 100, random: 0) == 102.5)
    #expect(backOff.delay(afterFailure: 1, retryAfter: 86_400, random: 0) == 86_402.5)
    #expect(backOff.delay(afterFailure: 1, retryAfter: 86_401, random: 0) == 86_402.5)
    #expect(backOff.delay(afterFailure: 1, retryAfter: -5, random: 0) == 2.5)
  }
}
