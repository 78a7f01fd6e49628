extension String {
  /// Decodes UTF-8. Leaves out an incomplete character at the end.
  ///
  /// An unpaired surrogate, which JSON can contain as an escape sequence, is written as its code point: `⟨U+D83D⟩`. It is
  /// no character, and differs from U+FFFD, which replaces other invalid bytes.
  package init(wholeCharactersOf bytes: ArraySlice<UInt8>) {
    var end = bytes.endIndex
    if let lead = bytes.suffix(4).lastIndex(where: { $0 & 0xC0 != 0x80 }) {
      let length =
        switch bytes[lead] {
        case 0xF0...: 4
        case 0xE0...: 3
        case 0xC0...: 2
        default: 1
        }
      if end - lead < length { end = lead }
    }
    self = ""
    var rest = bytes[..<end]
    while let surrogate = rest.firstSurrogate {
      self += String(decoding: rest[..<surrogate], as: UTF8.self)
      let value = 0xD000 | UInt32(rest[surrogate + 1] & 0x3F) << 6 | UInt32(rest[surrogate + 2] & 0x3F)
      self += "⟨U+\(String(value, radix: 16, uppercase: true))⟩"
      rest = rest[(surrogate + 3)...]
    }
    self += String(decoding: rest, as: UTF8.self)
  }
}

extension ArraySlice<UInt8> {
  /// The index of the first surrogate, which has three bytes as other characters of its range do.
  fileprivate var firstSurrogate: Int? {
    var rest = self
    while let lead = rest.firstIndex(of: 0xED) {
      if lead + 2 < endIndex, self[lead + 1] >= 0xA0, self[lead + 1] & 0xC0 == 0x80,
        self[lead + 2] & 0xC0 == 0x80
      {
        return lead
      }
      rest = self[(lead + 1)...]
    }
    return nil
  }
}
