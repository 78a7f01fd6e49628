import SnapshotAPI
import SnapshotFormat

extension PreviewPage {
  /// The name to show: the identifier of a recording, otherwise the last segment of the path.
  private var name: String {
    recording?.identifier ?? path.split(separator: "/").last.map(String.init) ?? path
  }

  var title: String { "\(PageText.cut(name, to: 120).text) – \(record.shortID)" }

  var fields: Fields {
    var budget = PageBudget()
    let raw = PagePath.raw(record.id, file: path).description
    return [
      "name": budget.name(name, most: 600),
      "path": budget.name(path, most: 1200),
      "short": record.shortID,
      "snapshot": PagePath.snapshot(record.id).description,
      "applicationName": budget.name(record.applicationName, most: 200),
      "report": budget.part(700) { record.reportFields(&$0) },
      "raw": raw,
      "size": Measures.sizeFields(size),
      "recorded": recording.map { Measures.timeFields($0.recordedAt) },
      "call": recording?.call.map { Measures.number($0) },
      "sha256": recording?.sha256.description,
      "preview": preview.fields(raw: raw, &budget),
    ]
  }
}

extension FilePreview {
  /// Returns the values for the template `preview`, as much as `budget` allows.
  fileprivate func fields(raw: String, _ budget: inout PageBudget) -> Fields {
    var fields: Fields = [
      "json": nil, "text": nil, "hex": nil, "image": nil, "unreadable": nil, "cut": nil,
      "isEmpty": content == .empty,
    ]
    var isWhole = true
    switch content {
    case .json(let lines):
      let tree = JSONTree(lines, &budget)
      fields["json"] = ["lines": tree.lines, "canFold": lines.count > 1] as Fields
      isWhole = tree.isWhole
    case .text(let lines):
      let shown = Self.textRows(lines, &budget)
      fields["text"] = ["lines": shown.rows] as Fields
      isWhole = shown.isWhole
    case .hex(let rows):
      let shown = Self.hexRows(rows, &budget)
      fields["hex"] = ["rows": shown] as Fields
      isWhole = shown.count == rows.count
    case .image: fields["image"] = raw
    case .unreadable(let reason): fields["unreadable"] = PageText.cut(reason, to: 2000).text
    case .empty: break
    }
    fields["cut"] = cut ?? (isWhole ? nil : "The page shows only the beginning.")
    return fields
  }

  private static func textRows(_ lines: [String], _ budget: inout PageBudget) -> (
    rows: [Fields], isWhole: Bool
  ) {
    var rows: [Fields] = []
    for (index, line) in lines.enumerated() {
      guard index < PageLimits.lines, budget.take(44) else { return (rows, false) }
      let shown = PageText.cut(line, to: budget.left)
      _ = budget.take(shown.length)
      rows.append(["number": index + 1, "line": shown.text])
      if !shown.isWhole { return (rows, false) }
    }
    return (rows, true)
  }

  private static func hexRows(_ rows: [[UInt8]], _ budget: inout PageBudget) -> [Fields] {
    var shown: [Fields] = []
    for (index, row) in rows.prefix(PageLimits.lines).enumerated() {
      let text = String(
        decoding: row.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
      guard budget.take(110 + PageText.length(text)) else { break }
      let pairs = row.enumerated().map { ($0 == 8 ? " " : "") + digits(UInt64($1), 2) }
      shown.append([
        "offset": digits(UInt64(index * 16), 8), "bytes": pairs.joined(separator: " "), "text": text,
      ])
    }
    return shown
  }

  private static func digits(_ value: UInt64, _ count: Int) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: max(0, count - digits.count)) + digits
  }
}
