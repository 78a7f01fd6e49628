import JSONText
import SnapshotDiff
import SnapshotFormat

/// The comparison of a file with the same recording, or the file of the same name, of another snapshot.
struct FileComparison: Sendable {
  /// The outcome of a comparison.
  enum Outcome: Sendable {
    /// The other snapshot does not have the file.
    case missing
    /// The contents are identical.
    case identical
    /// The contents differ, and the values on the page are marked.
    case marked(ValueMarks)
    /// The contents differ, and the page does not show values of JSON documents.
    case different
    /// The files can't be compared, for the reason in this sentence.
    case failed(String)
  }

  /// The other snapshot; `nil` if it can't be read.
  var other: SnapshotRecord?
  /// The path of the file in the other snapshot; `nil` if that does not have it.
  var path: String?
  /// The outcome.
  var outcome: Outcome
  /// The first changes of the whole document, from the other snapshot to this one; `nil` if it is not a JSON document, or
  /// too large to be compared for each page.
  var changes: Changes<JSONPath>?

  /// The marks of the values on the page.
  var marks: ValueMarks? { if case .marked(let marks) = outcome { marks } else { nil } }
}
