/// A version in a form that sorts by its numbers: 3.9 before 3.10, 3.1 like 3.1.0, 3.1-beta before 3.1.
///
/// Each number is its count of digits plus 2, and the digits; behind the last one follows 0 for what comes before the
/// version of these numbers (`-beta`), 1 for the version itself and what comes after it (`+5`), and the rest, its runs
/// of digits sorted as numbers too. So bytes compare as versions do, and the versions that begin with the same numbers
/// are those whose keys begin with the same bytes.
package struct VersionKey: Hashable, Comparable, Sendable {
  /// How many numbers of a version count, the most digits of each, and the most bytes of what follows them.
  package enum Limits {
    package static let numbers = 8
    package static let digits = 30
    package static let suffix = 48
    /// How many numbers a group of versions is known by.
    package static let groupDepth = 4
  }

  /// What to compare.
  package let bytes: [UInt8]

  /// The key of a version.
  package init(_ version: String) {
    let parts = VersionParts(version)
    bytes = parts.key
  }

  /// Takes a key's own bytes.
  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// By the numbers.
  package static func < (left: Self, right: Self) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }

  /// The beginnings of the key that stand for its first number, its first two, and so on.
  package var groups: [[UInt8]] {
    var groups: [[UInt8]] = []
    var index = 0
    while index < bytes.count, bytes[index] >= 2, groups.count < Limits.groupDepth {
      index += Int(bytes[index]) - 1
      groups.append(Array(bytes[..<min(index, bytes.count)]))
    }
    return groups
  }
}

/// A version's numbers and what follows them.
struct VersionParts {
  /// Each without zeros in front.
  var numbers: [[UInt8]] = []
  var suffix: [UInt8] = []

  init(_ version: String) {
    var rest = Array(version.utf8)[...]
    if rest.count > 1, rest.first == UInt8(ascii: "v") || rest.first == UInt8(ascii: "V"),
      Self.isDigit(rest[rest.startIndex + 1])
    {
      rest.removeFirst()
    }
    while numbers.count < VersionKey.Limits.numbers, let first = rest.first, Self.isDigit(first) {
      let number = rest.prefix(while: Self.isDigit)
      rest = rest.dropFirst(number.count)
      numbers.append(Self.trimmed(number))
      guard rest.first == UInt8(ascii: "."), let next = rest.dropFirst().first, Self.isDigit(next) else {
        break
      }
      rest.removeFirst()
    }
    suffix = Array(rest)
  }

  var key: [UInt8] {
    var significant = numbers[...]
    while significant.last?.isEmpty == true { significant.removeLast() }
    return significant.flatMap(Self.encode) + encodedSuffix
  }

  static func encode(_ number: [UInt8]) -> [UInt8] { [UInt8(number.count + 2)] + number }

  private var encodedSuffix: [UInt8] {
    guard let first = suffix.first else { return [1] }
    // What follows a plus sign, a space or a bracket tells builds of one version apart.
    var bytes: [UInt8] = ["+", " ", "("].map { UInt8(ascii: $0) }.contains(first) ? [1] : [0]
    var rest = suffix.prefix(VersionKey.Limits.suffix)
    while let byte = rest.first {
      if Self.isDigit(byte) {
        let number = rest.prefix(while: Self.isDigit)
        rest = rest.dropFirst(number.count)
        let digits = Self.trimmed(number)
        bytes += [1, UInt8(digits.count + 2)] + digits
      } else {
        rest.removeFirst()
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): bytes.append(byte | 0x20)
        case UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...: bytes.append(byte)
        default: break
        }
      }
    }
    return bytes
  }

  private static func trimmed(_ number: ArraySlice<UInt8>) -> [UInt8] {
    let digits = number.drop { $0 == UInt8(ascii: "0") }
    return digits.count <= VersionKey.Limits.digits
      ? Array(digits) : Array(repeating: UInt8(ascii: "9"), count: VersionKey.Limits.digits)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
