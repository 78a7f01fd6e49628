/// The time at which an exchange has taken too long (``TransportTimeouts``): as a whole, without a byte in either
/// direction, or because the body of the response arrives too slowly.
package struct ExchangeDeadline: Sendable {
  package typealias Instant = ContinuousClock.Instant

  private let timeouts: TransportTimeouts
  private let end: Instant?
  private var idle: Instant?
  private var body: Instant?

  /// The deadline of an exchange that starts at `now`. The time without a byte counts from the first activity.
  package init(_ timeouts: TransportTimeouts, at now: Instant = .now) {
    self.timeouts = timeouts
    end = timeouts.total.map { now + .seconds($0) }
  }

  /// Records that bytes were moved in either direction, or that the connection was made.
  package mutating func moved(at now: Instant = .now) {
    idle = now + .seconds(timeouts.idle)
  }

  /// Records that the head of the response has arrived.
  package mutating func bodyBegins(at now: Instant = .now) {
    moved(at: now)
    if timeouts.bodyBytesPerSecond > 0 { body = now + .seconds(timeouts.bodyWindow) }
  }

  /// Records that `count` bytes of the response's body have arrived. They extend the deadline
  /// by the time that they take at the minimum rate, by one window at most: a fast start does not allow a slow end.
  package mutating func bodyMoved(_ count: Int, at now: Instant = .now) {
    moved(at: now)
    guard let former = body else { return }
    let bought = former + .seconds(Double(count) / timeouts.bodyBytesPerSecond)
    body = min(bought, now + .seconds(timeouts.bodyWindow))
  }

  /// The time; `nil` if there is none yet.
  package var instant: Instant? { [end, idle, body].compactMap(\.self).min() }
}
