import Dispatch
package import Logging
import Synchronization
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
/// returns, its line is in the file and survives a crash of the process. After at most
/// ``Configuration/flushInterval`` it also survives a power failure. If a line can't be written, the method throws, so
/// that the caller can refuse an action that can't be recorded. The log resumes when writing succeeds again.
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
    /// The maximum number of events waiting to be written. Beyond: ``AuditLog/write(_:)`` throws immediately.
    package var waitingEvents = 10_000
    /// The period in which similar refusals share a line.
    package var refusalWindow: Duration = .seconds(10)
    /// The maximum time until a line is flushed to disk.
    package var flushInterval: Duration = .seconds(1)
    /// Lines are written on the caller's thread, which may serve other requests, until a write takes longer than this.
    /// For ``slowPeriod`` they are then written on the log's own queue.
    package var patience: Duration = .milliseconds(2)
    /// How long the disk counts as slow after a slow write.
    package var slowPeriod: Duration = .seconds(10)

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

  /// Events that are written together. The first event's task writes them, and the tasks of the others wait.
  private struct Round: Sendable {
    let number: Int
    /// The lines of actions that were not refused, and their length in bytes.
    var lines: [[UInt8]] = []
    var length: Int64 = 0
    var refusals: [[UInt8]] = []
    var waiting: [CheckedContinuation<Turn, Never>] = []

    var count: Int { lines.count + refusals.count }

    mutating func add(_ line: [UInt8], isRefusal: Bool) {
      if isRefusal { return refusals.append(line) }
      lines.append(line)
      length += Int64(line.count)
    }
  }

  /// The role of an event in its round.
  private enum Turn: Sendable {
    /// The event is the first of this round.
    case begins(round: Int)
    /// The round was written, or the event is in no round.
    case over(Failure?)
  }

  /// The result of writing a round, and the tasks to resume.
  private typealias Outcome = (failure: Failure?, waiting: [CheckedContinuation<Turn, Never>])

  /// The files. Whoever has them writes the current round, so that rounds are written in order.
  private struct Files: Sendable {
    var completed: AuditFile
    var refused: AuditFile
    /// Until when the disk counts as slow.
    var slowUntil = ContinuousClock.now

    enum Kind: CaseIterable { case completed, refused }

    subscript(kind: Kind) -> AuditFile {
      get { kind == .completed ? completed : refused }
      set { if kind == .completed { completed = newValue } else { refused = newValue } }
    }
  }

  private struct State: Sendable {
    /// The current round. It accepts events until it is written.
    var gathering: Round?
    var rounds = 0
    /// The results of rounds that ``close()`` wrote before their first event's task did.
    var outcomes: [Int: Failure?] = [:]
    var isClosed = false
    var isFailing = false
  }

  private let configuration: Configuration
  private let logger: Logger
  private let queue = DispatchQueue(label: "audit-log")
  private let flushQueue = DispatchQueue(label: "audit-log.flush")
  private let state = Mutex(State())
  private let refusals = Mutex(RefusalTable())
  private let files: Mutex<Files>

  /// Opens the log. Creates missing files with mode 0600.
  package init(_ configuration: Configuration, logger: Logger) throws(SystemError) {
    self.configuration = configuration
    self.logger = logger
    files = Mutex(
      Files(
        completed: try AuditFile(configuration.path, configuration),
        refused: try AuditFile(configuration.refusalsPath, configuration)))
  }

  /// The number of events waiting to be written.
  package var waitingEvents: Int { state.withLock { $0.gathering?.count ?? 0 } }

  /// Whether writing the last event failed.
  package var isFailing: Bool { state.withLock { $0.isFailing } }

  /// Writes an event. Returns when its line is in the file.
  package func write(_ event: AuditEvent) async throws(Failure) {
    let turn = await withCheckedContinuation { continuation in
      if let turn = add(event, continuation) { continuation.resume(returning: turn) }
    }
    let failure: Failure?
    switch turn {
    case .over(let outcome): failure = outcome
    case .begins(let round):
      // Lets other tasks on this thread add their events to the round first, so that one write serves all of them.
      await Task.yield()
      let outcome: Outcome
      if let written = writeHere(round) {
        outcome = written
      } else {
        outcome = await queue.perform { self.write(round) }
      }
      for continuation in outcome.waiting { continuation.resume(returning: .over(outcome.failure)) }
      failure = outcome.failure
    }
    if let failure { throw failure }
  }

  /// Writes an event without waiting for the result, for actions of the server itself. Reports errors to the logger.
  package func note(_ event: AuditEvent) {
    switch add(event, nil) {
    case .begins(let round): queue.async { self.writeAndTell(round) }
    case .over(let failure?):
      logger.error(
        "An event is missing in the audit log", metadata: ["event": "\(event.line)", "error": "\(failure)"])
    case .over(nil), nil: break
    }
  }

  /// Writes a refusal, or counts it. The first refusal with the same token, address, action and problem gets its own
  /// line, and the method returns when it is in the file. Further ones within ``Configuration/refusalWindow`` share one
  /// line with their number, which is written at the end of this period.
  package func writeRefusal(_ event: AuditEvent) async throws(Failure) {
    guard let kind = refusals.withLock({ $0.add(event) }) else { return }
    queue.asyncAfter(deadline: .now() + Self.interval(configuration.refusalWindow)) {
      guard let event = self.refusals.withLock({ $0.end(kind) }) else { return }
      self.note(event)
    }
    try await write(event)
  }

  /// Adds `event` to the current round, with the continuation of the task that waits for it.
  ///
  /// - Returns: the event's role; `nil` if the task has to wait for the round.
  private func add(_ event: AuditEvent, _ continuation: CheckedContinuation<Turn, Never>?) -> Turn? {
    let (line, isRefusal) = (event.bytes, event.result == .refused)
    return state.withLock { state in
      if state.isClosed { return .over(.closed) }
      guard state.gathering?.count ?? 0 < configuration.waitingEvents else { return .over(.full) }
      guard state.gathering == nil else {
        state.gathering?.add(line, isRefusal: isRefusal)
        if let continuation { state.gathering?.waiting.append(continuation) }
        return nil
      }
      state.rounds += 1
      state.gathering = Round(number: state.rounds)
      state.gathering?.add(line, isRefusal: isRefusal)
      return .begins(round: state.rounds)
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
      if let round = state.withLock({ $0.gathering?.number }) {
        let failure = writeAndTell(round)
        // The task of its first event still expects a result.
        state.withLock { _ = $0.outcomes.updateValue(failure, forKey: round) }
      }
      for kind in Files.Kind.allCases { flush(kind) }
    }
    await flushQueue.perform {}
  }

  /// Writes a round if it was not written yet, and resumes the waiting tasks.
  ///
  /// - Returns: the error, or `nil`.
  @discardableResult
  private func writeAndTell(_ round: Int) -> Failure? {
    let (failure, waiting) = write(round)
    for continuation in waiting { continuation.resume(returning: .over(failure)) }
    return failure
  }

  /// Writes a round if it was not written yet. Can wait for the disk.
  private func write(_ number: Int) -> Outcome {
    files.withLock { files in
      guard let round = take(number, { _ in true }) else {
        return (state.withLock { $0.outcomes.removeValue(forKey: number) } ?? nil, [])
      }
      return write(round, to: &files) { files throws(SystemError) in
        // A round is not split between files; its size is limited to a few megabytes.
        try files.completed.append(round.lines)
        try files.refused.append(round.refusals)
      }
    }
  }

  /// Writes a round on the calling thread, unless that could wait for the disk: because others are writing, the round
  /// needs another file, or the disk is slow. Returns `nil` if the round was not written.
  private func writeHere(_ number: Int) -> Outcome? {
    let outcome = files.withLockIfAvailable { files -> Outcome? in
      guard files.slowUntil <= .now, let size = files.completed.sizeIfInPlace,
        let round = take(
          number, { $0.refusals.isEmpty && size + $0.length <= configuration.fileBytes })
      else { return nil }
      return write(round, to: &files) { files throws(SystemError) in
        try files.completed.append(round.lines, behind: size)
      }
    }
    return outcome ?? nil
  }

  private func write(
    _ round: Round, to files: inout Files, _ append: (inout Files) throws(SystemError) -> Void
  ) -> Outcome {
    let start = ContinuousClock.now
    var failure: Failure?
    do throws(SystemError) {
      try append(&files)
    } catch {
      logger.error(
        "Events can't be written to the audit log",
        metadata: ["error": "\(error)", "events": "\(round.count)"])
      failure = .system(error)
    }
    let end = ContinuousClock.now
    if end - start > configuration.patience { files.slowUntil = end + configuration.slowPeriod }
    state.withLock { $0.isFailing = failure != nil }
    for kind in Files.Kind.allCases where files[kind].beginFlush() {
      queue.asyncAfter(deadline: .now() + Self.interval(configuration.flushInterval)) {
        self.flush(kind)
      }
    }
    return (failure, round.waiting)
  }

  /// Returns the current round if it has this number and satisfies `condition`. It accepts no more events.
  private func take(_ number: Int, _ condition: (Round) -> Bool) -> Round? {
    state.withLock { state in
      guard let round = state.gathering, round.number == number, condition(round) else { return nil }
      state.gathering = nil
      return round
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
