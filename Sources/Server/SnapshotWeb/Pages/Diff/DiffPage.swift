import SnapshotDiff
import SnapshotFormat

/// The page `/snapshots/{id}/diff`: the differences between two snapshots, or a form to choose the second one.
struct DiffPage: Sendable {
  /// The compared contents.
  enum Content: Sendable {
    /// All recordings and files, page by page.
    case list(DiffSummary)
    /// All changes of one recording or file, page by page.
    case item(DiffItem)
  }

  /// A mistake in a field of the form.
  struct Mistake: Sendable {
    /// The field.
    var field: PageField
    /// A sentence about it.
    var text: String

    /// Creates a mistake.
    init(_ field: PageField, _ text: String) {
      self.field = field
      self.text = text
    }
  }

  /// The snapshot in the path.
  var first: SnapshotRecord
  /// The snapshot to compare with; `nil` if it is not chosen yet.
  var second: SnapshotRecord?
  /// The text that the user entered for the second snapshot.
  var entered: String = ""
  /// Why the snapshots can't be compared.
  var mistake: Mistake?
  /// Snapshots for the comparison: others of the same report, then of the application, newest first.
  var candidates: [SnapshotRecord] = []
  /// The one of them that is proposed.
  var proposed: SnapshotID?
  /// The part that is shown.
  var selection = DiffSelection()
  /// The rules that apply.
  var filter = ComparisonFilter()
  /// The scheme and authority of permanent links, such as `https://example.com`.
  var origin = ""
  /// The differences; `nil` if ``second`` is `nil`.
  var content: Content?
}

/// One recording or file in two snapshots.
struct DiffItem: Sendable {
  /// A version of the item.
  struct Version: Sendable {
    /// The path in the bundle.
    var path: String
    /// The size in bytes.
    var size: Int64
  }

  /// The version in the first snapshot; `nil` if that does not have it.
  var first: Version?
  /// The version in the second snapshot; `nil` if that does not have it.
  var second: Version?
  /// The difference; `nil` if the contents are identical or one is missing.
  var detail: RecordingDifference.Detail?
  /// The changed lines of a text, with the lines around them.
  var lines: [TextComparison.Row] = []
  /// The headers of two images; `nil` for other contents.
  var images: Images?

  /// Two images that are compared.
  struct Images: Sendable {
    var first: ImageHeader
    var second: ImageHeader
  }
}

/// The part of the differences between two snapshots that one page shows.
struct DiffSummary: Sendable {
  /// A recording that differs.
  struct Entry: Sendable {
    /// The kind of a difference.
    enum Kind: Sendable {
      /// Only the second has it.
      case added(Manifest.Recording)
      /// Only the first has it.
      case removed(Manifest.Recording)
      /// Both have it, with other bytes.
      case changed(RecordingDifference)
    }

    /// The first module that declares the recording's identifier, in either snapshot.
    var module: String?
    /// The kind of the difference.
    var kind: Kind

    /// Creates an entry from its parts.
    init(module: String?, _ kind: Kind) {
      self.module = module
      self.kind = kind
    }
  }

  /// The numbers of recordings and files of each kind, including those that are not shown.
  struct Counts: Sendable, Hashable {
    /// Recordings that only the second has.
    var added: Int = 0
    /// Recordings that only the first has.
    var removed: Int = 0
    /// Recordings that both have, with other bytes.
    var changed: Int = 0
    /// Recordings of the shown page that differ only in values that the filter omits.
    var omitted: Int = 0
    /// Recordings that are equal in both.
    var alike: Int = 0
    /// Attachments and files of the app's container that differ.
    var files: Int = 0
  }

  /// The differing facts about the snapshots. Empty on later pages.
  var facts: [Change<SnapshotComparison.Fact>]
  /// The number of differences.
  var counts: Counts
  /// The differing recordings of the page, grouped by module, at most ``PageLimits/rows``.
  var recordings: [Entry]
  /// The last of these in the order of the comparison, if there are more.
  var next: ComparisonSelection.Place?
  /// The other differing files of the page, at most ``PageLimits/rows``. The values are their sizes in bytes.
  var files: [Change<String>]
  /// The last of these, if there are more.
  var nextFile: String?

  /// Whether the snapshots are equal.
  var isEmpty: Bool {
    facts.isEmpty && counts.added + counts.removed + counts.changed + counts.files == 0
  }
}
