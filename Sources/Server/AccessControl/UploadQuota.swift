/// An upload quota: a number of bytes in a period. The whole number is available at first; used bytes become available
/// again evenly over the period.
package struct UploadQuota: Sendable, Hashable, Codable, LosslessStringConvertible {
  /// The allowed numbers of bytes: up to a thousand terabytes.
  package static let range = 1...1_000_000_000_000_000
  /// The number of bytes.
  package let bytes: Int
  /// The period in seconds.
  package let seconds: Int

  /// Creates a quota of `bytes` in `seconds`. Returns `nil` if they are outside ``range`` and ``RateLimit/range``.
  package init?(bytes: Int, seconds: Int) {
    guard Self.range.contains(bytes), RateLimit.range.contains(seconds) else { return nil }
    self.bytes = bytes
    self.seconds = seconds
  }

  /// Reads `10GB/d`: a number with `B`, `kB`, `MB`, `GB` or `TB`, and a period as in ``RateLimit``.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let seconds = RateLimit.seconds(parts[1]) else { return nil }
    let number = parts[0].prefix { $0.isASCII && $0.isNumber }
    guard let count = Int(number), let unit = Self.units[String(parts[0].dropFirst(number.count))] else {
      return nil
    }
    let (bytes, overflow) = count.multipliedReportingOverflow(by: unit)
    guard !overflow else { return nil }
    self.init(bytes: bytes, seconds: seconds)
  }

  /// Reads the format of ``encode(to:)``. Throws if a value is out of range.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let quota = UploadQuota(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "This is not a quota.")
    }
    self = quota
  }

  /// Encodes ``description``.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  /// The quota as text, such as `10GB/d`.
  package var description: String {
    let unit = Self.units.filter { bytes.isMultiple(of: $0.value) }.max { $0.value < $1.value }
    let size = unit.map { "\(bytes / $0.value)\($0.key)" } ?? "\(bytes)B"
    return "\(size)/\(RateLimit.text(ofSeconds: seconds))"
  }

  private static let units = [
    "B": 1, "kB": 1000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000,
  ]
}
