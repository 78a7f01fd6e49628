/// The position of a record in lists, which begin with the newest: the time until the last millisecond, and a number that
/// distinguishes records of the same millisecond. FTS5 reads ascending places faster than descending ones.
///
/// Times from 1970 on, for 557 years, have places of their own; a time outside shares those of the nearest millisecond.
enum Place {
  /// The number of bits that distinguish the records of one millisecond.
  static let bits: Int64 = 19
  private static let lastMillisecond: Int64 = 1 << 44 - 1

  /// The places of one millisecond since 1970.
  static func range(_ millisecond: Int64) -> ClosedRange<Int64> {
    let first = (lastMillisecond - min(max(millisecond, 0), lastMillisecond)) << bits
    return first...(first | (1 << bits - 1))
  }

  /// The places from one millisecond to another.
  static func range(_ milliseconds: ClosedRange<Int64>) -> ClosedRange<Int64> {
    range(milliseconds.upperBound).lowerBound...range(milliseconds.lowerBound).upperBound
  }

  /// The millisecond that a place belongs to.
  static func millisecond(_ place: Int64) -> Int64 { lastMillisecond - place >> bits }
}
