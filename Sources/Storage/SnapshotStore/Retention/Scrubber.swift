public import Foundation
public import SnapshotFormat
public import SystemIO

/// Checks the digest of every bundle at a limited rate, and sets aside the bundles whose bytes have changed.
///
/// A pass goes through the store in the order of the ids. Reading and hashing run on a thread with low priority. Safe
/// to use from any task; only one pass runs at a time.
public final class Scrubber: Sendable {
  /// The settings of a scrubber.
  public struct Configuration: Sendable {
    /// Returns the maximum rate of reading, in bytes per second. Called once for every pass.
    public var bytesPerSecond: @Sendable () -> Int64
    /// Stores the progress, so that the next pass continues an interrupted one; with `nil`, each pass starts with the
    /// first bundle.
    public var progress: (any ScrubProgressStore)?
    /// Returns the current time.
    public var now: @Sendable () -> Date
    /// Waits for a duration, or throws if the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// Returns the time of a monotonic clock.
    public var clock: @Sendable () -> Duration

    /// Creates settings that use the system's clocks. `bytesPerSecond` is evaluated for every pass.
    public init(
      bytesPerSecond: @autoclosure @escaping @Sendable () -> Int64, progress: (any ScrubProgressStore)? = nil,
      now: @escaping @Sendable () -> Date = { Date() },
      sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
      clock: @escaping @Sendable () -> Duration = {
        .nanoseconds(Int64(clamping: SystemClock.monotonicNanoseconds))
      }
    ) {
      self.bytesPerSecond = bytesPerSecond
      self.progress = progress
      self.now = now
      self.sleep = sleep
      self.clock = clock
    }
  }

  private let configuration: Configuration
  private let store: any BundleStore
  private let catalog: any Catalog
  private let observer: (any ScrubObserver)?
  private let onFailure: @Sendable (SnapshotID?, any Error) -> Void
  private let queue = ServerQueues.shared.maintenance
  private let state = Lock(ScrubReport())
  private let started = Lock<Task<Void, Never>?>(nil)

  /// Creates a scrubber.
  /// - Parameters:
  ///   - configuration: the speed, the store of the progress, and the clocks.
  ///   - store: the store whose bundles are checked.
  ///   - catalog: the index of `store`.
  ///   - observer: receives the result of each bundle.
  ///   - onFailure: called with an error of reading or writing, and the snapshot if the error concerns one.
  public init(
    _ configuration: Configuration, store: any BundleStore, catalog: any Catalog,
    observer: (any ScrubObserver)? = nil,
    onFailure: @escaping @Sendable (SnapshotID?, any Error) -> Void = { _, _ in }
  ) {
    self.configuration = configuration
    self.store = store
    self.catalog = catalog
    self.observer = observer
    self.onFailure = onFailure
  }

  /// The report of the running pass, or of the last one since the scrubber was created.
  public var report: ScrubReport { state.withLock { $0 } }

  /// Runs a pass over the whole store, or continues an interrupted one.
  /// - Returns: the report; `nil` if another pass is already running.
  @discardableResult
  public func run() async throws -> ScrubReport? { begin() ? try await pass() : nil }

  /// Starts a pass unless one is running, and returns immediately. ``report`` has the progress.
  public func start() {
    guard begin() else { return }
    let task = Task {
      do {
        try await pass()
      } catch is CancellationError {
      } catch {
        onFailure(nil, error)
      }
    }
    started.withLock { $0 = task }
  }

  /// Cancels the pass that ``start()`` began, and waits until it has ended.
  public func stop() async {
    let task = started.withLock { $0.take() }
    task?.cancel()
    await task?.value
  }

  /// Marks a pass as running, and returns `false` if one is already running.
  private func begin() -> Bool {
    let now = SnapshotJSON.milliseconds(of: configuration.now())
    return state.withLock { report in
      guard !report.isRunning else { return false }
      report = ScrubReport()
      report.isRunning = true
      report.startedAt = now
      return true
    }
  }

  @discardableResult
  private func pass() async throws -> ScrubReport {
    do {
      try await lookAtAll()
    } catch {
      end()
      throw error
    }
    return end()
  }

  @discardableResult
  private func end() -> ScrubReport {
    let now = SnapshotJSON.milliseconds(of: configuration.now())
    return state.withLock { report in
      report.isRunning = false
      report.endedAt = now
      return report
    }
  }

  private func lookAtAll() async throws {
    var pace = Pace(bytesPerSecond: configuration.bytesPerSecond())
    var last: SnapshotID?
    if case .reached(let id) = await progress() { last = id }
    let first = last.map { SnapshotShard(of: $0).firstByte } ?? 0
    for shard in SnapshotShard.allCases where shard.firstByte >= first {
      let ids = try await store.ids(in: shard).filter { id in last.map { $0 < id } ?? true }.sorted()
      guard let end = ids.last else { continue }
      for id in ids {
        try Task.checkCancellation()
        guard let finding = try await look(at: id, &pace) else { continue }
        state.withLock { $0.count(finding) }
        observer?.scrubbed(finding)
      }
      await keepProgress(.reached(end))
    }
    await keepProgress(.ended(configuration.now()))
  }

  /// Runs a pass regularly until the task is cancelled. The first begins after `delay`, or later if the stored progress
  /// states that a pass ended less than `interval` ago.
  public func run(every interval: TimeSpan, after delay: Duration = .zero) async {
    do {
      var pause = delay
      if case .ended(let time) = await progress() {
        let passed = min(max(Int64(configuration.now().timeIntervalSince(time)), 0), interval.seconds)
        pause = max(pause, .seconds(interval.seconds - passed))
      }
      try await configuration.sleep(pause)
      while true {
        do {
          try await run()
        } catch  where !(error is CancellationError) {
          onFailure(nil, error)
        }
        try await configuration.sleep(.seconds(interval.seconds))
      }
    } catch {
      // The task was cancelled.
    }
  }

  /// Hashes one bundle, and sets it aside if the digest differs; `nil` if the snapshot was deleted.
  private func look(at id: SnapshotID, _ pace: inout Pace) async throws -> ScrubFinding? {
    var bytes: Int64 = 0
    do {
      let bundle = try await store.openAnew(id)
      let digest = try await hash(bundle.file, &pace, count: &bytes)
      let record = bundle.record
      guard digest != record.sha256 || bytes != record.size || record.verified == .damaged else {
        return ScrubFinding(id: id, bytes: bytes, verdict: .intact)
      }
      let damaged = try await store.setAside(id)
      do { try await catalog.insert(damaged) } catch { onFailure(id, error) }
      return ScrubFinding(id: id, bytes: bytes, verdict: .setAside)
    } catch let error as StoreError {
      switch error {
      case .deleted, .notFound: return nil
      case .damaged:
        await recordDamage(of: id)
        return ScrubFinding(id: id, bytes: bytes, verdict: .damaged)
      default: onFailure(id, error)
      }
    } catch let error as SystemError {
      onFailure(id, error)
    }
    return ScrubFinding(id: id, bytes: bytes, verdict: .unreadable)
  }

  /// Has a snapshot recorded as damaged that was found without its bytes, so that they can be attached again.
  private func recordDamage(of id: SnapshotID) async {
    do {
      try await catalog.insert(try await store.setAside(id))
    } catch StoreError.damaged, StoreError.deleted, StoreError.notFound {
      // The record itself is damaged, or the snapshot is gone.
    } catch {
      onFailure(id, error)
    }
  }

  private func hash(_ file: File, _ pace: inout Pace, count: inout Int64) async throws -> ContentDigest {
    var computation = DigestComputation()
    while true {
      let (size, offset, begun) = (pace.pieceSize, count, computation)
      let (read, after) = try await queue.perform { () throws(SystemError) in
        var computation = begun
        let piece = try file.read(upTo: size, at: offset)
        computation.update(piece)
        return (piece.count, computation)
      }
      computation = after
      guard read > 0 else { return computation.digest }
      count += Int64(read)
      let delay = pace.delay(after: read, at: configuration.clock())
      if delay > .zero { try await configuration.sleep(delay) }
      try Task.checkCancellation()
    }
  }

  private func progress() async -> ScrubProgress? {
    do { return try await configuration.progress?.load() } catch {
      onFailure(nil, error)
      return nil
    }
  }

  private func keepProgress(_ progress: ScrubProgress) async {
    do { try await configuration.progress?.save(progress) } catch { onFailure(nil, error) }
  }
}

/// Limits a rate of bytes: returns how long to wait before the next bytes.
///
/// A rate that was lower for some time is not compensated by a higher one later, so that there is never a burst of more
/// than one piece.
struct Pace: Sendable {
  private let bytesPerSecond: Int64
  /// The earliest time at which all bytes so far are allowed.
  private var due: Duration = .zero

  /// - Parameter bytesPerSecond: the rate, at least 1.
  init(bytesPerSecond: Int64) { self.bytesPerSecond = max(bytesPerSecond, 1) }

  /// The number of bytes to read at once: about a tenth of a second's, from 4 KB to 256 KB.
  var pieceSize: Int { Int(min(max(bytesPerSecond / 10, 4 << 10), 256 << 10)) }

  /// Returns how long to wait after `count` bytes at `time`, which must not decrease.
  mutating func delay(after count: Int, at time: Duration) -> Duration {
    let cost = Duration.seconds(Double(count) / Double(bytesPerSecond))
    due = max(due, time - cost) + cost
    return max(due - time, .zero)
  }
}
