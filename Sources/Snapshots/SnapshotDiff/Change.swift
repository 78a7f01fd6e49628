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

/// Collects changes up to a limit.
struct ChangeList<Place: Sendable & Hashable> {
  private(set) var changes: [Change<Place>] = []
  /// Whether all changes are in the list.
  private(set) var isComplete = true
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// Whether a change was omitted because the limit was reached.
  var isFull: Bool { !isComplete }

  mutating func append(_ place: Place, first: String? = nil, second: String? = nil) {
    if changes.count < limit {
      changes.append(Change(place: place, first: first, second: second))
    } else {
      isComplete = false
    }
  }
}
