import SnapshotStore

/// The places and sizes of the records of a block, in the order of their places.
///
/// Each record has 16 bytes, so that a search for few records decodes only these: the place and the size, little-endian.
struct Listing: Sendable, Equatable {
  /// A record of a list: its place, and the size of its bundle in bytes.
  struct Entry: Sendable, Equatable {
    var place: Int64
    var size: Int64
  }

  /// The number of bytes of a record.
  static let width = 16

  /// The bytes of a row.
  let bytes: [UInt8]

  /// Creates a listing of entries in the order of their places.
  init(_ entries: [Entry]) {
    bytes = entries.flatMap { entry in
      [entry.place, entry.size].flatMap { number in
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * Int64($0))) }
      }
    }
  }

  /// Creates a listing from ``bytes``.
  init(_ bytes: [UInt8]) throws {
    guard bytes.count % Self.width == 0 else { throw MalformedRow() }
    self.bytes = bytes
  }

  /// The number of records.
  var count: Int { bytes.count / Self.width }

  /// Returns the record with the given number.
  func entry(_ slot: Int) throws -> Entry {
    guard slot < count else { throw MalformedRow() }
    return Entry(place: number(at: slot * Self.width), size: number(at: slot * Self.width + 8))
  }

  /// Returns the number of the record at `place`; `nil` if there is none.
  func slot(of place: Int64) -> Int? {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if number(at: middle * Self.width) < place { low = middle + 1 } else { high = middle }
    }
    return low < count && number(at: low * Self.width) == place ? low : nil
  }

  private func number(at offset: Int) -> Int64 {
    unsafe bytes.withUnsafeBytes {
      unsafe Int64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Int64.self))
    }
  }
}
