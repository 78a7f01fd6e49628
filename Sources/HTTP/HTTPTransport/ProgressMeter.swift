/// Passes progress on: never backwards, at most ten times a second, and the last state always.
package struct ProgressMeter {
  private let events: (@Sendable (TransportEvent) -> Void)?
  private var latest: TransportProgress?
  private var reported: TransportProgress?
  private var due = ContinuousClock.now

  /// A meter that tells `events`.
  package init(_ events: (@Sendable (TransportEvent) -> Void)?) { self.events = events }

  /// A meter for a request's body: it tells nothing where progress is about the file that the response goes to.
  package init(
    uploadAnsweredTo destination: TransportDestination, _ events: (@Sendable (TransportEvent) -> Void)?
  ) {
    if case .file = destination { self.init(nil) } else { self.init(events) }
  }

  /// Notes that `completed` bytes of `total` have moved.
  package mutating func move(to completed: Int64, of total: Int64?) {
    guard events != nil else { return }
    latest = TransportProgress(completed: max(completed, latest?.completed ?? 0), total: total)
    guard ContinuousClock.now >= due else { return }
    report()
  }

  /// Tells the last state if it was not told yet.
  package mutating func finish() {
    if latest != reported { report() }
  }

  private mutating func report() {
    guard let events, let latest, latest != reported else { return }
    events(.progress(latest))
    reported = latest
    due = .now + .milliseconds(100)
  }
}
