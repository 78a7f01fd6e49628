public import SnapshotFormat
public import SystemIO

/// The reason why a bundle was not attached or a queue was not opened.
public enum ReportingError: Error, Sendable, CustomStringConvertible {
  /// A limit of the queue that is reached.
  public enum Fullness: Sendable, Hashable {
    /// The queue contains the maximum number of bundles, ``UploadQueue/Limits/items``.
    case items(limit: Int)
    /// The bundle would exceed the maximum size of all bundles, ``UploadQueue/Limits/bytes``.
    case bytes(limit: Int64, bundle: Int64)
  }

  /// The folder is in use by another process or by another queue of this process.
  case inUse(folder: String)
  /// The queue is full. Pending uploads are never dropped in favor of newer ones.
  case full(Fullness)
  /// The bundle could not be made; contains the error of the freezer.
  case notFrozen(any Error)
  /// The queue already contains a snapshot with the bundle's UUID.
  case duplicate(SnapshotID)
  /// The queue has no upload with that UUID, or its bundle has been removed.
  case unknown(SnapshotID)
  /// The queue was closed.
  case closed
  /// The disk failed to synchronize the upload, and failed to remove it: the snapshot **is** in the queue, and is
  /// uploaded normally, but a power failure before that can lose it.
  case notFlushed(SnapshotID, SystemError)
  /// The disk failed.
  case disk(SystemError)

  /// A sentence that describes the problem and its remedy.
  public var description: String {
    switch self {
    case .inUse(let folder):
      "The upload queue at \(folder) is in use by another process or queue; close that one first."
    case .full(.items(let limit)):
      "\(limit) bundles wait to be uploaded, which is the limit; upload or remove one, then attach again."
    case .full(.bytes(let limit, let bundle)):
      """
      The bundle has \(bundle) bytes, and the upload queue is limited to \(limit) bytes in total; upload or remove \
      pending bundles, or record less, then attach again.
      """
    case .notFrozen(let error):
      "The bundle could not be made. \(error)"
    case .duplicate(let id):
      "The upload queue already contains the snapshot \(id); each attachment needs its own UUID."
    case .unknown(let id):
      "The upload queue has no bundle of the snapshot \(id)."
    case .closed:
      "The upload queue was closed."
    case .notFlushed(let id, let error):
      "The snapshot \(id) is in the upload queue, but a power failure could lose it: the disk failed. \(error)"
    case .disk(let error):
      "The upload queue's disk failed. \(error)"
    }
  }
}
