public import Foundation
public import SnapshotFormat
import Synchronization
public import SystemIO

/// Looks at every bundle: reads it whole, at a bounded rate, and sets it aside where its bytes are not those that
/// came.
///
/// A pass goes through the store in the order of the ids. Reading and hashing are done on a thread that gives way to all
/// others. Safe to use from any task; there is one pass at a time.
public final class Scrubber: Sendable {
  /// How a scrubber goes about it.
  public struct Configuration: Sendable {
    /// The most bytes that are read in a second.
    public var bytesPerSecond: Int64
    /// The file in which a pass leaves how far it came, for the next one to go on there if it was cut short; `nil`
    /// begins anew each time.
    public var progressFile: String?
    /// The time of day.
    public var now: @Sendable () -> Date
    /// Waits so long, or throws once it is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// A clock that never goes back.
    public var clock: @Sendable () -> Duration

    /// Settings with a clock of the system's.
    public init(
      bytesPerSecond: Int64, progressFile: String? = nil,
      now: @escaping @Sendable () -> Date = { Date() },
      sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
      clock: @escaping @Sendable () -> Duration = {
        .nanoseconds(Int64(clamping: SystemClock.monotonicNanoseconds))
      }
    ) {
      self.bytesPerSecond = bytesPerSecond
      self.progressFile = progressFile
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
  private let queue = BackgroundQueue()
  private let state = Mutex(ScrubReport())
  private let started = Mutex<Task<Void, Never>?>(nil)

  /// Looks at what `store` keeps, whose index is `catalog`.
  /// - Parameter onFailure: told what could not be read or written down, with the snapshot where it was about one.
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

  /// The pass that runs, or else the last one since the start.
  public var report: ScrubReport { state.withLock { $0 } }

  /// Makes one pass over the whole store, or what is left of one that was cut short.
  /// - Returns: what it found; `nil` where another pass runs already.
  @discardableResult
  public func run() async throws -> ScrubReport? { begin() ? try await pass() : nil }

  /// Begins a pass unless one runs, and returns at once; ``report`` tells how it goes.
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

  /// Ends the pass that ``start()`` began, and waits for its end.
  public func stop() async {
    let task = started.withLock { $0.take() }
    task?.cancel()
    await task?.value
  }

  /// Whether a pass may begin: there is one at a time.
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
    var pace = Pace(bytesPerSecond: configuration.bytesPerSecond)
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

  /// Makes a pass every so often until it is cancelled; the first begins at once, unless the file of the last one says
  /// that it ended less than `interval` ago.
  public func run(every interval: TimeSpan) async {
    do {
      if case .ended(let time) = await progress() {
        let passed = min(max(Int64(configuration.now().timeIntervalSince(time)), 0), interval.seconds)
        try await configuration.sleep(.seconds(interval.seconds - passed))
      }
      while true {
        do {
          try await run()
        } catch  where !(error is CancellationError) {
          onFailure(nil, error)
        }
        try await configuration.sleep(.seconds(interval.seconds))
      }
    } catch {
      // It was cancelled.
    }
  }

  /// Hashes one bundle, and sets it aside where it must be; `nil` where it is gone.
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
      case .damaged: return ScrubFinding(id: id, bytes: bytes, verdict: .damaged)
      default: onFailure(id, error)
      }
    } catch let error as SystemError {
      onFailure(id, error)
    }
    return ScrubFinding(id: id, bytes: bytes, verdict: .unreadable)
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
    guard let path = configuration.progressFile else { return nil }
    return await queue.perform { [onFailure] in
      do {
        guard try Folder.exists(path) else { return nil }
        let bytes = try File(path).read(upTo: ScrubProgress.maximumLength, at: 0)
        return ScrubProgress(String(decoding: bytes, as: UTF8.self))
      } catch {
        onFailure(nil, error)
        return nil
      }
    }
  }

  private func keepProgress(_ progress: ScrubProgress) async {
    guard let path = configuration.progressFile else { return }
    await queue.perform { [onFailure] in
      do {
        try DurableFile.replace(path, with: Array(progress.description.utf8))
      } catch {
        onFailure(nil, error)
      }
    }
  }
}
