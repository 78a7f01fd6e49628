public import Foundation
public import SnapshotFormat

/// Uploads bundles, each until the server has it or refuses it for good, across crashes and relaunches.
///
/// - It begins by itself, and tries again after a failure: later and later, no earlier than the server asks for by
///   `Retry-After`, and only over networks that its ``NetworkPolicy`` permits.
/// - `PUT` under the snapshot's own UUID makes a repeat harmless: whatever was cut short is done again.
/// - An answer of 401 or 403 makes it wait for another token (``use(_:)``). Other answers that no repeat would change
///   (400, 409, 410, 413, 415, 422, …) end the upload as ``QueuedUpload/State/failed(_:)``. Everything else is
///   tried again: there is no number of tries after which a bundle would be dropped.
/// - What it did stands in ``items``, and what it does in ``updates()``.
///
/// It keeps one folder for each upload in its own, with the bundle, a file that says how far it is, and, in times to
/// come, what a resumable upload needs to go on. Safe to be used from many threads at once.
public final class UploadQueue: Sendable {
  /// Opens the queue in `folder`, which is made where it is missing, and goes on with what waits there. Reads some
  /// small files.
  ///
  /// Throws ``ReportingError/inUse(folder:)`` where another process or queue has the folder open, else
  /// ``ReportingError/disk(_:)``.
  public init(folder: URL, client: SnapshotAPIClient, configuration: Configuration = Configuration())
    throws(ReportingError)
  {
    throw .closed
  }

  /// The uploads, oldest first: those that wait, run or failed, and the last ones that are done.
  public var items: [QueuedUpload] { [] }

  /// The upload of the snapshot `id`, where it is known here.
  public subscript(id: SnapshotID) -> QueuedUpload? { nil }

  /// What lies in the folder and can't be read as an upload: damaged, or of a newer version of this software. It is
  /// left as it is, counts towards no limit, and is looked at again when the folder is opened the next time.
  public var unreadable: [UnreadableUpload] { [] }

  /// Every upload as it is now, and then again whenever it changes. Who reads slowly sees the newest of each and no
  /// final state is ever passed over. Ends when the queue is closed.
  public func updates() -> QueueUpdates { QueueUpdates() }

  /// Waits until the upload of `id` is `done`, `failed` or `removed`.
  /// - Returns: how it ended; `nil` where it is not known here, or the queue was closed or the task cancelled before.
  public func outcome(of id: SnapshotID) async -> QueuedUpload? { nil }

  /// Tries `id` again at once, whatever it waits for but the network; a failed one too, if its bundle is still here.
  ///
  /// Throws ``ReportingError/unknown(_:)`` where there is nothing to be tried. One that is uploading or done stays so.
  public func retryNow(_ id: SnapshotID) throws(ReportingError) {}

  /// Tries all that wait again at once, whatever they wait for but the network. Those that failed for good stay so.
  public func retryAllNow() {}

  /// Removes `id` with its bundle; stops it where it is uploading, and then the server may have got it all the same.
  ///
  /// Throws ``ReportingError/unknown(_:)`` where it is not known here, and ``ReportingError/disk(_:)``; then nothing
  /// has changed.
  public func remove(_ id: SnapshotID) async throws(ReportingError) {}

  /// Asks the ``NetworkPolicy`` again: what it permits now goes out, what it no longer permits is stopped and waits.
  /// What failed for want of a connection is tried at once.
  public func networkChanged() {}

  /// Uploads with `client` from now on, one with another token say; what waits for a token is tried at once.
  public func use(_ client: SnapshotAPIClient) {}

  /// Stops what runs, ends all ``updates()``, and lets go of the folder; what waits stays there for the next queue.
  public func close() async {}

  func add(for report: ReportID, freeze: BugReporter.Freezer) async throws(ReportingError) -> SnapshotID {
    throw .closed
  }
}
