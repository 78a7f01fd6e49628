public import SnapshotFormat
public import SystemIO

/// Why a bundle was not attached, or a queue not opened.
public enum ReportingError: Error, Sendable, CustomStringConvertible {
  /// A limit of the queue that leaves no room.
  public enum Fullness: Sendable, Hashable {
    /// It holds as many bundles as ``UploadQueue/Limits/items`` allows.
    case items(limit: Int)
    /// With this bundle it would hold more bytes than ``UploadQueue/Limits/bytes`` allows.
    case bytes(limit: Int64, bundle: Int64)
  }

  /// Another process, or another queue of this one, uses the folder.
  case inUse(folder: String)
  /// The queue holds as much as it may; nothing that waits was given up for something newer.
  case full(Fullness)
  /// No bundle was made: the maker's own error.
  case notFrozen(any Error)
  /// The bundle has the UUID of one that the queue knows already.
  case duplicate(SnapshotID)
  /// The queue has nothing under that UUID, or no bundle of it any more.
  case unknown(SnapshotID)
  /// The queue was closed.
  case closed
  /// The disk failed at the very end, and failed to undo it too: the snapshot of that UUID **is** in the queue, and goes
  /// out like any other, unless a power cut comes before that.
  case notFlushed(SnapshotID, SystemError)
  /// The disk failed.
  case disk(SystemError)

  /// What is wrong, and what to do about it, in a sentence.
  public var description: String {
    switch self {
    case .inUse(let folder):
      "The upload queue at \(folder) is in use by another process or queue; close that one first."
    case .full(.items(let limit)):
      "\(limit) bundles wait to be uploaded, which is the limit; upload or remove one, then attach again."
    case .full(.bytes(let limit, let bundle)):
      """
      The bundle has \(bundle) bytes, and the upload queue may hold \(limit) in all; upload or remove what waits \
      there, or record less, then attach again.
      """
    case .notFrozen(let error):
      "The recording could not be made into a bundle. \(error)"
    case .duplicate(let id):
      "The upload queue holds the snapshot \(id) already; each attachment needs a UUID of its own."
    case .unknown(let id):
      "The upload queue has no bundle of the snapshot \(id)."
    case .closed:
      "The upload queue was closed."
    case .notFlushed(let id, let error):
      "The snapshot \(id) waits to be uploaded, but a power cut might lose it: the disk failed. \(error)"
    case .disk(let error):
      "The upload queue's disk failed. \(error)"
    }
  }
}
