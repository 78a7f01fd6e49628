import SnapshotAPI
import SnapshotFormat

/// The pages of a snapshot: at the left the list of what is in it, at the right what is selected.
///
/// | page | selected |
/// | --- | --- |
/// | `/snapshots/{id}` | the first recording, on a wide screen |
/// | `/snapshots/{id}?show=details` | what the record says, commands and actions |
/// | `/snapshots/{id}?show=comments` | the comments |
/// | `/snapshots/{id}/files/{path}` | a file |
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

  /// What is shown beside the list, unless it is a file. The raw value is that of ``PageField/show``.
  enum Panel: String, Sendable, Hashable, CaseIterable {
    case details, comments
  }

  /// What the page shows beside the list.
  enum Selected: Sendable {
    /// Nothing: there are no files.
    case nothing
    /// The first file, on a wide screen. A narrow one shows the list alone.
    case first(PreviewPage)
    case file(PreviewPage)
    case panel(Panel)

    /// The file that is shown.
    var file: PreviewPage? {
      switch self {
      case .first(let page), .file(let page): page
      case .nothing, .panel: nil
      }
    }
  }

  /// The snapshot's record.
  var record: SnapshotRecord
  /// The list, or a sentence about why the bundle can't be read.
  var contents: Result<ContentsList, Unreadable>
  /// What is shown beside the list.
  var selected = Selected.nothing
  /// The server's origin for `curl` and `snapshot fetch`, such as `https://snapshots.example.com`.
  var origin: String
  /// The actions that the visitor is allowed to execute.
  var actions: Set<Action> = []
  /// The snapshot with which this one is compared, or that is proposed for it; `nil` if there is none.
  var other: SnapshotRecord?
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
