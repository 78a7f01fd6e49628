import SystemIO

/// A point where tasks wait until all of them have arrived.
final class Meeting: Sendable {
  private let expected: Int
  private let waiting = Lock<[CheckedContinuation<Void, Never>]>([])

  init(of expected: Int) { self.expected = expected }

  func arrive() async {
    await withCheckedContinuation { continuation in
      let all = waiting.withLock { waiting in
        waiting.append(continuation)
        return waiting.count == expected ? waiting : []
      }
      for each in all { each.resume() }
    }
  }
}
