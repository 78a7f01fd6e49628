package import SnapshotFormat

/// The result of a backup, a restore or a migration.
package struct TransferReport: Sendable, Codable, Equatable {
  /// A snapshot that was not copied as it should have been.
  package struct Problem: Sendable, Codable, Equatable {
    package enum Kind: String, Sendable, Codable {
      /// Its bundle does not have the digest that its record states, or its record is damaged. It was not copied.
      case damaged
      /// Its bundle or its record does not exist. It was not copied.
      case missing
      /// It is damaged or missing in the storage, and the copy keeps it intact.
      case kept
    }

    package let id: SnapshotID
    package let kind: Kind

    /// Names a snapshot.
    package init(id: SnapshotID, kind: Kind) {
      self.id = id
      self.kind = kind
    }
  }

  /// A file that belongs to no snapshot and was not copied as it should have been.
  package struct FileProblem: Sendable, Codable, Equatable {
    /// Its path in the backup.
    package let path: String
    /// `damaged` if it does not have the digest in the backup's index: it was copied nevertheless. `missing` if there is
    /// no such file.
    package let kind: Problem.Kind

    /// Names a file.
    package init(path: String, kind: Problem.Kind) {
      self.path = path
      self.kind = kind
    }
  }

  /// The bundles that the copy contains now, and their bytes.
  package var bundles = 0
  package var bytes: Int64 = 0
  /// The bundles that this run copied, and their bytes.
  package var copiedBundles = 0
  package var copiedBytes: Int64 = 0
  /// The records of bundles copied before that were copied again, because they have changed.
  package var changedRecords = 0
  /// The deleted snapshots whose deletion is new in the copy.
  package var deletions = 0
  /// The other files that were copied: tokens, keys and logs.
  package var otherFiles = 0
  package var problems: [Problem] = []
  /// Tokens, keys, logs and indexes of a backup that are damaged or missing.
  package var fileProblems: [FileProblem] = []
  /// The share of the store that was done, from 0 to 1.
  package var share = 0.0

  /// Creates the report of a transfer that has copied nothing yet.
  package init() {}

  /// The number of snapshots that were not copied.
  package var lossCount: Int { problems.count { $0.kind != .kept } }

  /// Counts a bundle that the copy contains.
  package mutating func add(size: Int64) {
    bundles += 1
    bytes += size
  }

  /// Names a snapshot that was not copied as it should have been.
  package mutating func add(_ kind: Problem.Kind, _ id: SnapshotID) {
    problems.append(Problem(id: id, kind: kind))
  }
}
