/// The first lines of a text file.
struct TextExcerpt {
  /// The lines without line ends.
  private(set) var lines: [String] = []
  /// A sentence about why the text is not shown completely; `nil` if it is.
  private(set) var cut: String?

  init(_ head: FileHead, limits: FilePreview.Limits) {
    var budget = PageBudget(limits.pageLength)
    var rest = head.bytes[...]
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    var hasCutLine = false
    while !rest.isEmpty {
      let end = rest.firstIndex(of: 0x0A)
      // The text after the last line end is a complete line only if the whole file was read.
      guard end != nil || head.isWhole || rest.count > limits.textLength else { break }
      var line = rest[..<(end ?? rest.endIndex)]
      if line.last == 0x0D { line = line.dropLast() }
      let isLong = line.count > limits.textLength
      let text = String(wholeCharactersOf: line.prefix(limits.textLength)) + (isLong ? "…" : "")
      guard lines.count < limits.lines, budget.take(44 + PageText.length(text)) else { break }
      hasCutLine = hasCutLine || isLong
      lines.append(text)
      rest = end.map { rest[($0 + 1)...] } ?? []
    }
    if !rest.isEmpty || !head.isWhole {
      cut = "The page shows the first \(lines.count) lines of \(head.size) bytes."
    } else if hasCutLine {
      cut = "Lines are shown up to \(limits.textLength) bytes."
    }
  }
}

extension String {
  /// Decodes UTF-8. Drops an incomplete character at the end.
  init(wholeCharactersOf bytes: ArraySlice<UInt8>) {
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
