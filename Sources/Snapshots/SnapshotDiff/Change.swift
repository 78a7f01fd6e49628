/// One thing that differs between two values.
public struct Change<Place: Sendable & Hashable>: Hashable, Sendable {
  /// Where: in the first where it is only there, else in the second.
  public let place: Place
  /// What the first has there, `nil` where it has nothing; what is long is cut short with `…`.
  public let first: String?
  /// What the second has there, in the same way; one of the two is there.
  public let second: String?

  /// Says what differs; one of the two is there.
  public init(place: Place, first: String?, second: String?) {
    self.place = place
    self.first = first
    self.second = second
  }

  /// How it differs.
  public var kind: ChangeKind { first == nil ? .added : second == nil ? .removed : .changed }
}

/// How something differs.
public enum ChangeKind: String, Sendable, Hashable, CaseIterable {
  /// Only the second has it.
  case added
  /// Only the first has it.
  case removed
  /// Both have it, and not the same.
  case changed
}

/// Collects changes up to a number.
struct ChangeList<Place: Sendable & Hashable> {
  private(set) var changes: [Change<Place>] = []
  /// Whether no change had to be left out.
  private(set) var isComplete = true
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// Whether nothing more is taken.
  var isFull: Bool { !isComplete }

  mutating func append(_ place: Place, first: String? = nil, second: String? = nil) {
    if changes.count < limit {
      changes.append(Change(place: place, first: first, second: second))
    } else {
      isComplete = false
    }
  }
}
