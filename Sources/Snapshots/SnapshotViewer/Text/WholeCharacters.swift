extension String {
  /// Decodes UTF-8. Leaves out an incomplete character at the end.
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
    self.init(decoding: bytes[..<end], as: UTF8.self)
  }
}
