package import SnapshotDiff
package import SnapshotFormat

/// `/snapshots/{id}/diff`: what differs between two snapshots, or the choice of the other one.
package struct DiffPage: Sendable {
  /// The snapshot in the path.
  package var first: SnapshotRecord
  /// What it is compared with; `nil` where that is to be chosen.
  package var second: SnapshotRecord?
  /// What was entered as the other one, as it was entered.
  package var entered: String
  /// Why there is no comparison with what was entered, in a sentence.
  package var mistake: String?
  /// What it may be compared with: other snapshots of its report or its application, newest first.
  package var candidates: [SnapshotRecord]
  /// What differs; `nil` where ``second`` is.
  package var differences: DiffSummary?

  /// A page.
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

/// What differs between two snapshots, as far as one page shows it.
package struct DiffSummary: Sendable {
  /// A recording that differs.
  package struct Entry: Sendable {
    /// How.
    package enum Kind: Sendable {
      /// Only the second has it.
      case added(Manifest.Recording)
      /// Only the first has it.
      case removed(Manifest.Recording)
      /// Both have it, with other bytes.
      case changed(RecordingDifference)
    }

    /// The first module that wants it, in either snapshot.
    package var module: String?
    /// How it differs.
    package var kind: Kind

    /// Describes a difference.
    package init(module: String?, _ kind: Kind) {
      self.module = module
      self.kind = kind
    }
  }

  /// How many recordings and files there are of each kind, whether they are shown or not.
  package struct Counts: Sendable, Hashable {
    /// Recordings that only the second has.
    package var added: Int
    /// Recordings that only the first has.
    package var removed: Int
    /// Recordings that both have, with other bytes.
    package var changed: Int
    /// Recordings that are the same.
    package var alike: Int
    /// Attachments and files of the app's container that differ.
    package var files: Int

    /// Counts.
    package init(added: Int = 0, removed: Int = 0, changed: Int = 0, alike: Int = 0, files: Int = 0) {
      self.added = added
      self.removed = removed
      self.changed = changed
      self.alike = alike
      self.files = files
    }
  }

  /// What the snapshots say of themselves that is not the same.
  package var facts: [Change<SnapshotComparison.Fact>]
  /// How many there are.
  package var counts: Counts
  /// The first ``PageLimits/rows`` recordings that differ, module by module.
  package var recordings: [Entry]
  /// The first ``PageLimits/rows`` other files that differ: what is told of them is their lengths in bytes.
  package var files: [Change<String>]
  /// Why not everything was compared, in a sentence; `nil` where everything was.
  package var cut: String?

  /// Describes a comparison.
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

  /// Whether nothing differs.
  package var isEmpty: Bool {
    facts.isEmpty && counts.added + counts.removed + counts.changed + counts.files == 0
  }
}
