/// The limits of the index.
enum IndexLimits {
  /// The maximum number of records of a block.
  static let block = 2048
  /// The number of records that arrived late and have no block is limited to the number of records that all blocks can
  /// have, divided by this.
  static let lateShare = 256
  /// The maximum number of words by which the beginning of a word is replaced. If there are more, each is rare, and all
  /// are read.
  static let expansions = 500
  /// The maximum number of groups of versions, and of a scope's applications or reports, that are looked up as terms.
  /// With more of them the records are filtered one by one.
  static let alternatives = 200
  /// The number of versions that are read at once.
  static let versions = 500
  /// A condition with fewer places than this limits a search to them, if they are at most one in ``rareShare`` of all.
  static let rare = 256
  /// See ``rare``.
  static let rareShare = 2
  /// From a block with at most this many matching records, only their parts of the listing are read from the disk.
  static let fewOfBlock = 4
  /// From a block with at most this many matching records, only their parts of the listing are sent.
  static let someOfBlock = 127
  /// The lengths, in characters, of the beginnings of words that are terms of their own. Longer beginnings have few
  /// enough words to be looked up one by one.
  static let prefixLengths = 2...3
  /// The maximum number of records that are read at once for a page.
  static let batch = 200
  /// The number of days after which a removed id is forgotten. Only a change that a server began before the removal can
  /// insert the record again, and no change takes that long.
  static let removalDays = 7
  /// The interval at which a server checks whether another one has built the index.
  static let buildPause = Duration.seconds(1)
  /// The number of blocks that are computed or written at the same time when the index is built.
  static let buildWriters = 3
  /// The maximum duration of a statement of the build. The longest one sorts all terms.
  static let buildStatement = Duration.seconds(3600)
  /// The maximum number of attempts to find a free place in a millisecond.
  static let placeAttempts = 20
}

/// The position of a record in lists: its time, and an even number that distinguishes records of the same millisecond.
///
/// Times from 1970 on, for 557 years, have places of their own; a time outside shares those of the nearest millisecond.
enum Place {
  private static let bits: Int64 = 19
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

  /// The place with the given number in a millisecond; numbers that are too large begin at 0 again.
  static func numbered(_ number: Int, in millisecond: Int64) -> Int64 {
    range(millisecond).lowerBound + Int64(number) * 2 % (1 << bits)
  }

  /// A random place in a millisecond.
  static func random(in millisecond: Int64) -> Int64 {
    numbered(.random(in: 0..<1 << 18), in: millisecond)
  }

  /// The millisecond that a place belongs to.
  static func millisecond(_ place: Int64) -> Int64 { place >> bits }

  /// The key of the block whose first record has this place. Keys are odd.
  static func blockKey(first place: Int64) -> Int64 { place | 1 }

  /// Whether the key is that of a block, and not the place of a record without one.
  static func isBlockKey(_ key: Int64) -> Bool { key & 1 == 1 }

  /// The first place of a block.
  static func first(ofBlock key: Int64) -> Int64 { key - 1 }
}
