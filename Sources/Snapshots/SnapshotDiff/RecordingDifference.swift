public import JSONText
public import SnapshotFormat

/// A recording that both snapshots have, with other bytes.
public struct RecordingDifference: Sendable {
  /// As the first has it.
  public let first: Manifest.Recording
  /// As the second has it.
  public let second: Manifest.Recording
  /// What differs.
  public let detail: Detail

  /// Says what differs between two versions of a recording.
  public init(first: Manifest.Recording, second: Manifest.Recording, detail: Detail) {
    self.first = first
    self.second = second
    self.detail = detail
  }

  /// What differs between the contents of two recordings.
  public enum Detail: Sendable, Hashable {
    /// Both are JSON: the changes by their paths; none where only the spelling differs (spaces, the order of keys,
    /// escapes, `1.0` for `1`).
    case json([Change<JSONPath>], isComplete: Bool)
    /// Both are text, and not both are JSON: the changes by their lines, counted from 1.
    case text([Change<Int>], isComplete: Bool)
    /// At least one is no text: the offset of the first byte that differs.
    case bytes(firstDifference: Int)
    /// At least one is larger, or nested deeper, than is looked at, or enough was read and told of others.
    case beyondLimits
  }
}

extension RecordingDifference.Detail {
  /// Compares two contents that differ; tells up to `limit` changes.
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

  /// How many changes it tells of.
  var changeCount: Int {
    switch self {
    case .json(let changes, _): changes.count
    case .text(let changes, _): changes.count
    case .bytes, .beyondLimits: 0
    }
  }
}
