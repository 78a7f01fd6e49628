import SystemIO

/// Slows down clients that send wrong tokens. The first few get their response immediately; each further one waits
/// twice as long as the one before. Requests with valid tokens never wait, even from the same address.
final class FailedLoginThrottle: Sendable {
  /// The limits for wrong tokens.
  struct Limits: Sendable, Hashable {
    /// The number of wrong tokens per address with an immediate response.
    var free = 10
    /// The time after which one wrong token is forgotten.
    var forgetting = Duration.seconds(6)
    /// The first delay.
    var firstDelay = Duration.milliseconds(100)
    /// The maximum delay.
    var longestDelay = Duration.seconds(5)
    /// The maximum number of delayed responses, per address and in total. Further requests get 429.
    var waitingPerAddress = 8
    var waiting = 256
    /// The maximum number of addresses with counters.
    var addresses = 10_000
  }

  private struct Entry: Sendable {
    var failures = 0.0
    var time: Duration
    var waiting = 0
  }

  private struct State: Sendable {
    var entries: [String: Entry] = [:]
    var waiting = 0
  }

  private let limits: Limits
  private let clock: AccessClock
  private let state = Lock(State())

  init(_ limits: Limits = Limits(), clock: AccessClock) {
    self.limits = limits
    self.clock = clock
  }

  /// The number of addresses with counters.
  var count: Int { state.withLock { $0.entries.count } }

  /// Call this before responding to a wrong token from `address`.
  ///
  /// - Returns: `nil` after the delay. If too many responses are delayed already, immediately returns the number of
  ///   seconds for `Retry-After`.
  func wait(_ address: String) async throws -> Int? {
    guard let delay = begin(address) else { return Int((limits.longestDelay / .seconds(1)).rounded(.up)) }
    guard delay > .zero else { return nil }
    defer { end(address) }
    try await clock.sleep(delay)
    return nil
  }

  /// Returns the delay, or `nil` if too many responses are delayed already.
  private func begin(_ address: String) -> Duration? {
    let now = clock.elapsed()
    return state.withLock { state in
      if state.entries[address] == nil, state.entries.count >= limits.addresses {
        makeRoom(in: &state.entries, at: now)
      }
      var entry = state.entries[address] ?? Entry(time: now)
      entry.failures = failures(of: entry, at: now) + 1
      entry.time = now
      let excess = Int(entry.failures) - limits.free
      // A higher count would only take longer to be forgotten.
      entry.failures = min(entry.failures, Double(2 * limits.free))
      defer { state.entries[address] = entry }
      guard excess > 0 else { return .zero }
      guard entry.waiting < limits.waitingPerAddress, state.waiting < limits.waiting else { return nil }
      entry.waiting += 1
      state.waiting += 1
      return min(limits.firstDelay * (1 << min(excess - 1, 20)), limits.longestDelay)
    }
  }

  private func end(_ address: String) {
    state.withLock { state in
      state.waiting -= 1
      state.entries[address]?.waiting -= 1
    }
  }

  private func failures(of entry: Entry, at now: Duration) -> Double {
    max(0, entry.failures - max(.zero, now - entry.time) / limits.forgetting)
  }

  /// Removes an eighth of the entries: those without remaining failures, then those with the fewest. Never removes one
  /// with delayed responses.
  private func makeRoom(in entries: inout [String: Entry], at now: Duration) {
    entries = entries.filter { $0.value.waiting > 0 || failures(of: $0.value, at: now) > 0 }
    let excess = entries.count - (limits.addresses - max(limits.addresses / 8, 1))
    guard excess > 0 else { return }
    let idle = entries.filter { $0.value.waiting == 0 }
    for (address, _) in idle.sorted(by: { $0.value.failures < $1.value.failures }).prefix(excess) {
      entries[address] = nil
    }
  }
}
