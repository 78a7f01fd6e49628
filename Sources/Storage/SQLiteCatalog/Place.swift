/// Where a record stands in lists: its time, and a number that tells records of the same millisecond apart.
///
/// Times from 1970 for 557 years have places of their own; what is outside shares those of the nearest millisecond.
enum Place {
  /// How many records of one millisecond there can be, as a power of two.
  static let bits: Int64 = 19
  private static let lastMillisecond: Int64 = 1 << 44 - 1

  /// The places of one millisecond since 1970.
  static func range(_ millisecond: Int64) -> ClosedRange<Int64> {
    let first = min(max(millisecond, 0), lastMillisecond) << bits
    return first...(first | (1 << bits - 1))
  }

  /// The places from one millisecond to another.
  static func range(_ milliseconds: ClosedRange<Int64>) -> ClosedRange<Int64> {
    range(milliseconds.lowerBound).lowerBound...range(milliseconds.upperBound).upperBound
  }

  /// The millisecond that a place belongs to.
  static func millisecond(_ place: Int64) -> Int64 { place >> bits }
}
