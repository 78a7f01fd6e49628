public import JSONText
public import SnapshotFormat

/// A recording that both snapshots contain, with different contents.
public struct RecordingDifference: Sendable {
  /// The recording in the first snapshot.
  public let first: Manifest.Recording
  /// The recording in the second snapshot.
  public let second: Manifest.Recording
  /// The difference between their contents.
  public let detail: Detail

  /// Creates a difference between two versions of a recording.
  public init(first: Manifest.Recording, second: Manifest.Recording, detail: Detail) {
    self.first = first
    self.second = second
    self.detail = detail
  }

  /// The difference between the contents of two recordings.
  public enum Detail: Sendable, Hashable {
    /// Both are JSON. The changes have JSON paths. There are none if only the spelling differs (white space, the order
    /// of keys, escapes, `1.0` instead of `1`).
    case json([Change<JSONPath>], isComplete: Bool)
    /// Both are text, and at least one is not JSON. The changes have line numbers, starting at 1.
    case text([Change<Int>], isComplete: Bool)
    /// At least one is not text. Contains the offset of the first differing byte.
    case bytes(firstDifference: Int)
    /// The recordings were not compared, because one is too large or nested too deeply, or because a limit for all
    /// recordings was reached.
    case beyondLimits
  }
}

extension RecordingDifference.Detail {
  /// Compares two different contents and reports up to `limit` changes.
  init(_ first: [UInt8], _ second: [UInt8], limits: ComparisonLimits, limit: Int) {
    do throws(JSONDocument.Failure) {
      let comparison = JSONComparison(
        try JSONDocument(first, limits: limits), try JSONDocument(second, limits: limits), limits: limits,
        limit: limit)
      self = .json(comparison.list.changes, isComplete: comparison.list.isComplete)
    } catch {
      if case .tooComplex = error {
        self = .beyondLimits
      } else if let comparison = TextComparison(first, second, limits: limits, limit: limit) {
        self = .text(comparison.list.changes, isComplete: comparison.list.isComplete)
      } else {
        self = .bytes(firstDifference: zip(first, second).prefix { $0 == $1 }.count)
      }
    }
  }

  /// The number of reported changes.
  var changeCount: Int {
    switch self {
    case .json(let changes, _): changes.count
    case .text(let changes, _): changes.count
    case .bytes, .beyondLimits: 0
    }
  }
}
