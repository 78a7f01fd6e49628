public import JSONText
public import SnapshotFormat
import SnapshotViewer

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
    /// Both are JSON or property lists. The changes have JSON paths. There are none if only the spelling differs (white space, the order
    /// of keys, escapes, `1.0` instead of `1`).
    case json(Changes<JSONPath>)
    /// Both are JSON or property lists, and only values that the filter omits differ.
    case omitted
    /// Both are text, and at least one is not JSON. The changes have line numbers, starting at 1.
    case text(Changes<Int>)
    /// At least one is not text. Contains the offset of the first differing byte.
    case bytes(firstDifference: Int)
    /// The recordings were not compared, because one is too large or nested too deeply, or because a limit for all
    /// recordings was reached.
    case beyondLimits
  }
}

extension RecordingDifference.Detail {
  /// Compares two different contents and reports up to `limit` changes.
  package init(
    _ first: [UInt8], _ second: [UInt8], limits: ComparisonLimits, limit: Int,
    filter: ComparisonFilter = ComparisonFilter()
  ) {
    do {
      let (one, other) = (
        try JSONDocument(Self.json(first, limits), limits: limits, filter: filter),
        try JSONDocument(Self.json(second, limits), limits: limits, filter: filter)
      )
      let changes = JSONComparison(one, other, limits: limits, limit: limit).list.changes
      self = changes.count == 0 && (one.omitsAny || other.omitsAny) ? .omitted : .json(changes)
    } catch {
      if case .tooComplex = error {
        self = .beyondLimits
      } else if let comparison = TextComparison(first, second, limits: limits, limit: limit) {
        self = .text(comparison.list.changes)
      } else {
        self = .bytes(firstDifference: zip(first, second).prefix { $0 == $1 }.count)
      }
    }
  }

  /// The JSON document made from a property list. Returns other contents unchanged, and property lists that are
  /// malformed or too large to be converted.
  private static func json(_ bytes: [UInt8], _ limits: ComparisonLimits) -> [UInt8] {
    guard let form = PropertyList.form(of: bytes) else { return bytes }
    var most = PropertyList.Limits()
    (most.size, most.bytes) = (limits.recordingBytes, 2 * limits.recordingBytes)
    (most.values, most.depth) = (limits.values, limits.depth)
    do { return try PropertyList.json(of: bytes, form, limits: most) ?? bytes } catch { return bytes }
  }

  /// The number of reported changes.
  package var reportedCount: Int {
    switch self {
    case .json(let changes): changes.rows.count
    case .text(let changes): changes.rows.count
    case .omitted, .bytes, .beyondLimits: 0
    }
  }

  /// A sentence about the contents if there is no list of changes.
  public var remark: String? {
    switch self {
    case .json(let changes) where changes.count == 0: "The JSON values are equal, but written differently."
    case .json, .text: nil
    case .omitted: "Only values that the filter omits differ."
    case .bytes(let offset): "This is not text. The first difference is at byte \(offset)."
    case .beyondLimits: "This is too large or too complex to be compared."
    }
  }
}
