import Dispatch
public import Logging
import Synchronization
public import SystemIO

/// Shows who read and changed what: a file of JSON objects, a line each, that is only ever appended to.
///
///     audit.log       the newest lines
///     audit.log.1     those before, and so on up to `keptFiles`
///
/// Lines are written in the order in which they came, on a queue of the log's own; those that come at the same time
/// are written together. ``write(_:)`` returns when its line is in the file: it outlives the process from then on, and a
/// power cut from at most ``Configuration/flushInterval`` later on. Where a line can't be written it throws, so
/// that whoever asks can be refused what could not be accounted for; the log goes on as soon as it can.
///
/// Other processes may append to the same file, and whoever moves or removes it gets a new one made.
public final class AuditLog: Sendable {
  /// Where the lines go, and how many are kept.
  public struct Configuration: Sendable, Hashable {
    /// The file; those before it stand beside it.
    public var path: String
    /// How large a file becomes, in bytes; a single longer line has a file of its own.
    public var fileBytes: Int64 = 64 << 20
    /// How many files are kept besides the newest; the oldest goes. At least 1.
    public var keptFiles = 15
    /// The most events that wait to be written. Beyond, ``AuditLog/write(_:)`` throws at once.
    public var waitingEvents = 10_000
    /// For how long refusals of people unknown that are alike share a line.
    public var refusalWindow: Duration = .seconds(10)
    /// How long a line waits at most to be flushed to the disk.
    public var flushInterval: Duration = .seconds(1)

    /// The defaults, for a log at `path`.
    public init(path: String) { self.path = path }
  }

  /// Why an event is not in the log.
  public enum Failure: Error, Sendable {
    /// More wait than may.
    case full
    /// The log is closed.
    case closed
    /// The disk or the system failed; for the log of the server.
    case system(SystemError)
  }

  private struct Waiting: Sendable {
    let event: AuditEvent
    /// Who waits for it.
    let continuation: CheckedContinuation<Failure?, Never>?
  }

  private struct State: Sendable {
    var waiting: [Waiting] = []
    var isScheduled = false
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

  /// Opens the log, making it for the server's own user alone (0600) where it is missing.
  public init(_ configuration: Configuration, logger: Logger) throws(SystemError) {
    self.configuration = configuration
    self.logger = logger
    file = try AuditFile(configuration)
  }

  /// How many events wait to be written.
  public var waitingEvents: Int { state.withLock { $0.waiting.count } }

  /// Whether the last event could not be written.
  public var isFailing: Bool { state.withLock { $0.isFailing } }

  /// Returns when the event is in the file.
  public func write(_ event: AuditEvent) async throws(Failure) {
    let failure: Failure? = await withCheckedContinuation { continuation in
      if let failure = add(Waiting(event: event, continuation: continuation)) {
        continuation.resume(returning: failure)
      }
    }
    if let failure { throw failure }
  }

  /// Has the event written without waiting for it: for what the server does by itself. What can't be written is told to
  /// the logger.
  public func note(_ event: AuditEvent) {
    guard let failure = add(Waiting(event: event, continuation: nil)) else { return }
    logger.error(
      "An event is not in the audit log", metadata: ["event": "\(event.line)", "error": "\(failure)"])
  }

  /// Returns when the refusal of somebody unknown is in the file, or waits to share a line with others: of those with
  /// the same address, action and problem the first has its line, and all that follow within
  /// ``Configuration/refusalWindow`` have one together, which says how many.
  public func writeRefusal(_ event: AuditEvent) async throws(Failure) {
    guard let kind = refusals.withLock({ $0.add(event) }) else { return }
    queue.asyncAfter(deadline: .now() + Self.interval(configuration.refusalWindow)) {
      guard let event = self.refusals.withLock({ $0.end(kind) }) else { return }
      _ = self.add(Waiting(event: event, continuation: nil))
    }
    try await write(event)
  }

  private func add(_ waiting: Waiting) -> Failure? {
    state.withLock { state in
      if state.isClosed { return .closed }
      guard state.waiting.count < configuration.waitingEvents else { return .full }
      state.waiting.append(waiting)
      if !state.isScheduled {
        state.isScheduled = true
        queue.async { self.writeWaiting() }
      }
      return nil
    }
  }

  private static func interval(_ duration: Duration) -> DispatchTimeInterval {
    .nanoseconds(Int(duration / .nanoseconds(1)))
  }

  /// Writes what waits, flushes it, and takes no more.
  public func close() async {
    for event in refusals.withLock({ $0.endAll() }) { _ = add(Waiting(event: event, continuation: nil)) }
    state.withLock { $0.isClosed = true }
    await queue.perform { [self] in
      writeWaiting()
      flush()
    }
    await flushQueue.perform {}
  }

  private func writeWaiting() {
    while let batch = takeWaiting() {
      var failure: Failure?
      do throws(SystemError) {
        // One file takes a batch whole: a full queue is a few megabytes.
        try file.append(batch.map(\.event.bytes))
      } catch {
        logger.error(
          "Events can't be written to the audit log",
          metadata: ["error": "\(error)", "events": "\(batch.count)"])
        failure = .system(error)
      }
      state.withLock { $0.isFailing = failure != nil }
      for waiting in batch { waiting.continuation?.resume(returning: failure) }
    }
    if file.beginFlush() {
      queue.asyncAfter(deadline: .now() + Self.interval(configuration.flushInterval)) {
        self.flush()
      }
    }
  }

  private func takeWaiting() -> [Waiting]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isScheduled = false
        return nil
      }
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  /// Flushes elsewhere: nobody who wants a line written waits for the disk.
  private func flush() {
    guard let file = file.takeUnflushed() else { return }
    flushQueue.async { [self] in
      do throws(SystemError) {
        try file.synchronize()
      } catch {
        logger.error("The audit log can't be flushed", metadata: ["error": "\(error)"])
        queue.async { self.file.failedToFlush() }
      }
    }
  }
}
