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
/// Lines are written in order, on the log's own queue. Events that arrive at the same time are written together. When
/// ``write(_:)`` returns, its line is in the file and survives a crash of the process. After at most
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
    var events: [AuditEvent]
    var waiting: [CheckedContinuation<Turn, Never>] = []
  }

  /// The role of an event in its round.
  private enum Turn: Sendable {
    /// The event is the first of this round.
    case begins(round: Int)
    /// The round was written, or the event is in no round.
    case over(Failure?)
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
  private let file: AuditFile
  private let refusalsFile: AuditFile

  /// Opens the log. Creates missing files with mode 0600.
  package init(_ configuration: Configuration, logger: Logger) throws(SystemError) {
    self.configuration = configuration
    self.logger = logger
    file = try AuditFile(configuration.path, configuration)
    refusalsFile = try AuditFile(configuration.refusalsPath, configuration)
  }

  /// The number of events waiting to be written.
  package var waitingEvents: Int { state.withLock { $0.gathering?.events.count ?? 0 } }

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
      // Lets other tasks on this thread add their events to the round first, so that one thread switch serves all of
      // them.
      await Task.yield()
      let (outcome, waiting) = await queue.perform { self.write(round) }
      for continuation in waiting { continuation.resume(returning: .over(outcome)) }
      failure = outcome
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
    state.withLock { state in
      if state.isClosed { return .over(.closed) }
      guard state.gathering?.events.count ?? 0 < configuration.waitingEvents else { return .over(.full) }
      guard state.gathering != nil else {
        state.rounds += 1
        state.gathering = Round(number: state.rounds, events: [event])
        return .begins(round: state.rounds)
      }
      state.gathering?.events.append(event)
      if let continuation { state.gathering?.waiting.append(continuation) }
      return nil
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
      flush(file)
      flush(refusalsFile)
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

  /// Writes a round if it was not written yet.
  ///
  /// - Returns: the error, and the tasks to resume.
  private func write(_ number: Int) -> (failure: Failure?, waiting: [CheckedContinuation<Turn, Never>]) {
    guard let round = take(number) else {
      return (state.withLock { $0.outcomes.removeValue(forKey: number) } ?? nil, [])
    }
    var failure: Failure?
    do throws(SystemError) {
      // A round is not split between files; its size is limited to a few megabytes.
      let isRefusal = { (event: AuditEvent) in event.result == .refused }
      try file.append(round.events.filter { !isRefusal($0) }.map(\.bytes))
      try refusalsFile.append(round.events.filter(isRefusal).map(\.bytes))
    } catch {
      logger.error(
        "Events can't be written to the audit log",
        metadata: ["error": "\(error)", "events": "\(round.events.count)"])
      failure = .system(error)
    }
    state.withLock { $0.isFailing = failure != nil }
    for file in [file, refusalsFile] where file.beginFlush() {
      queue.asyncAfter(deadline: .now() + Self.interval(configuration.flushInterval)) {
        self.flush(file)
      }
    }
    return (failure, round.waiting)
  }

  private func take(_ number: Int) -> Round? {
    state.withLock { state in
      guard state.gathering?.number == number else { return nil }
      return state.gathering.take()
    }
  }

  /// Flushes on another queue, so that writing a line never waits for the disk.
  private func flush(_ file: AuditFile) {
    guard let unflushed = file.takeUnflushed() else { return }
    flushQueue.async { [self] in
      do throws(SystemError) {
        try unflushed.flush()
      } catch {
        logger.error("The audit log can't be flushed", metadata: ["error": "\(error)"])
        queue.async { file.failedToFlush() }
      }
    }
  }
}

/// The refusals of the current period, for combining similar ones in a line. A client that repeats refused requests,
/// with or without token, can't fill the log. Has no clock of its own.
struct RefusalTable: Sendable {
  /// The properties that similar refusals share.
  struct Kind: Hashable, Sendable {
    /// The client; `nil` for all refusals that exceed the table's limit.
    let client: Client?
    let action: String
    let problem: String?
  }

  struct Client: Hashable, Sendable {
    let address: String
    /// The id of the token, if known.
    let token: String?
  }

  /// The maximum number of kinds.
  static let limit = 1000

  /// The last refusal of each kind, and the number of those without a line.
  private var waiting: [Kind: (last: AuditEvent, count: Int)] = [:]

  /// The number of kinds.
  var count: Int { waiting.count }

  /// Counts `event`.
  ///
  /// - Returns: its kind if it is the first one and gets its own line; `nil` if it shares a line.
  mutating func add(_ event: AuditEvent) -> Kind? {
    let address = event.address.map { ClientAddress(peer: $0).counted } ?? ""
    var kind = Kind(
      client: Client(address: address, token: event.token), action: event.action, problem: event.problem)
    if waiting[kind] == nil, waiting.count >= Self.limit {
      kind = Kind(client: nil, action: event.action, problem: event.problem)
    }
    guard let known = waiting[kind] else {
      waiting[kind] = (event, 0)
      return kind
    }
    waiting[kind] = (event, known.count + 1)
    return nil
  }

  /// Removes `kind`.
  ///
  /// - Returns: one event for the refusals without a line; `nil` if there are none.
  mutating func end(_ kind: Kind) -> AuditEvent? {
    guard let (last, count) = waiting.removeValue(forKey: kind), count > 0 else { return nil }
    var event = last
    event.count = count
    if kind.client == nil { (event.address, event.token) = (nil, nil) }
    return event
  }

  /// Removes all kinds and returns the events for the refusals without a line.
  mutating func endAll() -> [AuditEvent] { waiting.keys.compactMap { end($0) } }
}
