import HTTPClient
import HTTPTypes
import SystemIO
import TestSupport
import Testing

/// The exchanges of a transport in the background, as a process knows them.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct BackgroundExchangesTests {
  private let exchanges = BackgroundExchanges()
  private let failure = BackgroundExchanges.Outcome.failure(.timedOut)

  private func error(of name: String) async -> TransportError? {
    guard case .failure(let error) = await exchanges.outcome(of: name, progress: nil) else { return nil }
    return error
  }

  @Test func `an outcome is kept until it is taken, once`() async {
    exchanges.add("a")
    #expect(exchanges.isUnderWay("a"))
    exchanges.end("a", failure)
    // Of an earlier process.
    exchanges.end("b", failure)
    #expect(exchanges.names == ["a", "b"])
    #expect(!exchanges.isUnderWay("a"))
    exchanges.add("a")
    for name in ["a", "b"] {
      #expect(await error(of: name) == .timedOut)
      #expect(await error(of: name) == nil)
    }
    #expect(exchanges.names.isEmpty)
  }

  @Test func `whoever waits gets the outcome, and nothing of an exchange that is removed`() async {
    for isRemoved in [true, false] {
      exchanges.add("a")
      let isWaiting = Signal()
      let task = Task { await exchanges.outcome(of: "a") { _ in isWaiting.fire() } != nil }
      await sentUntil(isWaiting)
      if isRemoved { exchanges.remove("a") } else { exchanges.end("a", failure) }
      #expect(await task.value == !isRemoved)
      #expect(exchanges.names.isEmpty)
    }
  }

  @Test func `an outcome is not lost if whoever waited was cancelled`() async {
    exchanges.add("a")
    let isWaiting = Signal()
    let task = Task { await exchanges.outcome(of: "a") { _ in isWaiting.fire() } != nil }
    await sentUntil(isWaiting)
    task.cancel()
    #expect(await !task.value)
    #expect(exchanges.isUnderWay("a"))
    exchanges.end("a", failure)
    #expect(await error(of: "a") == .timedOut)
  }

  @Test func `the last one who waits gets the outcome`() async {
    exchanges.add("a")
    let signals = [Signal(), Signal()]
    let first = Task { await exchanges.outcome(of: "a") { _ in signals[0].fire() } != nil }
    await sentUntil(signals[0])
    let second = Task { await exchanges.outcome(of: "a") { _ in signals[1].fire() } != nil }
    await sentUntil(signals[1])
    #expect(await !first.value)
    exchanges.end("a", failure)
    #expect(await second.value)
  }

  @Test func `the end of events is noticed before and after it is waited for, once`() async {
    exchanges.endEvents()
    await exchanges.eventsEnd()
    let task = Task { await exchanges.eventsEnd() }
    task.cancel()
    await task.value
    exchanges.endEvents()
    await exchanges.eventsEnd()
  }

  /// Reports progress until somebody who waits has received it.
  private func sentUntil(_ signal: Signal) async {
    let hasArrived = Lock(false)
    let wait = Task {
      await signal.wait()
      hasArrived.set(true)
    }
    while !hasArrived.value {
      exchanges.sent(1, of: "a")
      await Task.yield()
    }
    await wait.value
  }
}
