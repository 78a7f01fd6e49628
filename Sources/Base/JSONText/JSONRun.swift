/// Finds where runs of bytes end, as most of a JSON document is such.
package enum JSONRun {
  private static let ones: UInt64 = 0x0101_0101_0101_0101

  /// Where the bytes from `start` on end that stand for themselves in a text: no quotes, backslashes or control
  /// characters.
  package static func plainEnd(_ bytes: [UInt8], from start: Int) -> Int {
    end(bytes, from: start, stops)
  }

  /// The same, where the first byte outside ASCII ends them too.
  package static func asciiEnd(_ bytes: [UInt8], from start: Int) -> Int {
    end(bytes, from: start) { stops($0) | $0 & (ones * 0x80) }
  }

  /// Where the white space that begins at `start` ends.
  package static func spaceEnd(_ bytes: [UInt8], from start: Int) -> Int {
    var index = start
    while index < bytes.count {
      let byte = bytes[index]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { break }
      index += 1
    }
    return index
  }

  /// Looks at eight bytes together.
  @inline(__always)
  private static func end(_ bytes: [UInt8], from start: Int, _ stops: (UInt64) -> UInt64) -> Int {
    unsafe bytes.withUnsafeBytes { bytes in
      var index = start
      while index + 8 <= bytes.count {
        let word = unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        let found = stops(UInt64(littleEndian: word))
        if found != 0 { return index + found.trailingZeroBitCount / 8 }
        index += 8
      }
      while index < bytes.count, unsafe stops(UInt64(bytes[index]) | 0x2020_2020_2020_2000) == 0 {
        index += 1
      }
      return index
    }
  }

  /// Of eight bytes, the first in the lowest place: the lowest set bit of the answer is in the first one that does not
  /// stand for itself.
  private static func stops(_ word: UInt64) -> UInt64 {
    // A byte that is less than what is taken from it borrows from the one above it, which is looked at no more.
    let quotes = word ^ (ones * 0x22)
    let backslashes = word ^ (ones * 0x5C)
    let marks =
      (word &- ones * 0x20) & ~word | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
    return marks & (ones * 0x80)
  }
}
