package import Foundation
package import Logging
package import SnapshotAPI
package import SnapshotFormat
package import SnapshotStore
import SystemIO

/// A store that accumulates what nothing needs.
protocol SweptStore: Sendable {
  /// Deletes what no bundle and no upload needs at a time, and returns how much that was.
  func sweep(at now: Date) async throws(StoreError) -> Int
}

/// Maintains a storage: deletes expired snapshots and uploads, verifies all bundles, both regularly and on request, and
/// regularly deletes what is not needed. Of several servers that share a storage, one does this at a time.
package final class Maintenance: Sendable {
  /// The longest time between the start of the server and the first expiration or verification that is due.
  private static let firstPass = Duration.seconds(600)
  /// How often expired uploads are removed.
  private static let uploadInterval = Duration.seconds(60)
  /// How often this server indexes what servers left that ended.
  private static let takeoverInterval = Duration.seconds(60)
  /// How often a shared store is swept.
  private static let sweepInterval = Duration.seconds(24 * 3600)
  /// How often a sweep is tried while the clock is doubted.
  private static let doubtInterval = Duration.seconds(600)

  package let reaper: Reaper
  /// Verifies bundles on request.
  package let scrubber: Scrubber
  private let settings: CurrentRetention
  private let uploads: UploadService?
  /// Verifies bundles regularly.
  private let regularScrubber: Scrubber
  private let swept: (any SweptStore)?
  private let onSweep: @Sendable () -> Void
  private let clock: DeletionClock
  private let onTakeover: @Sendable () -> Void
  private let lock: any MaintenanceLock
  private let tasks = Lock(RegularTasks())
  private let held: HeldCount
  private let logger: Logger

  /// Creates the maintenance of the bundles and uploads of `storage`.
  /// - Parameters:
  ///   - catalog: the index in which deletions and results are recorded.
  ///   - clock: the time by which is deleted.
  ///   - uploads: publishes and removes uploads; `nil` if uploads are not maintained.
  ///   - announcer: tells others of deletions.
  ///   - onSweep: called before a shared store is swept.
  ///   - onTakeover: called immediately when this server is the one that maintains the storage, and then regularly.
  ///   - observer: called for every bundle that was verified.
  ///   - onExpiration: called for every snapshot that expired.
  ///   - now: the time of day, for the verification.
  package init(
    _ settings: RetentionSettings, storage: ServerStorage, catalog: any Catalog,
    clock: DeletionClock, uploads: UploadService? = nil, announcer: (any ChangeAnnouncer)? = nil,
    observer: (any ScrubObserver)? = nil,
    onSweep: @escaping @Sendable () -> Void = {}, onTakeover: @escaping @Sendable () -> Void = {},
    onExpiration: @escaping @Sendable (Expiration) -> Void = { _ in },
    now: @escaping @Sendable () -> Date = { Date() }, logger: Logger
  ) {
    let current = CurrentRetention(settings)
    self.settings = current
    self.clock = clock
    self.uploads = uploads
    self.logger = logger
    self.onTakeover = onTakeover
    lock = storage.maintenanceLock
    swept = storage.swept
    self.onSweep = onSweep
    let held = HeldCount()
    self.held = held
    var reaper = Reaper(
      current.value.rules, store: storage.store, catalog: catalog, clock: clock,
      onExpiration: { expiration in
        onExpiration(expiration)
        logger.info(
          "A snapshot expired and was deleted",
          metadata: [
            "id": "\(expiration.id)", "rule": "\(expiration.rule.rawValue)", "reason": "\(expiration.reason)",
          ])
      },
      onFailure: { id, error in
        logger.error(
          "The expiration of snapshots failed; it will be retried",
          metadata: ["id": "\(id.map(\.description) ?? "-")", "error": "\(error)"])
      },
      onHold: { stopped in
        held.set(stopped?.due ?? 0)
        guard let stopped else { return }
        logger.error(
          "Expired snapshots are not deleted until this is confirmed: \(stopped)",
          metadata: ["due": "\(stopped.due)", "total": "\(stopped.total)"])
      },
      onUndated: { count in
        logger.warning(
          "The retention rules keep snapshots whose time of receipt can't be right; delete or repair them",
          metadata: ["count": "\(count)"])
      })
    reaper.announcer = announcer
    self.reaper = reaper
    let logFailure: @Sendable (SnapshotID?, any Error) -> Void = { id, error in
      logger.error(
        "A bundle could not be verified; it will be retried",
        metadata: ["id": "\(id.map(\.description) ?? "-")", "error": "\(error)"])
    }
    func makeScrubber(_ progress: (any ScrubProgressStore)?) -> Scrubber {
      Scrubber(
        .init(bytesPerSecond: current.value.scrubBytesPerSecond, progress: progress, now: now),
        store: storage.store, catalog: catalog, observer: observer, onFailure: logFailure)
    }
    scrubber = makeScrubber(nil)
    regularScrubber = makeScrubber(storage.scrubProgress)
  }

  /// The number of expired snapshots whose deletion waits for a confirmation.
  package var heldExpirations: Int { held.value }

  /// Why nothing is deleted automatically; `nil` if it is.
  var clockDoubt: ClockDoubt? { clock.doubt }

  /// Whether this server maintains the storage regularly at the moment.
  package var isActive: Bool { tasks.withLock { $0.isActive } }

  /// Starts all regular tasks, as configured, once this server is the one that maintains the storage.
  package func start() {
    let task = Task(priority: .background) { [self] in await lock.whileHeld { await self.maintain() } }
    tasks.withLock { $0.maintaining = task }
  }

  /// Maintains the storage until the task is cancelled.
  private func maintain() async {
    tasks.withLock { tasks in
      tasks.isActive = true
      tasks.retention = startRetention(settings.value, verifyingAfter: Self.firstPass)
    }
    await withTaskGroup(of: Void.self) { group in
      if let uploads { group.addTask { await uploads.run(every: Self.uploadInterval) } }
      group.addTask { await self.sweepRegularly() }
      group.addTask { await self.takeOverRegularly() }
    }
    let retention = tasks.withLock { tasks in
      defer { (tasks.isActive, tasks.retention) = (false, []) }
      return tasks.retention
    }
    await Self.end(retention)
  }

  private func takeOverRegularly() async {
    while !Task.isCancelled {
      onTakeover()
      do { try await Task.sleep(for: Self.takeoverInterval) } catch { return }
    }
  }

  /// Sweeps regularly, if there is something to sweep and the clock is believed, until the task is cancelled.
  private func sweepRegularly() async {
    var pause = Self.firstPass
    while !Task.isCancelled {
      do { try await Task.sleep(for: pause) } catch { return }
      let reading = await clock.read()
      pause = reading.doubt == nil ? Self.sweepInterval : Self.doubtInterval
      guard reading.doubt == nil else { continue }
      do {
        if let swept {
          onSweep()
          _ = try await swept.sweep(at: reading.time)
        }
      } catch {
        logger.error("The sweep failed; it will be retried", metadata: ["error": "\(error)"])
      }
    }
  }

  /// Applies other settings: the rules with the next run, and the intervals and the rate of the regular verification
  /// now. An interrupted verification continues where it was. A verification on request keeps its rate.
  ///
  /// Not to be called while ``start()`` or ``stop()`` runs.
  package func change(_ settings: RetentionSettings) async {
    let former = self.settings.replace(with: settings)
    let isSameSchedule =
      former.interval == settings.interval && former.scrubInterval == settings.scrubInterval
      && former.scrubBytesPerSecond == settings.scrubBytesPerSecond
    if isSameSchedule { return }
    let ended = tasks.withLock { tasks in
      defer { tasks.retention = [] }
      return tasks.retention
    }
    guard !ended.isEmpty else { return }
    await Self.end(ended)
    tasks.withLock { tasks in
      // In the meantime, this server may have stopped to maintain the storage, or begun again with the new settings.
      guard tasks.isActive, tasks.retention.isEmpty else { return }
      tasks.retention = startRetention(settings, verifyingAfter: .zero)
    }
  }

  /// - Parameter delay: the shortest time before a verification that is due, so that it does not compete with the
  ///   start of the server.
  private func startRetention(
    _ settings: RetentionSettings, verifyingAfter delay: Duration
  ) -> [Task<Void, Never>] {
    let (reaper, scrubber) = (reaper, regularScrubber)
    var started = [
      Task(priority: .background) {
        let interval = Duration.seconds(settings.interval.seconds)
        await reaper.run(every: interval, after: min(interval, Self.firstPass))
      }
    ]
    if let interval = settings.scrubInterval {
      let delay = min(.seconds(interval.seconds), delay)
      started.append(Task(priority: .background) { await scrubber.run(every: interval, after: delay) })
    }
    return started
  }

  /// Cancels all running tasks, and waits for their end.
  package func stop() async {
    let maintaining = tasks.withLock { $0.maintaining.take() }
    await Self.end([maintaining].compactMap(\.self))
    await scrubber.stop()
  }

  private static func end(_ tasks: [Task<Void, Never>]) async {
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }

  private struct RegularTasks: Sendable {
    /// Waits for the lock, and then maintains.
    var maintaining: Task<Void, Never>?
    /// Whether this server maintains the storage.
    var isActive = false
    /// Expires and verifies; ``change(_:)`` replaces these.
    var retention: [Task<Void, Never>] = []
  }
}

/// The settings as they are now.
private final class CurrentRetention: Sendable {
  private let settings: Lock<RetentionSettings>

  init(_ settings: RetentionSettings) { self.settings = Lock(settings) }

  var value: RetentionSettings { settings.withLock { $0 } }

  /// Returns the former settings.
  func replace(with new: RetentionSettings) -> RetentionSettings {
    settings.withLock { settings in
      defer { settings = new }
      return settings
    }
  }
}

/// A number that is shared between threads.
private final class HeldCount: Sendable {
  private let count = Lock(0)

  var value: Int { count.withLock { $0 } }

  func set(_ value: Int) { count.withLock { $0 = value } }
}
