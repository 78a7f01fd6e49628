public import SnapshotFormat

/// The differences that a comparison reports. All are counted, except those that the filter omits.
public struct ComparisonSelection: Sendable, Hashable {
  /// The position of a recording in the order of a comparison: by identifier, then by call.
  public struct Place: Sendable, Hashable, Comparable {
    /// The recording's identifier.
    public var identifier: String
    /// The number of the call, from 1; `0` if the recording has none.
    public var call: Int

    /// Creates a place.
    public init(identifier: String, call: Int = 0) {
      self.identifier = identifier
      self.call = call
    }

    /// The place of a recording.
    public init(_ recording: Manifest.Recording) {
      self.init(identifier: recording.identifier, call: recording.call ?? 0)
    }

    /// Whether `one` comes before `other`.
    public static func < (one: Place, other: Place) -> Bool {
      (one.identifier, one.call) < (other.identifier, other.call)
    }
  }

  /// The reported kinds of recordings.
  public var kinds = Set(ChangeKind.allCases)
  /// The identifier of the only recording that is compared, with all of its calls; `nil` to compare everything. Other
  /// recordings are not counted, nor are facts and files.
  public var identifier: String?
  /// Only recordings after this one are reported; all if `nil`.
  public var recordingsAfter: Place?
  /// Only files after the one with this name are reported; all if `nil`.
  public var filesAfter: String?
  /// The rules for JSON values that are not compared.
  public var filter: ComparisonFilter

  /// Creates a selection of all differences that `filter` does not omit.
  public init(filter: ComparisonFilter = ComparisonFilter()) { self.filter = filter }

  /// Whether `recording` is compared at all.
  func compares(_ recording: Manifest.Recording) -> Bool {
    identifier.map { $0 == recording.identifier } ?? true
  }

  /// Whether a difference of this kind at `recording` is reported.
  func includes(_ recording: Manifest.Recording, as kind: ChangeKind) -> Bool {
    kinds.contains(kind) && (recordingsAfter.map { $0 < Place(recording) } ?? true)
  }

  /// Whether a difference between files of this name is reported.
  func includes(file: String) -> Bool { filesAfter.map { $0 < file } ?? true }
}
