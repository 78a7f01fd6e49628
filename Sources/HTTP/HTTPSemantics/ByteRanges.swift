/// The bytes that a `Range` field requests (RFC 9110 §14).
public enum ByteRanges: Sendable, Hashable {
  /// The maximum number of ranges in one field. A field with more ranges is ignored.
  public static let maximumCount = 16

  /// The field counts as missing: the response has all of the content.
  case whole
  /// These byte ranges, in the requested order. Neither the array nor any range is empty.
  case some([Range<Int64>])
  /// No requested range contains an existing byte.
  case unsatisfiable

  /// Reads `field` for content of `size` bytes.
  ///
  /// Ignores the field if its unit is not bytes, if it is malformed (§14.2), if it has more than ``maximumCount``
  /// ranges, or if its ranges overlap (§14.2, §17.15). Ranges that add up to more than the content always overlap.
  /// Numbers too large for 64 bits count as the largest 64-bit number.
  public init(_ field: String?, size: Int64) {
    guard let field, let specs = Self.specs(field) else {
      self = .whole
      return
    }
    let ranges = specs.compactMap { $0.range(in: size) }
    // A suffix of empty content is all of it, and 206 can't express an empty range (§14.4).
    if size == 0, specs.contains(where: \.isSatisfiedByNothing) {
      self = .whole
    } else if ranges.isEmpty {
      self = .unsatisfiable
    } else {
      let sorted = ranges.sorted { $0.lowerBound < $1.lowerBound }
      let overlap = zip(sorted, sorted.dropFirst()).contains { $0.upperBound > $1.lowerBound }
      self = overlap ? .whole : .some(ranges)
    }
  }

  private enum Spec {
    case from(Int64)
    case between(Int64, Int64)
    case last(Int64)

    var isSatisfiedByNothing: Bool {
      if case .last(let count) = self { count > 0 } else { false }
    }

    func range(in size: Int64) -> Range<Int64>? {
      switch self {
      case .from(let first): first < size ? first..<size : nil
      case .between(let first, let last): first < size ? first..<(min(last, size - 1) + 1) : nil
      case .last(let count): count > 0 && size > 0 ? max(0, size - count)..<size : nil
      }
    }
  }

  /// Parses the ranges as requested. Returns `nil` if the field counts as missing.
  private static func specs(_ field: String) -> [Spec]? {
    var scanner = FieldScanner(field)
    guard scanner.token()?.lowercased() == "bytes", scanner.take("=") else { return nil }
    var specs: [Spec] = []
    while true {
      scanner.skipWhitespace()
      if scanner.isAtEnd { break }
      if scanner.take(",") { continue }
      guard let spec = spec(&scanner), specs.count < maximumCount else { return nil }
      specs.append(spec)
      scanner.skipWhitespace()
      guard scanner.isAtEnd || scanner.take(",") else { return nil }
    }
    return specs.isEmpty ? nil : specs
  }

  private static func spec(_ scanner: inout FieldScanner) -> Spec? {
    let first = number(&scanner)
    guard scanner.take("-") else { return nil }
    let last = number(&scanner)
    return switch (first, last) {
    case (let first?, let last?): last < first ? nil : .between(first, last)
    case (let first?, nil): .from(first)
    case (nil, let count?): .last(count)
    case (nil, nil): nil
    }
  }

  private static func number(_ scanner: inout FieldScanner) -> Int64? {
    scanner.take { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }.map { Int64($0) ?? .max }
  }
}
