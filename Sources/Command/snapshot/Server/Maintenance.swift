import FileStore
import Logging
import SnapshotAPI
import SnapshotFormat
import SnapshotStore
import Synchronization
import SystemIO

/// What looks after a storage: lets go what is to go, and looks at every bundle, by itself and when it is asked.
final class Maintenance: Sendable {
  /// The longest that a server runs before it first lets anything go.
  private static let firstPass = Duration.seconds(600)
  /// How often uploads are looked for that were not finished in time.
  private static let uploadInterval = Duration.seconds(60)

  let reaper: Reaper
  /// Makes the passes that people ask for.
  let scrubber: Scrubber
  private let settings: RetentionSettings
  private let uploads: UploadService?
  /// Makes passes by itself.
  private let regularScrubber: Scrubber
  private let tasks = Mutex<[Task<Void, Never>]>([])
  private let held: HeldCount

  /// Looks after `store`, whose index is `catalog`, and `uploads`, which it publishes.
  /// - Parameters:
  ///   - storage: its folder.
  ///   - observer: told of every bundle that was looked at.
  ///   - onExpiration: told of every snapshot that went.
  init(
    _ settings: RetentionSettings, store: any BundleStore, catalog: any Catalog,
    uploads: UploadService? = nil,
    storage: String,
    observer: (any ScrubObserver)? = nil,
    onExpiration: @escaping @Sendable (Expiration) -> Void = { _ in }, logger: Logger
  ) {
    self.settings = settings
    self.uploads = uploads
    let held = HeldCount()
    self.held = held
    reaper = Reaper(
      settings.rules, store: store, catalog: catalog,
      onExpiration: { expiration in
        onExpiration(expiration)
        logger.info(
          "A snapshot went by itself",
          metadata: [
            "id": "\(expiration.id)", "rule": "\(expiration.rule.rawValue)", "reason": "\(expiration.reason)",
          ])
      },
      onFailure: { id, error in
        logger.error(
          "A snapshot could not go by itself; it is tried again",
          metadata: ["id": "\(id.map(\.description) ?? "-")", "error": "\(error)"])
      },
      onHold: { stopped in
        held.set(stopped?.due ?? 0)
        guard let stopped else { return }
        logger.error(
          "Nothing goes by itself until that is confirmed: \(stopped)",
          metadata: ["due": "\(stopped.due)", "total": "\(stopped.total)"])
      })
    let logFailure: @Sendable (SnapshotID?, any Error) -> Void = { id, error in
      logger.error(
        "A bundle could not be looked at; it is tried again",
        metadata: ["id": "\(id.map(\.description) ?? "-")", "error": "\(error)"])
    }
    func makeScrubber(_ progressFile: String?) -> Scrubber {
      Scrubber(
        .init(bytesPerSecond: settings.scrubBytesPerSecond, progressFile: progressFile), store: store,
        catalog: catalog, observer: observer, onFailure: logFailure)
    }
    scrubber = makeScrubber(nil)
    regularScrubber = makeScrubber(storage + "/scrubbed")
  }

  /// How many snapshots are to go, and wait until somebody confirms it.
  var heldExpirations: Int { held.value }

  /// Begins to do all of it by itself, as the settings say.
  func start() {
    let (reaper, scrubber, settings, uploads) = (reaper, regularScrubber, settings, uploads)
    var started = [
      Task(priority: .background) {
        let interval = Duration.seconds(settings.interval.seconds)
        await reaper.run(every: interval, after: min(interval, Self.firstPass))
      }
    ]
    if let uploads {
      started.append(Task(priority: .background) { await uploads.run(every: Self.uploadInterval) })
    }
    if let interval = settings.scrubInterval {
      started.append(Task(priority: .background) { await scrubber.run(every: interval) })
    }
    tasks.withLock { $0 = started }
  }

  /// Ends whatever runs, and waits for its end.
  func stop() async {
    let started = tasks.withLock { tasks in
      defer { tasks = [] }
      return tasks
    }
    for task in started { task.cancel() }
    for task in started { await task.value }
    await scrubber.stop()
  }
}

/// A number that several threads set.
private final class HeldCount: Sendable {
  private let count = Mutex(0)

  var value: Int { count.withLock { $0 } }

  func set(_ value: Int) { count.withLock { $0 = value } }
}
