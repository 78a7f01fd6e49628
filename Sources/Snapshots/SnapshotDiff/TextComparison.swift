/// Compares two texts line by line.
struct TextComparison {
  private(set) var list: ChangeList<Int>

  /// Compares `first` with `second` and reports up to `limit` changes; `nil` if either is not text.
  init?(_ first: [UInt8], _ second: [UInt8], limits: ComparisonLimits, limit: Int) {
    guard let lines = Self.lines(of: first, limits), let otherLines = Self.lines(of: second, limits) else {
      return nil
    }
    list = ChangeList(skipping: limits.skippedChanges, limit: limit)
    let alignment = SequenceAlignment(lines.map(Self.hash), otherLines.map(Self.hash))
    var (x, y) = (0, 0)
    for pair in alignment.pairs + [(lines.count, otherLines.count)] {
      while x < pair.first || y < pair.second {
        let (line, otherLine) = (x < pair.first ? lines[x] : nil, y < pair.second ? otherLines[y] : nil)
        list.append {
          Change(
            place: line != nil && otherLine == nil ? x + 1 : y + 1,
            first: line.map { Self.excerpt($0, limits) }, second: otherLine.map { Self.excerpt($0, limits) })
        }
        if line != nil { x += 1 }
        if otherLine != nil { y += 1 }
      }
      (x, y) = (pair.first + 1, pair.second + 1)
    }
  }

  /// The lines of a UTF-8 text, without line ends; `nil` if the bytes are not text or have too many lines.
  private static func lines(of bytes: [UInt8], _ limits: ComparisonLimits) -> [ArraySlice<UInt8>]? {
    guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else { return nil }
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return lines.count <= limits.values ? lines : nil
  }

  private static func hash(_ line: ArraySlice<UInt8>) -> Int {
    var hasher = Hasher()
    unsafe line.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return hasher.finalize()
  }

  private static func excerpt(_ line: ArraySlice<UInt8>, _ limits: ComparisonLimits) -> String {
    guard line.count > limits.excerptLength else { return String(decoding: line, as: UTF8.self) }
    let text = String(decoding: line.prefix(limits.excerptLength + 3), as: UTF8.self)
    return text.prefix(max(0, limits.excerptLength - 1)) + "…"
  }
}
