/// Finds the places in bytes at which a text to find can be, without reading them as JSON or as lines.
///
/// Every place that contains the text is found, also in JSON with escape sequences. Not every place that is found contains
/// it.
struct LiteralScanner: Sendable {
  /// Bytes of the text, in lower case, that are written as they are, unless by an escape sequence.
  private let needle: [UInt8]
  /// Whether the text can contain a character that has a short escape sequence, such as a quotation mark.
  private let hasShortEscapes: Bool

  /// Creates a scanner; `nil` if no bytes of `text` are the same wherever it is written.
  init?(_ text: String) {
    let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
    // The Kelvin sign and the Turkish İ have lowercase forms with letters of ASCII.
    let stable = text.lowercased().unicodeScalars.split { scalar in
      if scalar.isASCII { return !isASCII && (scalar == "k" || scalar == "i") }
      return scalar.properties.generalCategory != .otherLetter
    }
    guard let longest = stable.max(by: { $0.count < $1.count }) else { return nil }
    needle = Array(String(longest).utf8)
    hasShortEscapes = text.utf8.contains { $0 < 0x20 || #""\/"#.utf8.contains($0) }
  }

  /// The number of bytes at the end of a piece that are searched again with the next one. An escape sequence begins with
  /// two bytes.
  var overlap: Int { max(needle.count, 2) - 1 }

  /// The index in `piece` of the first place from `start` on.
  func candidate(in piece: [UInt8], from start: Int) -> Int? {
    unsafe piece.withUnsafeBytes { piece in
      let ones: UInt64 = 0x0101_0101_0101_0101
      let last = needle.count - 1
      let (first, firstCase) = (UInt64(needle[0]) * ones, Self.caseMask(needle[0]) * ones)
      let (end, endCase) = (UInt64(needle[last]) * ones, Self.caseMask(needle[last]) * ones)
      let (backslash, letter) = (UInt64(UInt8(ascii: "\\")) * ones, UInt64(UInt8(ascii: "u")) * ones)
      var index = start
      // Eight places at once: a byte of the combination is zero where both ends of the needle match.
      while index + max(last, 1) + 8 <= piece.count {
        let head = unsafe UInt64(littleEndian: piece.loadUnaligned(fromByteOffset: index, as: UInt64.self))
        let tail = unsafe UInt64(
          littleEndian: piece.loadUnaligned(fromByteOffset: index + last, as: UInt64.self))
        let text = ((head | firstCase) ^ first) | ((tail | endCase) ^ end)
        var escape = head ^ backslash
        if !hasShortEscapes {
          let next = unsafe UInt64(
            littleEndian: piece.loadUnaligned(fromByteOffset: index + 1, as: UInt64.self))
          escape |= next ^ letter
        }
        let matches = ((text &- ones) & ~text | (escape &- ones) & ~escape) & (ones * 0x80)
        if matches != 0 {
          for place in index + matches.trailingZeroBitCount / 8..<index + 8 {
            if unsafe isCandidate(piece, at: place) { return place }
          }
        }
        index += 8
      }
      while index < piece.count {
        if unsafe isCandidate(piece, at: index) { return index }
        index += 1
      }
      return nil
    }
  }

  private func isCandidate(_ piece: UnsafeRawBufferPointer, at index: Int) -> Bool {
    if unsafe piece[index] == UInt8(ascii: "\\") {
      return unsafe hasShortEscapes || index + 1 < piece.count && piece[index + 1] == UInt8(ascii: "u")
    }
    guard index + needle.count <= piece.count else { return false }
    for offset in needle.indices {
      guard unsafe piece[index + offset] | Self.caseMask(needle[offset]) == needle[offset] else {
        return false
      }
    }
    return true
  }

  /// The bit by which the upper case of a letter differs from `byte`.
  private static func caseMask(_ byte: UInt8) -> UInt8 { (0x61...0x7A).contains(byte) ? 0x20 : 0 }

  private static func caseMask(_ byte: UInt8) -> UInt64 { UInt64(caseMask(byte) as UInt8) }
}
