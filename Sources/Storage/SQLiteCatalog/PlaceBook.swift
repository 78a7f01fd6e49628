import SnapshotStore

/// Assigns unused places during a rebuild, without reading the index, and in nearly constant memory.
struct PlaceBook {
  /// A bit for each group of milliseconds with the same hash: set if a place of any of them is assigned.
  private var taken: [UInt64] = []
  /// The next place of each millisecond whose bit was already set. There are few: records are usually seconds apart,
  /// and 2^26 bits rarely collide.
  private var next: [Int64: Int64] = [:]

  /// Returns a place of the millisecond that is not assigned yet. Throws ``CatalogError/tooManyAtOnce`` if there is
  /// none.
  mutating func take(_ millisecond: Int64) throws(CatalogError) -> Int64 {
    let places = Place.range(millisecond)
    let first = places.lowerBound
    if mark(first) { return first }
    let place = next[first] ?? first + 1
    guard place <= places.upperBound else { throw .tooManyAtOnce }
    next[first] = place + 1
    return place
  }

  /// Sets the bit of a millisecond.
  /// - Returns: whether the bit was clear before.
  private mutating func mark(_ first: Int64) -> Bool {
    if taken.isEmpty { taken = Array(repeating: 0, count: 1 << 20) }
    // The multiplication by an odd number makes the upper bits depend on all bits.
    let bit = (UInt64(bitPattern: first >> Place.bits) &* 0x9E37_79B9_7F4A_7C15) >> 38
    let mask = UInt64(1) << (bit % 64)
    defer { taken[Int(bit / 64)] |= mask }
    return taken[Int(bit / 64)] & mask == 0
  }
}

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
