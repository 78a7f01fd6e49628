public import Foundation
public import SnapshotFormat

/// Attaches what is recorded to bug reports, by itself.
///
/// One call freezes the recording into a bundle and gives the UUID that the report names; an ``UploadQueue`` sees to
/// it that the bundle gets to the server, however often the network, the server or the app go away meanwhile:
///
///     let reporter = try BugReporter(queue: folder, client: client) { report, zip in
///       try await snapshots.makeSnapshot(report: report, to: zip)
///     }
///     let id = try await reporter.attach(report: ReportID(validating: "BUG-123"))
///
/// Safe to be used from many tasks at once.
public struct BugReporter: Sendable {
  /// Freezes what is recorded into a bundle at the URL, which is free and whose folder is there, and tells what it
  /// wrote; `SnapshotMode.makeSnapshot(report:to:)` does. The snapshot's UUID is the manifest's, a new one each time.
  /// It may throw whatever it likes: ``attach(report:)`` hands that on in ``ReportingError/notFrozen(_:)``.
  public typealias Freezer =
    @Sendable (_ report: ReportID, _ zip: URL) async throws -> SnapshotBundle.Packed

  /// Where the bundles go, and what is known of each.
  public let queue: UploadQueue
  private let freeze: Freezer

  /// A reporter over the queue in `folder`, which is made where it is missing; uploads that wait there go on.
  /// - Parameters:
  ///   - folder: a folder of the queue's own, on the app's own disk. One queue at a time uses it.
  ///   - client: what uploads. Its policy of retries does not matter here: the queue has its own.
  ///   - freeze: makes the bundles.
  ///
  /// Throws what ``UploadQueue/init(folder:client:configuration:)`` does.
  public init(
    queue folder: URL, client: SnapshotAPIClient, configuration: UploadQueue.Configuration = .init(),
    freeze: @escaping Freezer
  ) throws(ReportingError) {
    self.init(
      queue: try UploadQueue(folder: folder, client: client, configuration: configuration), freeze: freeze)
  }

  /// A reporter over a queue that is there already.
  public init(queue: UploadQueue, freeze: @escaping Freezer) {
    self.queue = queue
    self.freeze = freeze
  }

  /// Freezes what is recorded now for `report`, and hands it to the queue.
  ///
  /// It does not wait for the network. Once it returns, bundle and report lie in the queue's folder and would survive
  /// a power cut; a crash before that leaves nothing of it. What became of it: ``UploadQueue/items``,
  /// ``UploadQueue/updates()`` and ``UploadQueue/outcome(of:)``.
  /// - Returns: the UUID that the snapshot has and will have on the server.
  ///
  /// Throws ``ReportingError/full(_:)`` where the queue's limits leave no room for one more,
  /// ``ReportingError/notFrozen(_:)`` where no bundle was made, ``ReportingError/disk(_:)`` and
  /// ``ReportingError/closed``; then nothing was attached and nothing is left on the disk. Only after
  /// ``ReportingError/notFlushed(_:_:)``, of a disk that can neither keep nor remove it, it is attached all the same.
  @discardableResult
  public func attach(report: ReportID) async throws(ReportingError) -> SnapshotID {
    try await queue.add(for: report, freeze: freeze)
  }
}
