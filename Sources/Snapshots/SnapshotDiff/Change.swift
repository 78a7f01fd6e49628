/// A difference between two values.
public struct Change<Place: Sendable & Hashable>: Hashable, Sendable {
  /// The place of the difference: in the first value if only that has it, otherwise in the second.
  public let place: Place
  /// The text in the first value; `nil` if it has none at this place. Long text is truncated and ends in `…`.
  public let first: String?
  /// The text in the second value, in the same form. At least one of the two is not `nil`.
  public let second: String?

  /// Creates a change. At least one of `first` and `second` must not be `nil`.
  public init(place: Place, first: String?, second: String?) {
    self.place = place
    self.first = first
    self.second = second
  }

  /// The kind of difference.
  public var kind: ChangeKind { first == nil ? .added : second == nil ? .removed : .changed }
}

/// The kind of a difference.
public enum ChangeKind: String, Sendable, Hashable, CaseIterable {
  /// Only the second value has it.
  case added
  /// Only the first value has it.
  case removed
  /// Both values have it, with different contents.
  case changed
}

/// The differences between two contents: all of them, or one page of them.
public struct Changes<Place: Sendable & Hashable>: Hashable, Sendable {
  /// The reported changes, in the order of the contents.
  public fileprivate(set) var rows: [Change<Place>]
  /// The number of all changes, including those that are not reported.
  public fileprivate(set) var count: Int

  /// Creates a page of changes.
  /// - Parameters:
  ///   - rows: The reported changes, in the order of the contents.
  ///   - count: The number of all changes; `nil` if `rows` has all.
  public init(_ rows: [Change<Place>] = [], of count: Int? = nil) {
    self.rows = rows
    self.count = count ?? rows.count
  }

  /// Whether all changes are reported.
  public var isComplete: Bool { rows.count == count }
}

/// Collects one page of changes, and counts the others.
struct ChangeList<Place: Sendable & Hashable> {
  private(set) var changes = Changes<Place>()
  private let page: Range<Int>

  /// Creates an empty list for the changes from number `skipped`, at most `limit` of them.
  init(skipping skipped: Int, limit: Int) { page = skipped..<skipped + min(limit, .max - skipped) }

  /// Counts a change, and reports the result of `change` if it is on the page.
  mutating func append(_ change: () -> Change<Place>) {
    if page.contains(changes.count) { changes.rows.append(change()) }
    changes.count += 1
  }
}
