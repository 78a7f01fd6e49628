/// A version in a form that sorts numerically: 3.9 before 3.10, 3.1 equal to 3.1.0, 3.1-beta before 3.1.
///
/// Each number is encoded as a byte, the count of its digits plus 2, and its digits. After the last number follows 0
/// for a pre-release (`-beta`), or 1 for the version itself and its builds (`+5`), and then the rest, with its runs of
/// digits encoded to sort numerically too. Keys therefore compare byte by byte like versions, and versions that begin
/// with the same numbers have keys that begin with the same bytes.
package struct VersionKey: Hashable, Comparable, Sendable {
  /// The maximum number of numbers in a version, of digits in each number, and of bytes in the rest.
  package enum Limits {
    package static let numbers = 8
    package static let digits = 30
    package static let suffix = 48
    /// The maximum number of numbers that identify a group of versions.
    package static let groupDepth = 4
  }

  /// The bytes to compare.
  package let bytes: [UInt8]

  /// Creates the key of a version.
  package init(_ version: String) {
    let parts = VersionParts(version)
    bytes = parts.key
  }

  /// Creates a key from its bytes.
  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// Compares the versions numerically.
  package static func < (left: Self, right: Self) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }

  /// The prefixes of the key that end after its first number, its second, and so on, at most four.
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

/// The numbers of a version, and the text after them.
struct VersionParts {
  /// The decimal digits of each number, without leading zeros.
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
    // A plus sign, a space or a bracket introduces a build of the same version.
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
