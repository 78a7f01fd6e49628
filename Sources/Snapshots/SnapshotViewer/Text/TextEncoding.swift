/// An encoding of text other than UTF-8.
package enum TextEncoding: Sendable, Hashable, CaseIterable {
  case utf16LittleEndian, utf16BigEndian, utf32LittleEndian, utf32BigEndian

  /// The name of the encoding, without the order of its bytes.
  package var name: String { unit == 2 ? "UTF-16" : "UTF-32" }

  /// The number of bytes of a code unit.
  var unit: Int {
    switch self {
    case .utf16LittleEndian, .utf16BigEndian: 2
    case .utf32LittleEndian, .utf32BigEndian: 4
    }
  }

  package var isBigEndian: Bool { self == .utf16BigEndian || self == .utf32BigEndian }

  /// The byte order mark.
  var mark: [UInt8] {
    let bytes: [UInt8] = unit == 2 ? [0xFE, 0xFF] : [0, 0, 0xFE, 0xFF]
    return isBigEndian ? bytes : bytes.reversed()
  }

  /// Detects the encoding of a text that begins with `head`; `nil` if it is not one of these.
  ///
  /// A text with a byte order mark has the encoding of the mark. Without one, it must contain NUL, which is not in texts
  /// in UTF-8, and a part of its characters must be ASCII.
  /// - Parameter length: the number of bytes up to the last one that is not NUL.
  static func of(_ head: [UInt8], length: Int) -> TextEncoding? {
    // The mark of UTF-16 is the beginning of that of UTF-32.
    let encodings = allCases.sorted { $0.unit > $1.unit }
    if let marked = encodings.first(where: { head.starts(with: $0.mark) }) { return marked }
    guard head.prefix(length).contains(0) else { return nil }
    return encodings.first { $0.isProbable(for: Array(head.prefix($0.whole(length)))) }
  }

  /// The number of bytes of the code units that the first `length` bytes belong to.
  func whole(_ length: Int) -> Int { (length + unit - 1) / unit * unit }

  private func isProbable(for head: [UInt8]) -> Bool {
    var text: [UInt8] = []
    guard head.count.isMultiple(of: unit), !decode(head, into: &text).isInvalid, !text.isEmpty else {
      return false
    }
    var (count, ascii, odd) = (0, 0, 0)
    for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
      count += 1
      switch scalar {
      case "\0": return false
      case "\t", "\n", "\r", " "..."~": ascii += 1
      default:
        switch scalar.properties.generalCategory {
        case .unassigned, .privateUse, .control: odd += 1
        default: break
        }
      }
    }
    return ascii * (count < 64 ? 2 : 4) >= count && odd * 16 <= count
  }

  /// Appends the characters in `bytes` to `text`, in UTF-8.
  /// - Returns: The number of bytes of the characters, and whether what follows them is no character. If not, it is
  ///   incomplete.
  func decode(_ bytes: [UInt8], into text: inout [UInt8]) -> (count: Int, isInvalid: Bool) {
    var index = 0
    while index + unit <= bytes.count {
      var value = self.value(bytes, at: index)
      var length = unit
      if unit == 2, (0xD800..<0xDC00).contains(value) {
        guard index + 4 <= bytes.count else { return (index, false) }
        let low = self.value(bytes, at: index + 2)
        guard (0xDC00..<0xE000).contains(low) else { return (index, true) }
        value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        length = 4
      }
      guard let scalar = Unicode.Scalar(value) else { return (index, true) }
      if value < 0x80 { text.append(UInt8(value)) } else { text.append(contentsOf: String(scalar).utf8) }
      index += length
    }
    return (index, false)
  }

  private func value(_ bytes: [UInt8], at index: Int) -> UInt32 {
    let unit = bytes[index..<index + unit]
    return isBigEndian
      ? unit.reduce(0) { $0 << 8 | UInt32($1) } : unit.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
