public import Foundation
public import SnapshotFormat

/// Attaches recordings to bug reports automatically.
///
/// One call packs the recordings into a bundle and returns the UUID for the report. An ``UploadQueue`` uploads the
/// bundle, even if the network, the server or the app fails in the meantime:
///
///     let reporter = try BugReporter(queue: folder, client: client) { bug, zip in
///       try await snapshots.makeSnapshot(for: bug, to: zip)
///     }
///     let id = try await reporter.attach(report: ReportID(validating: "BUG-123"))
///
/// It can be used from many tasks at once.
public struct BugReporter: Sendable {
  /// Packs what the report describes into a bundle at the URL, a free path in an existing folder, and returns a
  /// description of the bundle; `SnapshotMode.makeSnapshot(for:to:)` does that. Each report has a UUID of its own. The
  /// errors of a freezer are reported as ``ReportingError/notFrozen(_:)`` by ``attach(_:)``.
  public typealias Freezer =
    @Sendable (_ bug: BugReport, _ zip: URL) async throws -> SnapshotBundle.Packed

  /// The queue that stores and uploads the bundles.
  public let queue: UploadQueue
  private let freeze: Freezer

  /// Creates a reporter with a queue in `folder`, which is created if it is missing. Pending uploads are resumed.
  /// - Parameters:
  ///   - folder: a folder for the queue only, on the app's own disk. Only one queue at a time can use it.
  ///   - client: uploads the bundles. Its retry policy is ignored, because the queue has its own.
  ///   - configuration: the queue's limits, delays and network policy.
  ///   - freeze: makes the bundles.
  ///
  /// Throws the errors of ``UploadQueue/init(folder:client:configuration:)``.
  public init(
    queue folder: URL, client: SnapshotAPIClient, configuration: UploadQueue.Configuration = .init(),
    freeze: @escaping Freezer
  ) throws(ReportingError) {
    self.init(
      queue: try UploadQueue(folder: folder, client: client, configuration: configuration), freeze: freeze)
  }

  /// Creates a reporter with an existing queue.
  public init(queue: UploadQueue, freeze: @escaping Freezer) {
    self.queue = queue
    self.freeze = freeze
  }

  /// Packs the current recordings for `report`, and adds the bundle to the queue.
  ///
  /// This method does not wait for the network. When it returns, the bundle and the report are durably stored in the
  /// queue's folder, even after a power failure; if the app crashes earlier, nothing is stored. The result of the
  /// upload is in ``UploadQueue/items``, ``UploadQueue/updates()`` and ``UploadQueue/outcome(of:)``.
  /// - Parameters:
  ///   - report: the bug report.
  ///   - note: what the user wrote, as plain text of at most 32 KiB in UTF-8.
  ///   - fields: further descriptions by name, such as `severity`.
  /// - Returns: the snapshot's UUID, locally and on the server.
  ///
  /// Throws ``ReportingError/full(_:)`` if the queue's limits are reached, ``ReportingError/notFrozen(_:)`` if the
  /// bundle could not be made, ``ReportingError/disk(_:)`` and ``ReportingError/closed``. In these cases nothing was
  /// attached or stored. Only after ``ReportingError/notFlushed(_:_:)``, if the disk can neither synchronize nor remove
  /// the bundle, the snapshot is attached nevertheless.
  @discardableResult
  public func attach(
    report: ReportID, note: String? = nil, fields: [String: String] = [:]
  ) async throws(ReportingError) -> SnapshotID {
    try await attach(BugReport(report: report, note: note, fields: fields))
  }

  /// The same for a report that says more, for example that it is about the run that crashed.
  @discardableResult
  public func attach(_ bug: BugReport) async throws(ReportingError) -> SnapshotID {
    try await queue.add(for: bug, freeze: freeze)
  }
}
