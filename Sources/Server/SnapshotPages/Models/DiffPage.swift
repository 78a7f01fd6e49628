public import SnapshotDiff
public import SnapshotFormat

/// `/snapshots/{id}/diff`: what differs between two snapshots, or the choice of the other one.
public struct DiffPage: Sendable {
  /// The snapshot in the path.
  public var first: SnapshotRecord
  /// What it is compared with; `nil` where that is to be chosen.
  public var second: SnapshotRecord?
  /// What was entered as the other one, as it was entered.
  public var entered: String
  /// Why there is no comparison with what was entered, in a sentence.
  public var mistake: String?
  /// What it may be compared with: other snapshots of its report or its application, newest first.
  public var candidates: [SnapshotRecord]
  /// What differs; `nil` where ``second`` is.
  public var differences: DiffSummary?

  /// A page.
  public init(
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
public struct DiffSummary: Sendable {
  /// A recording that differs.
  public struct Entry: Sendable {
    /// How.
    public enum Kind: Sendable {
      /// Only the second has it.
      case added(Manifest.Recording)
      /// Only the first has it.
      case removed(Manifest.Recording)
      /// Both have it, with other bytes.
      case changed(RecordingDifference)
    }

    /// The first module that wants it, in either snapshot.
    public var module: String?
    /// How it differs.
    public var kind: Kind

    /// Describes a difference.
    public init(module: String?, _ kind: Kind) {
      self.module = module
      self.kind = kind
    }
  }

  /// How many recordings and files there are of each kind, whether they are shown or not.
  public struct Counts: Sendable, Hashable {
    /// Recordings that only the second has.
    public var added: Int
    /// Recordings that only the first has.
    public var removed: Int
    /// Recordings that both have, with other bytes.
    public var changed: Int
    /// Recordings that are the same.
    public var alike: Int
    /// Attachments and files of the app's container that differ.
    public var files: Int

    /// Counts.
    public init(added: Int = 0, removed: Int = 0, changed: Int = 0, alike: Int = 0, files: Int = 0) {
      self.added = added
      self.removed = removed
      self.changed = changed
      self.alike = alike
      self.files = files
    }
  }

  /// What the snapshots say of themselves that is not the same.
  public var facts: [Change<SnapshotComparison.Fact>]
  /// How many there are.
  public var counts: Counts
  /// The first ``PageLimits/rows`` recordings that differ, module by module.
  public var recordings: [Entry]
  /// The first ``PageLimits/rows`` other files that differ: what is told of them is their lengths in bytes.
  public var files: [Change<String>]
  /// Why not everything was compared, in a sentence; `nil` where everything was.
  public var cut: String?

  /// Describes a comparison.
  public init(
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
  public var isEmpty: Bool {
    facts.isEmpty && counts.added + counts.removed + counts.changed + counts.files == 0
  }
}
