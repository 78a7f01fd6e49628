/// A set of the records of a block, by their numbers in the order of their places.
struct SlotSet: Sendable, Equatable {
  private static let words = IndexLimits.block / 64

  private var bits: [UInt64]

  /// The empty set.
  init() { bits = Array(repeating: 0, count: Self.words) }

  /// Decodes the bytes of a posting; `nil` if they are malformed.
  ///
  /// They are a bit for each record, or the numbers of two bytes if these are shorter, in both cases little-endian.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.words * 8 else {
      self.init(numbers: bytes)
      return
    }
    self.init()
    for index in bits.indices {
      bits[index] = unsafe bytes.withUnsafeBytes {
        unsafe UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
      }
    }
  }

  /// Decodes numbers of two bytes; `nil` if they are malformed.
  init?(numbers bytes: [UInt8]) {
    self.init()
    guard bytes.count % 2 == 0 else { return nil }
    for index in stride(from: 0, to: bytes.count, by: 2) {
      let slot = Int(bytes[index]) | Int(bytes[index + 1]) << 8
      guard slot < IndexLimits.block else { return nil }
      insert(slot)
    }
  }

  /// Returns a number as two bytes.
  static func number(_ slot: Int) -> [UInt8] {
    [UInt8(truncatingIfNeeded: slot), UInt8(truncatingIfNeeded: slot >> 8)]
  }

  /// Returns the bytes of a posting for ascending numbers.
  static func encode(_ slots: [UInt16]) -> [UInt8] {
    if slots.count < words * 4 {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(slots.count * 2)
      for slot in slots {
        bytes.append(UInt8(truncatingIfNeeded: slot))
        bytes.append(UInt8(truncatingIfNeeded: slot >> 8))
      }
      return bytes
    }
    var bytes = [UInt8](repeating: 0, count: words * 8)
    for slot in slots { bytes[Int(slot) / 8] |= 1 << (slot % 8) }
    return bytes
  }

  mutating func insert(_ slot: Int) { bits[slot / 64] |= 1 << UInt64(slot % 64) }
  mutating func formIntersection(_ other: Self) {
    for index in bits.indices { bits[index] &= other.bits[index] }
  }
  mutating func formUnion(_ other: Self) { for index in bits.indices { bits[index] |= other.bits[index] } }
  mutating func subtract(_ other: Self) { for index in bits.indices { bits[index] &= ~other.bits[index] } }

  /// The number of records.
  var count: Int { bits.reduce(0) { $0 + $1.nonzeroBitCount } }

  /// Whether there is no record.
  var isEmpty: Bool { bits.allSatisfy { $0 == 0 } }

  /// The numbers, in ascending order.
  var slots: [Int] {
    var slots: [Int] = []
    for (index, word) in bits.enumerated() {
      var rest = word
      while rest != 0 {
        slots.append(index * 64 + rest.trailingZeroBitCount)
        rest &= rest - 1
      }
    }
    return slots
  }
}

/// A row of the index is not as it was written.
struct MalformedRow: Error, CustomStringConvertible {
  var description: String { "A row of the index is malformed." }
}
