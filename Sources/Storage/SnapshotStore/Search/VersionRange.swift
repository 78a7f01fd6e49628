/// Versions from one to another, each of which stands for every version that begins with it: 3 to 3.4 holds 3.0, 3.4
/// and 3.4.7, but not 3.5.
///
/// Versions compare by their numbers, so 3.9 comes before 3.10; 3.1 is 3.1.0, and what is marked as coming before a
/// version, such as 3.1-beta, does.
public struct VersionRange: Sendable, Hashable {
  /// The first versions; `nil` begins with the very first.
  public var lowest: String?
  /// The last versions; `nil` ends with the very last.
  public var highest: String?

  /// A range.
  public init(from lowest: String? = nil, through highest: String? = nil) {
    self.lowest = lowest
    self.highest = highest
  }

  /// Every version that begins with `version`.
  public init(_ version: String) { self.init(from: version, through: version) }

  /// Where it begins.
  package var lower: VersionKey { VersionKey(bytes: lowest.map { Self.lower($0) } ?? []) }

  /// What is just behind it; `nil` where nothing is.
  package var upper: VersionKey? { highest.map { VersionKey(bytes: Self.upper($0)) } }

  package func contains(_ key: VersionKey) -> Bool { key >= lower && upper.map { key < $0 } ?? true }

  /// The group of versions that holds `key`, as large as fits into the range, as the beginning of their keys; `nil`
  /// where none fits.
  package func largestGroup(of key: VersionKey) -> [UInt8]? {
    let (lower, upper) = (lower, upper)
    return key.groups.first { group in
      let start = VersionKey(bytes: group)
      guard start >= lower else { return false }
      guard let upper else { return true }
      return start < upper && !upper.bytes.starts(with: group)
    }
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

  /// The next number, in decimal digits.
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
