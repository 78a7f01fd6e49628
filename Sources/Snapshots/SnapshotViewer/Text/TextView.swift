/// Reads any line of a text file. Thread-safe; every call blocks while reading.
package struct TextView: Sendable {
  /// Limits for files and pages.
  package struct Limits: Sendable, Hashable {
    /// The maximum number of bytes of a file.
    package var size = 256 << 20
    /// The maximum number of lines of a page.
    package var lines = 500
    /// The maximum number of bytes of a line.
    package var line = 4096
    /// The maximum number of bytes of a page.
    package var page = 200_000
    /// The maximum number of matches that are counted.
    package var matches = 100_000

    /// Creates limits with the default values.
    package init() {}
  }

  /// A line.
  package struct Line: Sendable, Hashable {
    /// The line's number, from 0.
    package let number: Int
    /// The text without the line end, or its beginning.
    package let text: String
    /// Whether the line is longer.
    package let isCut: Bool
    /// The text with the first match of the text to find, if there is one.
    package internal(set) var marked: Excerpt?
  }

  /// A line that contains a text.
  package struct Match: Sendable, Hashable {
    /// The line's number, from 0.
    package let line: Int
    /// The first match in the line.
    package let excerpt: Excerpt
  }

  /// The number of bytes between two known places.
  private static let blockSize = 64 << 10

  /// The file.
  package let bytes: ViewedBytes
  /// The number of lines.
  package let lineCount: Int
  private let limits: Limits
  /// The number of line ends before each block.
  private let blocks: [Int32]

  /// Counts the lines; `nil` if the file has more bytes than the limit.
  package init?(_ bytes: ViewedBytes, limits: Limits = Limits()) throws(ViewerError) {
    guard bytes.size <= limits.size, bytes.size < Int(Int32.max) else { return nil }
    (self.bytes, self.limits) = (bytes, limits)
    var blocks: [Int32] = []
    var count: Int32 = 0
    var last: UInt8 = 0x0A
    for offset in stride(from: 0, to: bytes.size, by: Self.blockSize) {
      blocks.append(count)
      let block = try bytes.read(upTo: Self.blockSize, at: offset)
      for byte in block where byte == 0x0A { count += 1 }
      last = block.last ?? last
    }
    self.blocks = blocks
    // Text after the last line end is a line.
    lineCount = Int(count) + (last == 0x0A ? 0 : 1)
  }

  /// The lines from number `from` on, as many as a page shows.
  /// - Parameter pattern: what is marked where a line contains it.
  package func lines(from: Int, marking pattern: TextPattern? = nil) throws(ViewerError) -> [Line] {
    var lines: [Line] = []
    var length = 0
    try forEachLine(from: from) { number, text, isCut in
      length += text.count
      var line = Line(number: number, text: String(wholeCharactersOf: text), isCut: isCut)
      if let found = pattern?.match(in: text) {
        line.marked = Excerpt(found, lead: limits.line, limit: limits.line)
      }
      lines.append(line)
      return lines.count < limits.lines && length < limits.page
    }
    return lines
  }

  /// The lines that contain `pattern`, from match number `from` on, at most `count`; and the number of all matches.
  package func matches(
    of pattern: TextPattern, from: Int, count: Int
  ) throws(ViewerError) -> (matches: [Match], count: Int, isCut: Bool) {
    var matches: [Match] = []
    var found = 0
    try forEachLine(from: 0) { number, text, _ in
      guard let match = pattern.match(in: text) else { return true }
      if found >= from, matches.count < count {
        matches.append(Match(line: number, excerpt: Excerpt(match)))
      }
      found += 1
      return found <= limits.matches
    }
    return (matches, min(found, limits.matches), found > limits.matches)
  }

  /// Calls `body` with the beginning of each line from number `from` on, until it returns `false`.
  private func forEachLine(
    from: Int, _ body: (Int, ArraySlice<UInt8>, Bool) -> Bool
  ) throws(ViewerError) {
    guard from >= 0, from < lineCount else { return }
    // The last block that begins at or before the line.
    let block = max(0, blocks.firstIndex(from: { Int($0) >= from }) - 1)
    var number = Int(blocks[block])
    var offset = block * Self.blockSize
    var line: [UInt8] = []
    var length = 0
    while offset < bytes.size {
      let piece = try bytes.read(upTo: Self.blockSize, at: offset)
      guard !piece.isEmpty else { throw .changed }
      offset += piece.count
      var rest = piece[...]
      while let end = rest.firstIndex(of: 0x0A) {
        if number >= from {
          line += rest[..<end].prefix(max(0, limits.line - line.count))
          length += end - rest.startIndex
          guard body(number, Self.text(line, number), length > limits.line) else { return }
        }
        line.removeAll(keepingCapacity: true)
        length = 0
        number += 1
        rest = rest[(end + 1)...]
      }
      if number >= from { line += rest.prefix(max(0, limits.line - line.count)) }
      length += rest.count
    }
    if number < lineCount { _ = body(number, Self.text(line, number), length > limits.line) }
  }

  /// The text of a line without a carriage return at its end and a byte order mark at the file's beginning.
  private static func text(_ line: [UInt8], _ number: Int) -> ArraySlice<UInt8> {
    var text = line[...]
    if text.last == 0x0D { text = text.dropLast() }
    if number == 0, text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
    return text
  }
}
