import Synchronization

/// Slows whoever tries one wrong token after the other: a few are answered at once, and then each waits twice as
/// long as the one before. Right tokens never wait, whoever shares their address.
final class FailedLoginThrottle: Sendable {
  /// How it slows.
  struct Limits: Sendable, Hashable {
    /// How many wrong tokens are answered at once, from one address.
    var free = 10
    /// How long it takes until one is forgotten.
    var forgetting = Duration.seconds(6)
    /// How long the first one waits that does.
    var firstDelay = Duration.milliseconds(100)
    /// The longest that any waits.
    var longestDelay = Duration.seconds(5)
    /// How many wait at once, of one address and in all; further ones are answered with 429.
    var waitingPerAddress = 8
    var waiting = 256
    /// How many addresses are remembered.
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
  private let state = Mutex(State())

  init(_ limits: Limits = Limits(), clock: AccessClock) {
    self.limits = limits
    self.clock = clock
  }

  /// How many addresses are remembered.
  var count: Int { state.withLock { $0.entries.count } }

  /// To be awaited before a wrong token of `address` is answered.
  /// - Returns: how many seconds to stay away, where too many wait already; `nil` where this one has waited.
  func wait(_ address: String) async throws -> Int? {
    guard let delay = begin(address) else { return Int((limits.longestDelay / .seconds(1)).rounded(.up)) }
    guard delay > .zero else { return nil }
    defer { end(address) }
    try await clock.sleep(delay)
    return nil
  }

  /// How long to wait; `nil` where too many do.
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
      // Beyond, it would only take longer to be forgotten.
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

  /// Forgets an eighth at once: those that are forgiven, and then those that failed least. None that waits.
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
