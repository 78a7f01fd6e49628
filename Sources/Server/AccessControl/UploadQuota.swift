/// How many bytes may be uploaded in how long: all at once at first, then as the time goes by.
package struct UploadQuota: Sendable, Hashable, Codable, LosslessStringConvertible {
  /// The bytes that can be said: up to a thousand terabytes.
  package static let range = 1...1_000_000_000_000_000
  /// How many bytes.
  package let bytes: Int
  /// In how many seconds.
  package let seconds: Int

  /// `bytes` in `seconds`, within ``range`` and ``RateLimit/range``, else `nil`.
  package init?(bytes: Int, seconds: Int) {
    guard Self.range.contains(bytes), RateLimit.range.contains(seconds) else { return nil }
    self.bytes = bytes
    self.seconds = seconds
  }

  /// Reads `10GB/d`: a number with one of `B`, `kB`, `MB`, `GB` and `TB`, and a time as a ``RateLimit`` has it.
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

  /// Reads what ``encode(to:)`` wrote; one out of range is refused.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let quota = UploadQuota(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "This is no quota.")
    }
    self = quota
  }

  /// Writes ``description``.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  /// `10GB/d`.
  package var description: String {
    let unit = Self.units.filter { bytes.isMultiple(of: $0.value) }.max { $0.value < $1.value }
    let size = unit.map { "\(bytes / $0.value)\($0.key)" } ?? "\(bytes)B"
    return "\(size)/\(RateLimit.text(ofSeconds: seconds))"
  }

  private static let units = [
    "B": 1, "kB": 1000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000,
  ]
}
