public import SnapshotFormat

/// How an upload ended.
public enum Publication: Sendable, Hashable {
  /// It is new.
  case created(SnapshotRecord)
  /// The same bytes stood there already, for the same report.
  case alreadyThere(SnapshotRecord)

  /// The record, either way.
  public var record: SnapshotRecord {
    switch self {
    case .created(let record), .alreadyThere(let record): record
    }
  }
}
