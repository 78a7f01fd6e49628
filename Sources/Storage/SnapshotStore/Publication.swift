public import SnapshotFormat

/// The result of a successful upload.
public enum Publication: Sendable, Hashable {
  /// A new bundle was published.
  case created(SnapshotRecord)
  /// The same bytes were already published for the same report.
  case alreadyThere(SnapshotRecord)

  /// The record of the bundle in both cases.
  public var record: SnapshotRecord {
    switch self {
    case .created(let record), .alreadyThere(let record): record
    }
  }
}
