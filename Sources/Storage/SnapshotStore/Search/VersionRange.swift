/// A range of versions. Each bound includes all versions that begin with it: 3 to 3.4 contains 3.0, 3.4 and 3.4.7, but
/// not 3.5.
///
/// Versions compare numerically: 3.9 is before 3.10, 3.1 equals 3.1.0, and a pre-release such as 3.1-beta is before
/// 3.1.
public struct VersionRange: Sendable, Hashable {
  /// The lower bound, inclusive; `nil` for none.
  public var lowest: String?
  /// The upper bound, inclusive; `nil` for none.
  public var highest: String?

  /// Creates a range.
  public init(from lowest: String? = nil, through highest: String? = nil) {
    self.lowest = lowest
    self.highest = highest
  }

  /// Creates a range of all versions that begin with `version`.
  public init(_ version: String) { self.init(from: version, through: version) }

  /// The smallest key of the range.
  package var lower: VersionKey { VersionKey(bytes: lowest.map { Self.lower($0) } ?? []) }

  /// The smallest key above the range; `nil` if there is no upper bound.
  package var upper: VersionKey? { highest.map { VersionKey(bytes: Self.upper($0)) } }

  package func contains(_ key: VersionKey) -> Bool { key >= lower && upper.map { key < $0 } ?? true }

  /// The largest group of versions that contains `key` and is entirely in the range, as the common prefix of their
  /// keys; `nil` if there is none.
  package func largestGroup(of key: VersionKey) -> [UInt8]? {
    let (lower, upper) = (lower, upper)
    return key.groups.first { group in
      let start = VersionKey(bytes: group)
      guard start >= lower else { return false }
      guard let upper else { return true }
      return start < upper && !upper.bytes.starts(with: group)
    }
  }

  /// Returns the terms of the version groups that make up the range, of the versions that occur; `nil` if there are more
  /// than `limit`.
  /// - Parameter next: returns the key of the first version that occurs at or above a key; `nil` if there is none.
  package func terms(
    limit: Int, next: (_ lowest: [UInt8]) throws -> [UInt8]?
  ) rethrows -> [String]? {
    var terms: [String] = []
    var lowest = lower.bytes
    while let key = try next(lowest).map(VersionKey.init(bytes:)) {
      if let upper, key >= upper { break }
      guard terms.count < limit else { return nil }
      if let group = largestGroup(of: key) {
        terms.append(SearchTerm.of(.version, group))
        lowest = group + [0xFF]
      } else {
        terms.append(SearchTerm.of(.wholeVersion, key.bytes))
        lowest = key.bytes + [0]
      }
    }
    return terms
  }

  private static func lower(_ version: String) -> [UInt8] {
    var parts = VersionParts(version)
    guard parts.suffix.isEmpty, !parts.numbers.isEmpty else { return parts.key }
    while parts.numbers.last?.isEmpty == true { parts.numbers.removeLast() }
    return parts.numbers.flatMap(VersionParts.encode)
  }

  private static func upper(_ version: String) -> [UInt8] {
    var parts = VersionParts(version)
    guard parts.suffix.isEmpty, let last = parts.numbers.popLast() else { return parts.key + [0xFF] }
    return (parts.numbers + [successor(of: last)]).flatMap(VersionParts.encode)
  }

  /// Returns the next number, in decimal digits.
  private static func successor(of number: [UInt8]) -> [UInt8] {
    var digits = number
    for index in digits.indices.reversed() {
      if digits[index] < UInt8(ascii: "9") {
        digits[index] += 1
        return digits
      }
      digits[index] = UInt8(ascii: "0")
    }
    return [UInt8(ascii: "1")] + digits
  }
}
