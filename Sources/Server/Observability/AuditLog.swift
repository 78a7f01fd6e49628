import Dispatch
package import Logging
package import SnapshotFormat
import SnapshotStore
package import SystemIO

/// A log of who accessed or changed which snapshot. The log is a file with one JSON object per line, to which lines are
/// only appended.
///
///     audit.log               the newest lines
///     audit.log.1             older lines, and so on up to `keptFiles`
///     audit-refused.log       refused actions, in separate files, so that many refusals
///     audit-refused.log.1     do not displace the successful actions
///
/// Lines are written in order, on the log's own queue. Events that arrive while lines are written are written together
/// after them. When ``write(_:)`` returns, the line is in the file and survives a crash of the process. After at most
/// ``Configuration/flushInterval`` it also survives a power failure. If a line can't be written, the caller is told, so
/// that it can refuse an action that can't be recorded. The log resumes when writing succeeds again.
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

  /// An event that waits to be written.
  private struct Waiting: Sendable {
    let line: [UInt8]
    let isRefusal: Bool
    /// Called when the line is in the file, or can't be written.
    let completion: @Sendable (Result<Void, Failure>) -> Void
  }

  private struct Files: Sendable {
    var completed: AuditFile
    var refused: AuditFile

    enum Kind: CaseIterable { case completed, refused }

    subscript(kind: Kind) -> AuditFile {
      get { kind == .completed ? completed : refused }
      set { if kind == .completed { completed = newValue } else { refused = newValue } }
    }
  }

  private let configuration: Configuration
  private let logger: Logger
  private let batches = BatchQueue<Waiting>("audit")
  private let flushQueue = ServerQueues.shared.flushers.next
  private let hasFailed = Lock(false)
  private let refusals = Lock(RefusalTable())
  private let files: Lock<Files>

  /// Opens the log. Creates missing files with mode 0600.
  package init(_ configuration: Configuration, logger: Logger) throws(SystemError) {
    self.configuration = configuration
    self.logger = logger
    files = Lock(
      Files(
        completed: try AuditFile(configuration.path, configuration),
        refused: try AuditFile(configuration.refusalsPath, configuration)))
  }

  /// The number of events waiting to be written.
  package var waitingEvents: Int { batches.waiting }

  /// Whether writing the last event failed.
  package var isFailing: Bool { hasFailed.value }

  /// Writes an event. Returns when its line is in the file.
  package func write(_ event: AuditEvent) async throws(Failure) {
    try await withCheckedContinuation { continuation in
      add(event) { continuation.resume(returning: $0) }
    }.get()
  }

  /// Writes a refusal, or counts it. The first refusal with the same token, address, action and problem gets its own line.
  /// Further ones within ``Configuration/refusalWindow`` share one line with their number, which is written at the end of
  /// this period. Returns when the line is in the file, or the refusal is counted.
  package func writeRefusal(_ event: AuditEvent) async throws(Failure) {
    guard let kind = refusals.withLock({ $0.add(event) }) else { return }
    batches.queue.asyncAfter(deadline: .now() + Self.interval(configuration.refusalWindow)) {
      guard let event = self.refusals.withLock({ $0.end(kind) }) else { return }
      self.record(event)
    }
    try await write(event)
  }

  /// Writes an event without waiting for the result, for actions of the server itself. Reports errors to the logger.
  package func record(_ event: AuditEvent) {
    add(event) { [logger] outcome in
      guard case .failure(let failure) = outcome else { return }
      logger.error(
        "An event is missing in the audit log", metadata: ["event": "\(event.line)", "error": "\(failure)"])
    }
  }

  private func add(_ event: AuditEvent, _ completion: @escaping @Sendable (Result<Void, Failure>) -> Void) {
    guard batches.waiting < configuration.waitingEvents else { return completion(.failure(.full)) }
    let waiting = Waiting(
      line: event.bytes, isRefusal: event.result == .refused, completion: completion)
    let isAdded = batches.add(waiting) { [self] batch in write(batch) }
    if !isAdded { completion(.failure(.closed)) }
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
    for event in refusals.withLock({ $0.endAll() }) { record(event) }
    await batches.close()
    await batches.queue.perform { [self] in
      for kind in Files.Kind.allCases { flush(kind) }
    }
    await flushQueue.perform {}
  }

  /// Writes events with one write for each file. Only on the queue of the batches.
  private func write(_ batch: [Waiting]) {
    var outcome = Result<Void, Failure>.success(())
    do {
      // A batch is not split between files; its size is limited to a few megabytes.
      try files.withLock { files throws(SystemError) in
        try files.completed.append(batch.filter { !$0.isRefusal }.map(\.line))
        try files.refused.append(batch.filter(\.isRefusal).map(\.line))
      }
      hasFailed.set(false)
    } catch {
      hasFailed.set(true)
      logger.error(
        "Events can't be written to the audit log",
        metadata: ["error": "\(error)", "events": "\(batch.count)"])
      outcome = .failure(.system(error))
    }
    for kind in Files.Kind.allCases where files.withLock({ $0[kind].beginFlush() }) {
      batches.queue.asyncAfter(deadline: .now() + Self.interval(configuration.flushInterval)) {
        self.flush(kind)
      }
    }
    for waiting in batch { waiting.completion(outcome) }
  }

  /// Flushes on another queue, so that writing a line never waits for the disk.
  private func flush(_ kind: Files.Kind) {
    guard let unflushed = files.withLock({ $0[kind].takeUnflushed() }) else { return }
    flushQueue.async { [self] in
      do {
        try unflushed.flush()
      } catch {
        logger.error("The audit log can't be flushed", metadata: ["error": "\(error)"])
        files.withLock { $0[kind].failedToFlush() }
      }
    }
  }
}
