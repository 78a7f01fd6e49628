import Dispatch
package import Logging
import Synchronization
package import SystemIO

/// Shows who read and changed what: a file of JSON objects, a line each, that is only ever appended to.
///
///     audit.log               the newest lines
///     audit.log.1             those before, and so on up to `keptFiles`
///     audit-refused.log       what was refused, in files of its own, so that no number of refusals displaces what was
///     audit-refused.log.1     done
///
/// Lines are written in the order in which they came, on a queue of the log's own; those that come at the same time
/// are written together. ``write(_:)`` returns when its line is in the file: it outlives the process from then on, and a
/// power cut from at most ``Configuration/flushInterval`` later on. Where a line can't be written it throws, so
/// that whoever asks can be refused what could not be accounted for; the log goes on as soon as it can.
///
/// Other processes may append to the same file, and whoever moves or removes it gets a new one made.
package final class AuditLog: Sendable {
  /// Where the lines go, and how many are kept.
  package struct Configuration: Sendable, Hashable {
    /// The file; those before it stand beside it.
    package var path: String
    /// The file for what was refused, which is as large and kept as long.
    package var refusalsPath: String
    /// How large a file becomes, in bytes; a single longer line has a file of its own.
    package var fileBytes: Int64 = 64 << 20
    /// How many files are kept besides the newest; the oldest goes. At least 1.
    package var keptFiles = 15
    /// The most events that wait to be written. Beyond, ``AuditLog/write(_:)`` throws at once.
    package var waitingEvents = 10_000
    /// For how long refusals that are alike share a line.
    package var refusalWindow: Duration = .seconds(10)
    /// How long a line waits at most to be flushed to the disk.
    package var flushInterval: Duration = .seconds(1)

    /// The defaults, for a log at `path`.
    package init(path: String) {
      self.path = path
      refusalsPath = path.hasSuffix(".log") ? path.dropLast(4) + "-refused.log" : path + "-refused"
    }
  }

  /// Why an event is not in the log.
  package enum Failure: Error, Sendable {
    /// More wait than may.
    case full
    /// The log is closed.
    case closed
    /// The disk or the system failed; for the log of the server.
    case system(SystemError)
  }

  /// Events that are written together: the first sees to it, and the others wait.
  private struct Round: Sendable {
    let number: Int
    var events: [AuditEvent]
    var waiting: [CheckedContinuation<Turn, Never>] = []
  }

  /// What an event has to do with its round.
  private enum Turn: Sendable {
    /// It is the first.
    case begins(round: Int)
    /// The round is over, or the event is in none.
    case over(Failure?)
  }

  private struct State: Sendable {
    /// The round that takes what comes next; it does so until it is written.
    var gathering: Round?
    var rounds = 0
    /// What came of rounds that were written before their first event saw to it.
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

  /// Opens the log, making it for the server's own user alone (0600) where it is missing.
  package init(_ configuration: Configuration, logger: Logger) throws(SystemError) {
    self.configuration = configuration
    self.logger = logger
    file = try AuditFile(configuration.path, configuration)
    refusalsFile = try AuditFile(configuration.refusalsPath, configuration)
  }

  /// How many events wait to be written.
  package var waitingEvents: Int { state.withLock { $0.gathering?.events.count ?? 0 } }

  /// Whether the last event could not be written.
  package var isFailing: Bool { state.withLock { $0.isFailing } }

  /// Returns when the event is in the file.
  package func write(_ event: AuditEvent) async throws(Failure) {
    let turn = await withCheckedContinuation { continuation in
      if let turn = add(event, continuation) { continuation.resume(returning: turn) }
    }
    let failure: Failure?
    switch turn {
    case .over(let outcome): failure = outcome
    case .begins(let round):
      // Whoever else is about to come on this thread comes first: one change of threads serves them all.
      await Task.yield()
      let (outcome, waiting) = await queue.perform { self.write(round) }
      for continuation in waiting { continuation.resume(returning: .over(outcome)) }
      failure = outcome
    }
    if let failure { throw failure }
  }

  /// Has the event written without waiting for it: for what the server does by itself. What can't be written is told to
  /// the logger.
  package func note(_ event: AuditEvent) {
    switch add(event, nil) {
    case .begins(let round): queue.async { self.writeAndTell(round) }
    case .over(let failure?):
      logger.error(
        "An event is not in the audit log", metadata: ["event": "\(event.line)", "error": "\(failure)"])
    case .over(nil), nil: break
    }
  }

  /// Returns when the refusal is in the file, or waits to share a line with others: of those with the same token,
  /// address, action and problem the first has its line, and all that follow within ``Configuration/refusalWindow`` have
  /// one together, which says how many.
  package func writeRefusal(_ event: AuditEvent) async throws(Failure) {
    guard let kind = refusals.withLock({ $0.add(event) }) else { return }
    queue.asyncAfter(deadline: .now() + Self.interval(configuration.refusalWindow)) {
      guard let event = self.refusals.withLock({ $0.end(kind) }) else { return }
      self.note(event)
    }
    try await write(event)
  }

  /// Puts `event` into the round that is gathered, with whoever waits for it.
  /// - Returns: what there is to do now; `nil` where that is to wait.
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

  /// Writes what waits, flushes it, and takes no more.
  package func close() async {
    for event in refusals.withLock({ $0.endAll() }) { note(event) }
    state.withLock { $0.isClosed = true }
    await queue.perform { [self] in
      if let round = state.withLock({ $0.gathering?.number }) {
        let failure = writeAndTell(round)
        // Its first event is still to see to it.
        state.withLock { _ = $0.outcomes.updateValue(failure, forKey: round) }
      }
      flush(file)
      flush(refusalsFile)
    }
    await flushQueue.perform {}
  }

  /// Writes a round, unless that was done, and tells whoever waits for it.
  /// - Returns: what came of it.
  @discardableResult
  private func writeAndTell(_ round: Int) -> Failure? {
    let (failure, waiting) = write(round)
    for continuation in waiting { continuation.resume(returning: .over(failure)) }
    return failure
  }

  /// Writes a round, unless that was done.
  /// - Returns: what came of it, and who is to be told.
  private func write(_ number: Int) -> (failure: Failure?, waiting: [CheckedContinuation<Turn, Never>]) {
    guard let round = take(number) else {
      return (state.withLock { $0.outcomes.removeValue(forKey: number) } ?? nil, [])
    }
    var failure: Failure?
    do throws(SystemError) {
      // One file takes a round whole: a full one is a few megabytes.
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

  /// Flushes elsewhere: nobody who wants a line written waits for the disk.
  private func flush(_ file: AuditFile) {
    guard let unflushed = file.takeUnflushed() else { return }
    flushQueue.async { [self] in
      do throws(SystemError) {
        try unflushed.synchronize()
      } catch {
        logger.error("The audit log can't be flushed", metadata: ["error": "\(error)"])
        queue.async { file.failedToFlush() }
      }
    }
  }
}
