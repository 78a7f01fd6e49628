package import SnapshotDiff
package import SnapshotFormat

/// The page `/snapshots/{id}/diff`: the differences between two snapshots, or a form to choose the second one.
package struct DiffPage: Sendable {
  /// The compared contents.
  package enum Content: Sendable {
    /// All recordings and files, page by page.
    case list(DiffSummary)
    /// All changes of one recording or file, page by page.
    case item(DiffItem)
  }

  /// A mistake in a field of the form.
  package struct Mistake: Sendable {
    /// The field.
    package var field: PageField
    /// A sentence about it.
    package var text: String

    /// Creates a mistake.
    package init(_ field: PageField, _ text: String) {
      self.field = field
      self.text = text
    }
  }

  /// The snapshot in the path.
  package var first: SnapshotRecord
  /// The snapshot to compare with; `nil` if it is not chosen yet.
  package var second: SnapshotRecord?
  /// The text that the user entered for the second snapshot.
  package var entered: String
  /// Why the snapshots can't be compared.
  package var mistake: Mistake?
  /// Proposed snapshots for the comparison: others of the same report or application, newest first.
  package var candidates: [SnapshotRecord]
  /// The part that is shown.
  package var selection = DiffSelection()
  /// The rules that apply.
  package var filter = ComparisonFilter()
  /// The scheme and authority of permanent links, such as `https://example.com`.
  package var origin = ""
  /// The differences; `nil` if ``second`` is `nil`.
  package var content: Content?

  /// Creates a page.
  package init(
    first: SnapshotRecord, second: SnapshotRecord? = nil, entered: String = "", mistake: Mistake? = nil,
    candidates: [SnapshotRecord] = [], content: Content? = nil
  ) {
    self.first = first
    self.second = second
    self.entered = entered
    self.mistake = mistake
    self.candidates = candidates
    self.content = content
  }
}

/// One recording or file in two snapshots.
package struct DiffItem: Sendable {
  /// A version of the item.
  package struct Version: Sendable {
    /// The path in the bundle.
    package var path: String
    /// The size in bytes.
    package var size: Int64

    /// Creates a version.
    package init(path: String, size: Int64) {
      self.path = path
      self.size = size
    }
  }

  /// The version in the first snapshot; `nil` if that does not have it.
  package var first: Version?
  /// The version in the second snapshot; `nil` if that does not have it.
  package var second: Version?
  /// The difference; `nil` if the contents are identical or one is missing.
  package var detail: RecordingDifference.Detail?

  /// Creates an item.
  package init(first: Version?, second: Version?, detail: RecordingDifference.Detail?) {
    self.first = first
    self.second = second
    self.detail = detail
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
    /// Recordings of the shown page that differ only in values that the filter omits.
    package var omitted: Int
    /// Recordings that are equal in both.
    package var alike: Int
    /// Attachments and files of the app's container that differ.
    package var files: Int

    /// Creates counts.
    package init(
      added: Int = 0, removed: Int = 0, changed: Int = 0, omitted: Int = 0, alike: Int = 0, files: Int = 0
    ) {
      self.added = added
      self.removed = removed
      self.changed = changed
      self.omitted = omitted
      self.alike = alike
      self.files = files
    }
  }

  /// The differing facts about the snapshots. Empty on later pages.
  package var facts: [Change<SnapshotComparison.Fact>]
  /// The number of differences.
  package var counts: Counts
  /// The differing recordings of the page, grouped by module, at most ``PageLimits/rows``.
  package var recordings: [Entry]
  /// The last of these in the order of the comparison, if there are more.
  package var next: ComparisonSelection.Place?
  /// The other differing files of the page, at most ``PageLimits/rows``. The values are their sizes in bytes.
  package var files: [Change<String>]
  /// The last of these, if there are more.
  package var nextFile: String?

  /// Creates a summary from its parts.
  package init(
    facts: [Change<SnapshotComparison.Fact>], counts: Counts, recordings: [Entry],
    next: ComparisonSelection.Place? = nil, files: [Change<String>], nextFile: String? = nil
  ) {
    self.facts = facts
    self.counts = counts
    self.recordings = recordings
    self.next = next
    self.files = files
    self.nextFile = nextFile
  }

  /// Whether the snapshots are equal.
  package var isEmpty: Bool {
    facts.isEmpty && counts.added + counts.removed + counts.changed + counts.files == 0
  }
}
