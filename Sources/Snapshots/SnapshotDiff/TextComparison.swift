/// Compares two texts line by line.
package struct TextComparison {
  private(set) var list: ChangeList<Int>

  private let lines: [ArraySlice<UInt8>]
  private let otherLines: [ArraySlice<UInt8>]
  private let limits: ComparisonLimits
  private let page: Range<Int>
  /// The ranges of lines that differ, and the number of the first change in each.
  private var gaps: [(first: Range<Int>, second: Range<Int>, number: Int)] = []

  /// Compares `first` with `second` and reports up to `limit` changes; `nil` if either is not text.
  package init?(_ first: [UInt8], _ second: [UInt8], limits: ComparisonLimits, limit: Int) {
    guard let lines = Self.lines(of: first, limits), let otherLines = Self.lines(of: second, limits) else {
      return nil
    }
    (self.lines, self.otherLines, self.limits) = (lines, otherLines, limits)
    page = limits.skippedChanges..<limits.skippedChanges + min(limit, .max - limits.skippedChanges)
    list = ChangeList(skipping: limits.skippedChanges, limit: limit)
    let alignment = SequenceAlignment(lines.map(Self.hash), otherLines.map(Self.hash))
    var (x, y) = (0, 0)
    for pair in alignment.pairs + [(lines.count, otherLines.count)] {
      if x < pair.first || y < pair.second {
        gaps.append((x..<pair.first, y..<pair.second, list.changes.count))
      }
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

extension TextComparison {
  /// Lines of both texts: one that differs, with its counterpart if it has one, or an equal line near it.
  package struct Row: Sendable, Hashable {
    /// The number and the text of the line in the first text, from 1; `nil` if only the second text has the line.
    package let first: Line?
    /// The same in the second text.
    package let second: Line?
    /// Whether both texts have the line.
    package let isEqual: Bool
    /// Whether lines before this one are omitted.
    package let followsGap: Bool
  }

  /// A line of one text.
  package struct Line: Sendable, Hashable {
    /// The number, from 1.
    package let number: Int
    /// The text, truncated like the values of changes.
    package let text: String
  }

  /// The reported changes, with up to `context` equal lines before and after each.
  package func rows(context: Int = 3) -> [Row] {
    var rows: [Row] = []
    /// The line of the second text after the last one in `rows`.
    var next = 0
    func add(_ x: Int?, _ y: Int?, isEqual: Bool = false, at place: Int) {
      rows.append(
        Row(
          first: x.map { Line(number: $0 + 1, text: Self.excerpt(lines[$0], limits)) },
          second: y.map { Line(number: $0 + 1, text: Self.excerpt(otherLines[$0], limits)) },
          isEqual: isEqual, followsGap: place > next))
      next = y.map { $0 + 1 } ?? max(next, place)
    }
    for (index, gap) in gaps.enumerated() {
      let count = max(gap.first.count, gap.second.count)
      let shown = page.clamped(to: gap.number..<gap.number + count)
      guard !shown.isEmpty else { continue }
      let before = index > 0 ? gaps[index - 1].second.upperBound : 0
      if shown.lowerBound == gap.number {
        for y in max(before, next, gap.second.lowerBound - context)..<gap.second.lowerBound {
          add(gap.first.lowerBound - gap.second.lowerBound + y, y, isEqual: true, at: y)
        }
      }
      for number in shown {
        let (x, y) = (
          gap.first.lowerBound + number - gap.number, gap.second.lowerBound + number - gap.number
        )
        add(
          x < gap.first.upperBound ? x : nil, y < gap.second.upperBound ? y : nil,
          at: min(y, gap.second.upperBound))
      }
      guard shown.upperBound == gap.number + count else { continue }
      let after = index + 1 < gaps.count ? gaps[index + 1].second.lowerBound : otherLines.count
      for y in gap.second.upperBound..<min(after, gap.second.upperBound + context) {
        add(gap.first.upperBound - gap.second.upperBound + y, y, isEqual: true, at: y)
      }
    }
    return rows
  }
}
