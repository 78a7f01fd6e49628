public import SnapshotFormat
public import SystemIO

/// Why a store does not do what it was asked.
public enum StoreError: Error, Sendable {
  /// No bundle has that UUID, or the upload has ended.
  case notFound
  /// The bundle of that UUID was deleted.
  case deleted
  /// The UUID is taken by other bytes, or for another report.
  case conflict
  /// The UUID is taken, and the upload wanted to create it.
  case alreadyExists
  /// What arrived has another digest than the sender stated.
  case digestMismatch(expected: ContentDigest, actual: ContentDigest)
  /// What arrived is not a snapshot bundle.
  case invalid(BundleError)
  /// The bundle was made by another application than may be.
  case foreignApplication
  /// There is no room.
  case outOfSpace
  /// The bundles would have more bytes together than the store may hold.
  case quotaExceeded(limit: Int64)
  /// What is kept of the bundle, or of its record, is not what was written.
  case damaged
  /// The disk or the system failed; for the log.
  case system(SystemError)

  /// The system's failure, as far as a store tells failures apart.
  public init(_ failure: SystemError) {
    self = failure.isOutOfSpace ? .outOfSpace : .system(failure)
  }
}

extension StoreError: CustomStringConvertible {
  /// One sentence; that of ``system(_:)`` names paths of the server and is for its log alone.
  public var description: String {
    switch self {
    case .notFound: "There is no snapshot with this id."
    case .deleted: "The snapshot with this id was deleted."
    case .conflict: "Another snapshot has this id already, or the same one is attached to another report."
    case .alreadyExists: "A snapshot with this id exists already."
    case .digestMismatch(let expected, let actual):
      "The bundle was damaged on its way: its SHA-256 is \(actual), and the sender stated \(expected)."
    case .invalid(let reason): reason.description
    case .foreignApplication: "The bundle was made by another application than this may attach."
    case .outOfSpace: "The server has no room for the bundle."
    case .quotaExceeded(let limit):
      "The server keeps at most \(limit) bytes of bundles, and this one does not fit any more."
    case .damaged: "The server's copy of this snapshot is damaged, and is not given out."
    case .system(let failure): failure.description
    }
  }
}
