/// Finds the ends of runs of similar bytes, because most of a JSON document consists of such runs.
package enum JSONRun {
  private static let ones: UInt64 = 0x0101_0101_0101_0101

  /// The end of the run of plain bytes that begins at `start`: bytes in a JSON string other than quotes, backslashes
  /// and control characters.
  package static func plainEnd(_ bytes: [UInt8], from start: Int) -> Int {
    end(bytes, from: start, stops)
  }

  /// Like ``plainEnd(_:from:)``, but the run also ends at the first byte outside ASCII.
  package static func asciiEnd(_ bytes: [UInt8], from start: Int) -> Int {
    end(bytes, from: start) { stops($0) | $0 & (ones * 0x80) }
  }

  /// The end of the run of bytes outside strings that begins at `start`: up to a quote or a bracket. In valid JSON these
  /// are white space, commas, colons, numbers and literals.
  static func scalarEnd(_ bytes: [UInt8], from start: Int) -> Int {
    end(bytes, from: start) { word in
      // `[`, `]`, `{` and `}` differ in these bits. So do `Y`, `y`, `_` and DEL, which don't occur outside strings.
      let brackets = (word | ones * 0x26) ^ (ones * 0x7F)
      let quotes = word ^ (ones * 0x22)
      return ((brackets &- ones) & ~brackets | (quotes &- ones) & ~quotes) & (ones * 0x80)
    }
  }

  /// The index of the first control character of ASCII from `start` on, apart from DEL.
  package static func nextControl(_ bytes: [UInt8], from start: Int) -> Int {
    end(bytes, from: start) { ($0 &- ones * 0x20) & ~$0 & (ones * 0x80) }
  }

  /// The end of the white space that begins at `start`.
  package static func spaceEnd(_ bytes: [UInt8], from start: Int) -> Int {
    var index = start
    while index < bytes.count {
      let byte = bytes[index]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { break }
      index += 1
    }
    return index
  }

  /// Examines eight bytes at a time.
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

  /// Finds bytes that are not plain among eight bytes, the first of which is the least significant. The lowest set bit
  /// of the result is in the first such byte.
  private static func stops(_ word: UInt64) -> UInt64 {
    // If a byte is less than the number subtracted from it, it borrows from the next higher byte. The result for that
    // byte can be wrong, but it is not used.
    let quotes = word ^ (ones * 0x22)
    let backslashes = word ^ (ones * 0x5C)
    let marks =
      (word &- ones * 0x20) & ~word | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
    return marks & (ones * 0x80)
  }
}
