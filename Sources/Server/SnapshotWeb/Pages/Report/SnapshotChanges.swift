import SnapshotFormat

/// The differences between two snapshots of a report that their records show, and those of their recordings if the
/// bundles were read.
struct SnapshotChanges: Sendable {
  /// The snapshot that was received first.
  var older: SnapshotRecord
  /// The snapshot that was received later.
  var newer: SnapshotRecord
  /// The changes of the recordings; `nil` if they were not compared.
  var recorded: RecordedChanges?

  /// The maximum number of changed values that are listed.
  static let mostValues = 5

  /// Compares two records.
  init(from older: SnapshotRecord, to newer: SnapshotRecord, recorded: RecordedChanges? = nil) {
    self.older = older
    self.newer = newer
    self.recorded = recorded
  }
}

/// The snapshots of a report that were received directly before and after one of them.
struct Neighbours: Sendable {
  /// The snapshot before; `nil` if there is none.
  var older: SnapshotRecord?
  /// The snapshot after; `nil` if there is none, or if there are too many later ones to find it.
  var newer: SnapshotRecord?
}

extension SnapshotRecord {
  /// The number of modules of which every identifier was recorded. `nil` if the record does not contain all
  /// identifiers of the recordings: lists omit them, and the record of a large snapshot has only some.
  var completeModules: Int? {
    let limits = IdentifierLimits()
    guard let identifiers, identifiers.count < limits.count,
      // A long identifier may have been skipped because it exceeded the rest of the limit.
      identifiers.reduce(0, { $0 + $1.utf8.count }) < limits.bytes / 2
    else { return nil }
    let recorded = Set(identifiers)
    return modules.count { module in module.files.allSatisfy(recorded.contains) }
  }
}
