package import SnapshotDiff
package import SnapshotFormat

/// The page `/snapshots/{id}/diff`: the differences between two snapshots, or a form to choose the second one.
package struct DiffPage: Sendable {
  /// The snapshot in the path.
  package var first: SnapshotRecord
  /// The snapshot to compare with; `nil` if it is not chosen yet.
  package var second: SnapshotRecord?
  /// The text that the user entered for the second snapshot.
  package var entered: String
  /// A sentence about why the entered snapshot can't be compared.
  package var mistake: String?
  /// Proposed snapshots for the comparison: others of the same report or application, newest first.
  package var candidates: [SnapshotRecord]
  /// The differences; `nil` if ``second`` is `nil`.
  package var differences: DiffSummary?

  /// Creates a page.
  package init(
    first: SnapshotRecord, second: SnapshotRecord? = nil, entered: String = "", mistake: String? = nil,
    candidates: [SnapshotRecord] = [], differences: DiffSummary? = nil
  ) {
    self.first = first
    self.second = second
    self.entered = entered
    self.mistake = mistake
    self.candidates = candidates
    self.differences = differences
  }
}

/// The part of the differences between two snapshots that one page shows.
package struct DiffSummary: Sendable {
  /// A recording that differs.
  package struct Entry: Sendable {
    /// The kind of a difference.
    package enum Kind: Sendable {
      /// Only the second has it.
      case added(Manifest.Recording)
      /// Only the first has it.
      case removed(Manifest.Recording)
      /// Both have it, with other bytes.
      case changed(RecordingDifference)
    }

    /// The first module that declares the recording's identifier, in either snapshot.
    package var module: String?
    /// The kind of the difference.
    package var kind: Kind

    /// Creates an entry from its parts.
    package init(module: String?, _ kind: Kind) {
      self.module = module
      self.kind = kind
    }
  }

  /// The numbers of recordings and files of each kind, including those that are not shown.
  package struct Counts: Sendable, Hashable {
    /// Recordings that only the second has.
    package var added: Int
    /// Recordings that only the first has.
    package var removed: Int
    /// Recordings that both have, with other bytes.
    package var changed: Int
    /// Recordings that are equal in both.
    package var alike: Int
    /// Attachments and files of the app's container that differ.
    package var files: Int

    /// Creates counts.
    package init(added: Int = 0, removed: Int = 0, changed: Int = 0, alike: Int = 0, files: Int = 0) {
      self.added = added
      self.removed = removed
      self.changed = changed
      self.alike = alike
      self.files = files
    }
  }

  /// The differing facts about the snapshots.
  package var facts: [Change<SnapshotComparison.Fact>]
  /// The number of differences.
  package var counts: Counts
  /// The first differing recordings, grouped by module, at most ``PageLimits/rows``.
  package var recordings: [Entry]
  /// The first other differing files, at most ``PageLimits/rows``. The values are their sizes in bytes.
  package var files: [Change<String>]
  /// A sentence about why not everything was compared; `nil` if everything was.
  package var cut: String?

  /// Creates a summary from its parts.
  package init(
    facts: [Change<SnapshotComparison.Fact>], counts: Counts, recordings: [Entry], files: [Change<String>],
    cut: String? = nil
  ) {
    self.facts = facts
    self.counts = counts
    self.recordings = recordings
    self.files = files
    self.cut = cut
  }

  /// Whether the snapshots are equal.
  package var isEmpty: Bool {
    facts.isEmpty && counts.added + counts.removed + counts.changed + counts.files == 0
  }
}
