import JSONText
import SnapshotDiff

/// The rows of the template `changes-table`: a place and the two values there, with the words that differ.
enum ChangeRows {
  /// The approximate number of bytes of a row without its texts.
  private static let rowLength = 160
  /// The number of bytes of a value at which it is cut off.
  private static let valueLength = 1200
  /// The number of characters of equal text that are shown at each side of a change.
  private static let context = 60

  /// Returns the values of the template `changes-table` for the changes of a recording or file, as many as `budget`
  /// allows; `nil` if there is no list of changes.
  static func table(
    _ detail: RecordingDifference.Detail, _ links: DiffLinks, _ first: String, _ second: String,
    _ budget: inout PageBudget
  ) -> (fields: Fields, shown: Int, count: Int)? {
    switch detail {
    case .json(let changes) where changes.count > 0:
      let rows = rows(changes, &budget) { path, isFirst in
        (path.description, links.value(path, in: isFirst ? first : second, isFirst: isFirst))
      }
      return (["place": "Path", "rows": rows], rows.count, changes.count)
    case .text(let changes):
      let rows = rows(changes, &budget) { line, isFirst in
        (Measures.number(line), links.line(line, in: isFirst ? first : second, isFirst: isFirst))
      }
      return (["place": "Line", "rows": rows], rows.count, changes.count)
    case .json, .omitted, .bytes, .beyondLimits: return nil
    }
  }

  private static func rows<Place>(
    _ changes: Changes<Place>, _ budget: inout PageBudget,
    _ place: (Place, _ isFirst: Bool) -> (text: String, href: String?)
  ) -> [Fields] {
    var rows: [Fields] = []
    for change in changes.rows {
      let (text, href) = place(change.place, change.kind == .removed)
      guard budget.take(rowLength + (href.map(PageText.length) ?? 0)) else { break }
      rows.append(row(budget.name(text, most: 300), href: href, change.first, change.second, &budget))
    }
    return rows
  }

  /// Returns the values of the template `change-lines`, as many as `budget` allows: the lines that differ, and those
  /// around them.
  static func lines(
    _ rows: [TextComparison.Row], _ links: DiffLinks, _ first: String, _ second: String,
    _ budget: inout PageBudget
  ) -> [Fields] {
    var lines: [Fields] = []
    func add(
      _ kind: String, _ mark: String, _ line: TextComparison.Line, isFirst: Bool,
      _ segments: [WordDifference.Segment], followsGap: Bool
    ) {
      lines.append([
        "kind": kind, "mark": mark, "first": isFirst ? line.number : nil,
        "second": isFirst ? nil : line.number, "followsGap": followsGap,
        "href": links.line(line.number, in: isFirst ? first : second, isFirst: isFirst),
        "side": side(segments, &budget), "isRemoved": kind == "removed", "isAdded": kind == "added",
      ])
    }
    for row in rows {
      guard budget.take(2 * rowLength + 300) else { break }
      if row.isEqual, let line = row.second {
        let text = WordDifference.Segment(line.text, isChanged: false)
        add("same", " ", line, isFirst: false, [text], followsGap: row.followsGap)
        lines[lines.count - 1]["first"] = row.first?.number
        continue
      }
      let words =
        if let one = row.first, let other = row.second { WordDifference(one.text, other.text) } else {
          WordDifference?.none
        }
      if let line = row.first {
        add(
          "removed", "−", line, isFirst: true, words?.first ?? [.init(line.text, isChanged: true)],
          followsGap: row.followsGap)
      }
      if let line = row.second {
        add(
          "added", "+", line, isFirst: false, words?.second ?? [.init(line.text, isChanged: true)],
          followsGap: row.followsGap && row.first == nil)
      }
    }
    return lines
  }

  /// Returns one row.
  static func row(
    _ place: Fields, href: String? = nil, _ first: String?, _ second: String?, _ budget: inout PageBudget
  ) -> Fields {
    let words =
      if let first, let second { WordDifference(first, second) } else { WordDifference?.none }
    return [
      "place": place, "href": href,
      "first": first.map { side(words?.first ?? [.init($0, isChanged: true)], &budget) },
      "second": second.map { side(words?.second ?? [.init($0, isChanged: true)], &budget) },
    ]
  }

  private static func side(_ segments: [WordDifference.Segment], _ budget: inout PageBudget) -> Fields {
    let markup = 11
    let isWhole = segments.count == 1 && segments[0].isChanged
    return budget.part(valueLength) { budget in
      var parts: [Fields] = []
      for (index, segment) in segments.enumerated() {
        guard budget.take(markup) else {
          parts.append(["text": "…", "isChanged": nil])
          break
        }
        let text =
          segment.isChanged
          ? segment.text : shortened(segment.text, isFirst: index == 0, isLast: index == segments.count - 1)
        let shown = PageText.cut(text, to: budget.left)
        _ = budget.take(shown.length)
        parts.append(["text": shown.text, "isChanged": segment.isChanged])
        if !shown.isWhole { break }
      }
      return ["parts": parts, "isWhole": isWhole]
    }
  }

  /// Equal text between changes, without most of a long one.
  private static func shortened(_ text: String, isFirst: Bool, isLast: Bool) -> String {
    guard text.count > 2 * context + 20 else { return text }
    let lead = isFirst ? "" : text.prefix(context)
    let trail = isLast ? "" : text.suffix(context)
    return isFirst && isLast ? String(text.prefix(2 * context)) + "…" : lead + " … " + trail
  }
}
