import Dispatch
package import Logging
package import SnapshotFormat
package import SystemIO

/// A log of who accessed or changed which snapshot. The log is a file with one JSON object per line, to which lines are
/// only appended.
///
///     audit.log               the newest lines
///     audit.log.1             older lines, and so on up to `keptFiles`
///     audit-refused.log       refused actions, in separate files, so that many refusals
///     audit-refused.log.1     do not displace the successful actions
///
/// Lines are written in order. Events that arrive at the same time are written together, on the caller's thread if that
/// takes microseconds, and otherwise on the log's own queue: see ``Configuration/patience``. When ``write(_:)``
/// returns, or ``finish(_:_:)`` calls its argument, the line is in the file and survives a crash of the process. After
/// at most ``Configuration/flushInterval`` it also survives a power failure. If a line can't be written, the caller is
/// told, so that it can refuse an action that can't be recorded. The log resumes when writing succeeds again.
///
/// Other processes can append to the same file. If the file is moved or deleted, the log creates a new one.
package final class AuditLog: Sendable {
  /// The location and size of the log.
  package struct Configuration: Sendable, Hashable {
    /// The path of the newest file. Older files are in the same folder.
    package var path: String
    /// The path of the file for refused actions. The same limits apply to it.
    package var refusalsPath: String
    /// The maximum size of a file, in bytes. A single longer line gets its own file.
    package var fileBytes: Int64 = 64 << 20
    /// The number of older files to keep, at least 1. Beyond: the oldest is deleted.
    package var keptFiles = 15
    /// The disk space that is reserved for the next lines of each file, in bytes, so that actions are recorded while the
    /// disk is full: deletions have to be possible then.
    package var reservedBytes: Int64 = 1 << 20
    /// The maximum number of events waiting to be written. Beyond: ``AuditLog/write(_:)`` throws immediately.
    package var waitingEvents = 10_000
    /// The period in which similar refusals share a line.
    package var refusalWindow: Duration = .seconds(10)
    /// The maximum time until a line is flushed to disk.
    package var flushInterval: Duration = .seconds(1)
    /// Lines are written on the caller's thread, which may serve other requests. After a write that takes longer than
    /// this, the disk counts as slow, and lines are written on the log's own queue.
    package var patience: Duration = .milliseconds(2)
    /// How long the disk counts as slow: after one slow write, and at most, after many in a row.
    package var slowPeriods: ClosedRange<Duration> = .milliseconds(100) ... .seconds(10)

    /// Creates a configuration for a log at `path`, with default values.
    package init(path: String) {
      self.path = path
      refusalsPath = path.hasSuffix(".log") ? path.dropLast(4) + "-refused.log" : path + "-refused"
    }
  }

  /// The reason why an event is not in the log.
  package enum Failure: Error, Sendable {
    /// Too many events are waiting.
    case full
    /// The log is closed.
    case closed
    /// The disk or the system returned an error, which is for the server's log only.
    case system(SystemError)
  }

  /// An event that was added to the log. ``finish(_:_:)`` tells when its line is in the file.
  package struct Entry: Sendable {
    fileprivate enum State: Sendable {
      case isIn(Round)
      /// The event has no line: it was counted, or it was rejected.
      case over(Outcome)
    }

    fileprivate let state: State
  }

  /// Events that are written together.
  fileprivate final class Round: Sendable {
    /// The lines of the events. No event is added once the round is written.
    struct Lines: Sendable {
      /// The lines of actions that were not refused, and their length in bytes.
      var completed: [[UInt8]] = []
      var length: Int64 = 0
      var refused: [[UInt8]] = []

      var count: Int { completed.count + refused.count }

      mutating func add(_ line: [UInt8], isRefusal: Bool) {
        if isRefusal { return refused.append(line) }
        completed.append(line)
        length += Int64(line.count)
      }
    }

    private struct Progress: Sendable {
      var outcome: Outcome?
      var waiting: [Completion] = []
      /// Whether the log's queue will write the round, unless it is written before.
      var isQueued = false
    }

    private let progress = Lock(Progress())

    /// The result of writing the round; `nil` if it was not written yet.
    var outcome: Outcome? { progress.withLock(\.outcome) }

    /// Calls `completion` when the round was written.
    ///
    /// - Returns: whether the caller must have the log's queue write the round.
    func wait(_ completion: @escaping Completion) -> Bool {
      let (mustWrite, outcome) = progress.withLock { progress -> (Bool, Outcome?) in
        if let outcome = progress.outcome { return (false, outcome) }
        progress.waiting.append(completion)
        defer { progress.isQueued = true }
        return (!progress.isQueued, nil)
      }
      if let outcome { completion(outcome) }
      return mustWrite
    }

    /// Sets the result, and calls everybody who waits for it.
    func end(_ outcome: Outcome) {
      let waiting = progress.withLock { progress in
        defer { progress = Progress(outcome: outcome) }
        return progress.waiting
      }
      for completion in waiting { completion(outcome) }
    }
  }

  /// Whether a line is in the log, or the reason why it is not.
  package typealias Outcome = Result<Void, Failure>
  /// Gets the outcome.
  package typealias Completion = @Sendable (Outcome) -> Void

  /// The files. Whoever has them writes the current round, so that rounds are written in order.
  private struct Files: Sendable {
    var completed: AuditFile
    var refused: AuditFile
    var pace: WritingPace

    enum Kind: CaseIterable { case completed, refused }

    subscript(kind: Kind) -> AuditFile {
      get { kind == .completed ? completed : refused }
      set { if kind == .completed { completed = newValue } else { refused = newValue } }
    }
  }

  private struct State: Sendable {
    /// The current round, which accepts events until it is written; `nil` if no event is waiting.
    var round: Round?
    var lines = Round.Lines()
    var isClosed = false
    var isFailing = false
  }

  private let configuration: Configuration
  private let logger: Logger
  private let queue = DispatchQueue(label: "audit-log")
  private let flushQueue = DispatchQueue(label: "audit-log.flush")
  private let state = Lock(State())
  private let refusals = Lock(RefusalTable())
  private let files: Lock<Files>

  /// Opens the log. Creates missing files with mode 0600.
  package init(_ configuration: Configuration, logger: Logger) throws(SystemError) {
    self.configuration = configuration
    self.logger = logger
    files = Lock(
      Files(
        completed: try AuditFile(configuration.path, configuration),
        refused: try AuditFile(configuration.refusalsPath, configuration),
        pace: WritingPace(patience: configuration.patience, periods: configuration.slowPeriods)))
  }

  /// The number of events waiting to be written.
  package var waitingEvents: Int { state.withLock { $0.lines.count } }

  /// Whether writing the last event failed.
  package var isFailing: Bool { state.withLock { $0.isFailing } }

  /// Writes an event. Returns when its line is in the file.
  package func write(_ event: AuditEvent) async throws(Failure) { try await finish(add(event)) }

  /// Writes a refusal, or counts it, like ``addRefusal(_:)``. Returns when its line is in the file.
  package func writeRefusal(_ event: AuditEvent) async throws(Failure) { try await finish(addRefusal(event)) }

  private func finish(_ entry: Entry) async throws(Failure) {
    // Lets other tasks on this thread add their events first, so that one write serves all of them.
    if case .isIn = entry.state { await Task.yield() }
    let outcome = await withCheckedContinuation { continuation in
      finish(entry) { continuation.resume(returning: $0) }
    }
    try outcome.get()
  }

  /// Writes an event without waiting for the result, for actions of the server itself. Reports errors to the logger.
  package func note(_ event: AuditEvent) {
    switch add(event).state {
    case .isIn(let round): queue.async { self.write(round) }
    case .over(.failure(let failure)):
      logger.error(
        "An event is missing in the audit log", metadata: ["event": "\(event.line)", "error": "\(failure)"])
    case .over(.success): break
    }
  }

  /// Adds an event to those that are written next. Its line has the place of this call. The caller must call
  /// ``finish(_:_:)``.
  package func add(_ event: AuditEvent) -> Entry {
    let (line, isRefusal) = (event.bytes, event.result == .refused)
    return state.withLock { state in
      if state.isClosed { return Entry(state: .over(.failure(.closed))) }
      guard state.lines.count < configuration.waitingEvents else {
        return Entry(state: .over(.failure(.full)))
      }
      state.lines.add(line, isRefusal: isRefusal)
      if let round = state.round { return Entry(state: .isIn(round)) }
      let round = Round()
      state.round = round
      return Entry(state: .isIn(round))
    }
  }

  /// Adds a refusal like ``add(_:)``, or counts it. The first refusal with the same token, address, action and problem
  /// gets its own line. Further ones within ``Configuration/refusalWindow`` share one line with their number, which is
  /// written at the end of this period.
  package func addRefusal(_ event: AuditEvent) -> Entry {
    guard let kind = refusals.withLock({ $0.add(event) }) else { return Entry(state: .over(.success(()))) }
    queue.asyncAfter(deadline: .now() + Self.interval(configuration.refusalWindow)) {
      guard let event = self.refusals.withLock({ $0.end(kind) }) else { return }
      self.note(event)
    }
    return add(event)
  }

  /// Calls `completion` when the line of `entry` is in the file: before this method returns if writing it takes
  /// microseconds, otherwise on the log's queue. Writes all events that were added before. Never blocks.
  package func finish(_ entry: Entry, _ completion: @escaping Completion) {
    switch entry.state {
    case .over(let outcome): completion(outcome)
    case .isIn(let round):
      if round.outcome == nil { writeHere(round) }
      if round.wait(completion) { queue.async { self.write(round) } }
    }
  }

  private static func interval(_ duration: Duration) -> DispatchTimeInterval {
    .nanoseconds(Int(duration / .nanoseconds(1)))
  }

  /// Reads the newest successful and failed actions on a snapshot. Blocks for the disk.
  package func trail(
    of id: SnapshotID, limits: AuditTrail.Limits = .default
  ) throws(SystemError) -> AuditTrail {
    try AuditTrail(of: id, in: configuration, limits: limits)
  }

  /// Writes all waiting events, flushes the files, and rejects further events.
  package func close() async {
    for event in refusals.withLock({ $0.endAll() }) { note(event) }
    state.withLock { $0.isClosed = true }
    await queue.perform { [self] in
      if let round = state.withLock(\.round) { write(round) }
      for kind in Files.Kind.allCases { flush(kind) }
    }
    await flushQueue.perform {}
  }

  /// Writes a round if it was not written yet. Can wait for the disk.
  private func write(_ round: Round) {
    let outcome = files.withLock { files -> Outcome? in
      guard let lines = take(round, { _ in true }) else { return nil }
      return write(lines, to: &files) { files throws(SystemError) in
        // A round is not split between files; its size is limited to a few megabytes.
        try files.completed.append(lines.completed)
        try files.refused.append(lines.refused)
      }
    }
    if let outcome { round.end(outcome) }
  }

  /// Writes a round on the calling thread, unless that could wait for the disk: because others are writing, the round
  /// needs another file, or the disk is slow.
  private func writeHere(_ round: Round) {
    let outcome = files.withLockIfAvailable { files -> Outcome? in
      guard !files.pace.isSlow(at: .now), let size = files.completed.sizeIfInPlace,
        let lines = take(round, { $0.refused.isEmpty && size + $0.length <= configuration.fileBytes })
      else { return nil }
      return write(lines, to: &files) { files throws(SystemError) in
        try files.completed.append(lines.completed, behind: size)
      }
    }
    if let outcome = outcome ?? nil { round.end(outcome) }
  }

  private func write(
    _ lines: Round.Lines, to files: inout Files, _ append: (inout Files) throws(SystemError) -> Void
  ) -> Outcome {
    let start = ContinuousClock.now
    var outcome = Outcome.success(())
    do throws(SystemError) {
      try append(&files)
    } catch {
      logger.error(
        "Events can't be written to the audit log",
        metadata: ["error": "\(error)", "events": "\(lines.count)"])
      outcome = .failure(.system(error))
    }
    files.pace.add(from: start, to: .now)
    state.withLock { if case .failure = outcome { $0.isFailing = true } else { $0.isFailing = false } }
    for kind in Files.Kind.allCases where files[kind].beginFlush() {
      queue.asyncAfter(deadline: .now() + Self.interval(configuration.flushInterval)) {
        self.flush(kind)
      }
    }
    return outcome
  }

  /// Returns the lines of `round` if it was not taken yet and they satisfy `condition`. It accepts no more events.
  private func take(_ round: Round, _ condition: (Round.Lines) -> Bool) -> Round.Lines? {
    state.withLock { state in
      guard state.round === round, condition(state.lines) else { return nil }
      defer { (state.round, state.lines) = (nil, Round.Lines()) }
      return state.lines
    }
  }

  /// Flushes on another queue, so that writing a line never waits for the disk.
  private func flush(_ kind: Files.Kind) {
    guard let unflushed = files.withLock({ $0[kind].takeUnflushed() }) else { return }
    flushQueue.async { [self] in
      do throws(SystemError) {
        try unflushed.flush()
      } catch {
        logger.error("The audit log can't be flushed", metadata: ["error": "\(error)"])
        files.withLock { $0[kind].failedToFlush() }
      }
    }
  }
}
