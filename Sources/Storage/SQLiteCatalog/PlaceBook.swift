import SnapshotStore

/// Gives out places while an index is made anew, of which none was taken before: without looking into the index, and in
/// memory that hardly grows.
struct PlaceBook {
  /// A bit for each of many milliseconds that share it: set where any of them has a place that is taken.
  private var taken: [UInt64] = []
  /// The next place of each millisecond whose bit was set when it was asked for: few, since records come seconds apart,
  /// and 2^26 bits are seldom shared.
  private var next: [Int64: Int64] = [:]

  /// A place of the millisecond that nobody has.
  mutating func take(_ millisecond: Int64) throws(CatalogError) -> Int64 {
    let places = Place.range(millisecond)
    let first = places.lowerBound
    if mark(first) { return first }
    let place = next[first] ?? first + 1
    guard place <= places.upperBound else { throw .tooManyAtOnce }
    next[first] = place + 1
    return place
  }

  /// Sets the bit of a millisecond's first place.
  /// - Returns: whether none with the same bit was there.
  private mutating func mark(_ first: Int64) -> Bool {
    if taken.isEmpty { taken = Array(repeating: 0, count: 1 << 20) }
    // Multiplied by an odd number, the upper bits depend on all bits.
    let bit = (UInt64(bitPattern: first >> Place.bits) &* 0x9E37_79B9_7F4A_7C15) >> 38
    let mask = UInt64(1) << (bit % 64)
    defer { taken[Int(bit / 64)] |= mask }
    return taken[Int(bit / 64)] & mask == 0
  }
}
