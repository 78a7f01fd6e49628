import SnapshotAPI
package import SnapshotFormat

/// The page `/snapshots/{id}`: a snapshot.
package struct SnapshotPage: Sendable {
  /// An action on a snapshot, executed by a form. The raw value is the last segment of its path.
  package enum Action: String, Sendable, Hashable, CaseIterable {
    /// Deletes the snapshot permanently.
    case delete
    /// Pins the snapshot, so that no rule deletes it.
    case pin
    /// Removes the pin.
    case unpin
    /// Creates a link to the bundle that needs no token.
    case link
    /// Adds a comment.
    case comment
  }

  /// The selected parts of the lists.
  package struct Selection: Sendable, Hashable {
    /// The module to whose recordings the list is limited.
    package var module: String?
    /// The number of recordings before the first one shown.
    package var recordings: Int
    /// The number of files before the first one shown.
    package var files: Int

    /// Creates a selection.
    package init(module: String? = nil, recordings: Int = 0, files: Int = 0) {
      self.module = module
      self.recordings = recordings
      self.files = files
    }
  }

  /// The snapshot's record.
  package var record: SnapshotRecord
  /// The bundle's contents, or a sentence about why they can't be read.
  package var contents: Result<BundleContents, Unreadable>
  /// The selected parts of the lists.
  package var selection: Selection
  /// The server's origin for `curl` and `snapshot fetch`, such as `https://snapshots.example.com`.
  package var origin: String
  /// The actions that the visitor is allowed to execute.
  package var actions: Set<Action>
  /// The snapshots of the same report before and after this one.
  package var neighbours: Neighbours
  /// The list that the visitor came from, to which deleting the snapshot returns; `nil` for the report.
  package var cameFrom: ListPath?
  /// Whether the visitor may see who accessed the snapshot.
  package var showsHistory: Bool

  /// Creates a page.
  package init(
    record: SnapshotRecord, contents: Result<BundleContents, Unreadable>,
    selection: Selection = Selection(), origin: String, actions: Set<Action> = [],
    neighbours: Neighbours = Neighbours(), cameFrom: ListPath? = nil, showsHistory: Bool = false
  ) {
    self.record = record
    self.contents = contents
    self.selection = selection
    self.origin = origin
    self.actions = actions
    self.neighbours = neighbours
    self.cameFrom = cameFrom
    self.showsHistory = showsHistory
  }
}

/// The reason why a stored file can't be shown.
package struct Unreadable: Error, Sendable, Hashable, CustomStringConvertible {
  /// A sentence for people.
  package let description: String

  /// Creates a reason.
  package init(_ description: String) { self.description = description }
}
