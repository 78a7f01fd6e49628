import SnapshotAPI
import SnapshotFormat

/// The page `/snapshots/{id}`: a snapshot.
struct SnapshotPage: Sendable {
  /// An action on a snapshot, executed by a form. The raw value is the last segment of its path.
  enum Action: String, Sendable, Hashable, CaseIterable {
    /// Deletes the snapshot permanently.
    case delete
    /// Pins the snapshot, so that no rule deletes it.
    case pin
    /// Removes the pin.
    case unpin
    /// Marks the snapshot as good, so that others are compared with it.
    case markGood = "mark-good"
    /// Removes that mark.
    case unmarkGood = "unmark-good"
    /// Creates a link to the bundle that needs no token.
    case link
    /// Adds a comment.
    case comment
  }

  /// The selected parts of the lists.
  struct Selection: Sendable, Hashable {
    /// The module to whose recordings the list is limited.
    var module: String?
    /// The number of recordings before the first one shown.
    var recordings: Int = 0
    /// The number of files before the first one shown.
    var files: Int = 0
  }

  /// The snapshot's record.
  var record: SnapshotRecord
  /// The bundle's contents, or a sentence about why they can't be read.
  var contents: Result<BundleContents, Unreadable>
  /// The selected parts of the lists.
  var selection: Selection = Selection()
  /// The server's origin for `curl` and `snapshot fetch`, such as `https://snapshots.example.com`.
  var origin: String
  /// The actions that the visitor is allowed to execute.
  var actions: Set<Action> = []
  /// The snapshots of the same report before and after this one.
  var neighbours: Neighbours = Neighbours()
  /// The list that the visitor came from, to which deleting the snapshot returns; `nil` for the report.
  var cameFrom: ListPath?
  /// Whether the visitor may see who accessed the snapshot.
  var showsHistory: Bool = false
}

/// The reason why a stored file can't be shown.
struct Unreadable: Error, Sendable, Hashable, CustomStringConvertible {
  /// A sentence for people.
  let description: String

  /// Creates a reason.
  init(_ description: String) { self.description = description }
}
