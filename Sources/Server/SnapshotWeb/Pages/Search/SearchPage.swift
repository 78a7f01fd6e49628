import SnapshotFormat
import SnapshotViewer

/// The pages `/snapshots/{id}/search`, `/reports/{report}/search` and `/search`: what was found in the contents of a
/// snapshot, or of the newest snapshots of a report or of all reports.
struct SearchPage: Sendable {
  /// Which snapshots are searched.
  enum Scope: Sendable, Hashable {
    case snapshot(SnapshotID)
    /// The newest ``snapshots`` of a report.
    case report(ReportID)
    /// The newest ``snapshots`` of all.
    case newest
  }

  /// The maximum number of snapshots that are searched.
  static let snapshots = 20

  /// Which snapshots are searched.
  var scope: Scope
  /// The query, as the user entered it; empty if nothing is searched.
  var find: String
  /// A sentence about why the query or the position is not valid.
  var mistake: String?
  /// The snapshots that were searched, newest first. Without a query, the snapshot that will be.
  var snapshots: [SearchedSnapshot] = []
  /// Whether earlier snapshots or files were searched before.
  var isContinued = false
  /// Where the search goes on; `nil` if it is complete.
  var next: SearchPosition?
  /// A sentence about why the list of snapshots is not available at the moment.
  var outage: String?
}

/// A place at which a search goes on: a file of a snapshot.
struct SearchPosition: Sendable, Hashable, LosslessStringConvertible {
  /// The snapshot.
  var snapshot: SnapshotID
  /// The number of files of the snapshot before the next one.
  var file: Int

  /// Creates a position.
  init(_ snapshot: SnapshotID, file: Int) { (self.snapshot, self.file) = (snapshot, file) }

  /// Parses ``description``.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let id = SnapshotID(String(parts[0])), let file = Int(parts[1]),
      file >= 0, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    self.init(id, file: file)
  }

  var description: String { "\(snapshot)/\(file)" }
}

/// What was found in the files of one snapshot.
struct SearchedSnapshot: Sendable {
  /// A file in which something was found, or whose search did not end.
  struct File: Sendable {
    /// The path in the bundle.
    var path: String
    /// The number of bytes.
    var size: Int64
    /// The manifest's entry, if it is a recording.
    var recording: Manifest.Recording?
    /// What was found.
    var findings: ContentFindings
    /// The share of the file that was searched, from 0 to 1.
    var share = 1.0
  }

  /// The snapshot.
  var record: SnapshotRecord
  /// The files in which something was found: first those in which one value is rarer than the others.
  var files: [File] = []
  /// The number of files that were searched, and of their bytes.
  var searchedFiles = 0
  var searchedBytes: Int64 = 0
  /// The number of files that are neither text nor JSON nor property lists.
  var binaryFiles = 0
  /// The first files that are too large to be searched, and the first damaged ones; and the numbers of all.
  var largeFiles: [String] = []
  var largeCount = 0
  var damagedFiles: [String] = []
  var damagedCount = 0
  /// The number of all files.
  var fileCount = 0
  /// Whether the bundle can't be read.
  var isDamaged = false
  /// Whether the bundle is sealed, so that nothing in it was searched.
  var isSealed = false
}
