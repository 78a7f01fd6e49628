import SnapshotAPI
package import SnapshotFormat

/// `/snapshots/{id}`: a snapshot.
package struct SnapshotPage: Sendable {
  /// What somebody may do to a snapshot by a form; the raw value is the end of its path.
  package enum Action: String, Sendable, Hashable, CaseIterable {
    /// Deletes it for good.
    case delete
    /// Keeps it, whatever the rules say.
    case pin
    /// Takes the pin away.
    case unpin
    /// Makes an address of the bundle for anybody.
    case link
  }

  /// Which parts of the lists are shown.
  package struct Selection: Sendable, Hashable {
    /// Only the recordings that this module wants.
    package var module: String?
    /// How many recordings come before the first that is shown.
    package var recordings: Int
    /// How many files come before the first that is shown.
    package var files: Int

    /// A selection.
    package init(module: String? = nil, recordings: Int = 0, files: Int = 0) {
      self.module = module
      self.recordings = recordings
      self.files = files
    }
  }

  /// What the server knows.
  package var record: SnapshotRecord
  /// What the bundle holds, or why that can't be told, in a sentence.
  package var contents: Result<BundleContents, Unreadable>
  /// Which parts of the lists are shown.
  package var selection: Selection
  /// The server as its readers reach it, for `curl` and `snapshot fetch`: `https://snapshots.example.com`.
  package var origin: String
  /// What whoever looks may do.
  package var actions: Set<Action>

  /// A page.
  package init(
    record: SnapshotRecord, contents: Result<BundleContents, Unreadable>,
    selection: Selection = Selection(), origin: String, actions: Set<Action> = []
  ) {
    self.record = record
    self.contents = contents
    self.selection = selection
    self.origin = origin
    self.actions = actions
  }
}

/// Why something that is kept can't be shown.
package struct Unreadable: Error, Sendable, Hashable, CustomStringConvertible {
  /// A sentence for people.
  package let description: String

  /// Says why.
  package init(_ description: String) { self.description = description }
}
