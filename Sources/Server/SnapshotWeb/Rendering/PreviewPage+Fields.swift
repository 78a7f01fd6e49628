import JSONText
import SnapshotAPI
import SnapshotFormat
import SnapshotViewer

extension PreviewPage {
  /// The budget for the contents of a file, in bytes.
  static let budget = 300_000

  /// The name to show: the identifier of a recording, otherwise the last segment of the path.
  private var name: String {
    recording?.identifier ?? path.split(separator: "/").last.map(String.init) ?? path
  }

  var title: String { "\(PageText.cut(name, to: 120).text) – \(record.shortID)" }

  var fields: Fields {
    var budget = PageBudget()
    let links = FileLinks(page: self)
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
      "views": preview.views.map { view in
        [
          "name": view.name, "href": links.path(selection.viewed(as: view)),
          "isCurrent": view == preview.view,
        ] as Fields
      },
      "find": preview.views.count > 1 ? findFields(links) : nil,
      "crumbs": crumbs(links, &budget),
      "preview": contentFields,
    ]
  }

  /// The values of the template `content`.
  var contentFields: Fields {
    var budget = PageBudget(Self.budget)
    let links = FileLinks(page: self)
    var fields: Fields = [
      "json": nil, "string": nil, "table": nil, "lines": nil, "found": nil, "hex": nil, "image": nil,
      "unreadable": nil, "remark": preview.remark, "pager": nil, "isEmpty": nil, "hasLines": nil,
    ]
    switch preview.content {
    case .outline(let outline):
      let rows = JSONRows(outline, links, isPart: selection.isPart, &budget)
      fields["json"] = ["rows": rows.rows] as Fields
      if !rows.isComplete { fields["remark"] = "The page shows only the beginning." }
    case .string(let page): fields["string"] = string(page, links, &fields)
    case .table(let table): fields["table"] = tableFields(table, links, &budget, &fields)
    case .formatted(let formatted, let count):
      let rows = Self.lineRows(
        formatted.lines.map { String(repeating: "  ", count: $0.depth) + $0.text }, from: formatted.from,
        &budget)
      fields["lines"] = rows
      fields["pager"] = pager(formatted.from, rows.count, of: count, step: 1000, "Lines", links)
    case .hits(let result):
      fields["found"] = found(
        result.hits.map { hit in
          [
            "place": hit.path.description, "href": links.tree(around: hit.path, index: hit.index),
            "excerpt": excerpt(hit.excerpt), "value": hit.value.map(JSONRows.item),
          ]
        }, count: result.count, isCut: result.isCut)
      fields["pager"] = pager(result.from, result.hits.count, of: result.count, step: 50, "Hits", links)
    case .text(let lines, let count):
      let from = lines.first?.number ?? 0
      let rows = Self.lineRows(lines.map { $0.text + ($0.isCut ? "…" : "") }, from: from, &budget)
      fields["lines"] = rows
      fields["pager"] = pager(from, rows.count, of: count, step: 500, "Lines", links)
    case .matches(let matches, let count, let isCut):
      fields["found"] = found(
        matches.map { match in
          [
            "place": "line \(Measures.number(match.line + 1))",
            "href": links.path(selection.viewed(as: .text).starting(at: max(0, match.line - 3)))
              + "#L\(match.line + 1)",
            "excerpt": excerpt(match.excerpt), "value": nil,
          ]
        }, count: count, isCut: isCut)
      fields["pager"] = pager(selection.from, matches.count, of: count, step: 50, "Matches", links)
    case .hex(let rows):
      let start = selection.from / 16 * 16
      fields["hex"] = ["rows": Self.hexRows(rows, from: start)] as Fields
      let count = rows.reduce(0) { $0 + $1.count }
      fields["pager"] = pager(start, count, of: Int(size), step: 4096, "Bytes", links)
    case .image: fields["image"] = PagePath.raw(record.id, file: path).description
    case .unreadable(let reason): fields["unreadable"] = PageText.cut(reason, to: 2000).text
    case .empty: fields["isEmpty"] = true
    }
    fields["hasLines"] = fields["lines"].map { !($0 is Bool) }
    return fields
  }

  // MARK: - Places

  /// The path to the shown value, with a link to each value around it, and the texts to copy.
  private func crumbs(_ links: FileLinks, _ budget: inout PageBudget) -> Fields? {
    let path: JSONPath
    switch preview.content {
    case .outline(let outline): path = outline.root.child.place.path
    case .string(let page): path = page.path
    case .table(let table): path = table.path
    default: return nil
    }
    guard !path.steps.isEmpty else { return nil }
    var steps: [Fields] = []
    for (index, step) in path.steps.enumerated() {
      let prefix = JSONPath(Array(path.steps[...index]))
      let text = if case .index(let number) = step { "\(number)" } else { prefix.lastKey }
      guard budget.take(60 + 2 * prefix.pointer.utf8.count) else { break }
      steps.append(["text": PageText.cut(text, to: 60).text, "href": links.tree(prefix, from: 0)])
    }
    return [
      "root": links.path(selection.showing("")), "steps": steps,
      "pointer": ["text": path.pointer, "label": "the JSON Pointer"] as Fields,
      "jq": ["text": path.description, "label": "the path for jq"] as Fields,
    ]
  }

  private func pager(
    _ from: Int, _ shown: Int, of count: Int, step: Int, _ noun: String, _ links: FileLinks
  ) -> Fields? {
    guard from > 0 || shown < count else { return nil }
    func link(_ from: Int) -> String { links.path(selection.starting(at: from)) }
    return [
      "label": noun,
      "range":
        "\(noun) \(Measures.number(from + 1)) to \(Measures.number(from + shown)) of \(Measures.number(count))",
      "first": from > 0 ? link(0) : nil,
      "previous": from > 0 ? link(max(0, from - step)) : nil,
      "next": from + shown < count ? link(from + shown) : nil,
    ]
  }

  private func findFields(_ links: FileLinks) -> Fields {
    let isText = preview.view == .text || preview.view == .hex
    return [
      "action": links.path(FileSelection()), "field": PageField.find.rawValue, "text": selection.find,
      "viewField": PageField.view.rawValue, "view": isText ? FileSelection.View.text.rawValue : nil,
      "label": isText ? "Find in the text" : "Find a key, a value or a path", "hasForms": !isText,
    ]
  }

  private func found(_ hits: [Fields], count: Int, isCut: Bool) -> Fields {
    [
      "hits": hits,
      "summary": count == 0
        ? "Nothing was found." : (isCut ? "More than " : "") + Measures.count(count, "hit"),
    ]
  }

  private func excerpt(_ excerpt: Excerpt) -> Fields {
    [
      "before": PageText.inline(excerpt.before), "match": PageText.inline(excerpt.match),
      "after": PageText.inline(excerpt.after),
    ]
  }

  // MARK: - Contents

  private func string(_ page: JSONStringPage, _ links: FileLinks, _ fields: inout Fields) -> Fields {
    var other = selection
    other.showsEscapes.toggle()
    if page.from > 0 || page.next != nil {
      fields["pager"] =
        [
          "label": "Parts",
          "range":
            "From byte \(Measures.number(page.from)) of \(Measures.number(page.count))",
          "first": page.from > 0 ? links.path(selection.starting(at: 0)) : nil, "previous": nil,
          "next": page.next.map { links.path(selection.starting(at: $0)) },
        ] as Fields
    }
    return [
      "lines": (selection.showsEscapes ? page.source : page.text).unicodeScalars
        .split(separator: "\n", omittingEmptySubsequences: false).map { ["text": String($0)] as Fields },
      "other": links.path(other),
      "otherName": selection.showsEscapes ? "Show decoded" : "Show with escapes",
    ]
  }

  private func tableFields(
    _ table: JSONTable, _ links: FileLinks, _ budget: inout PageBudget, _ fields: inout Fields
  ) -> Fields {
    let columns = table.columns.map { key -> Fields in
      var sorted = selection.starting(at: 0)
      let isSorted = selection.order?.key == key
      let isDescending = isSorted && selection.order?.isDescending == false
      sorted.order = JSONTable.Order(key: key, isDescending: isDescending)
      let direction = selection.order?.isDescending == true ? "descending" : "ascending"
      return [
        "name": budget.name(key, most: 80), "href": links.path(sorted),
        "direction": isSorted ? direction : nil, "arrow": isSorted ? (isDescending ? "▲" : "▼") : nil,
      ]
    }
    var rows: [Fields] = []
    for row in table.rows {
      guard budget.take(80 + 40 * row.cells.count) else { break }
      rows.append([
        "index": Measures.number(row.child.place.index), "href": links.tree(row.child.place.path, from: 0),
        "cells": row.cells.map { Self.cell($0, links, &budget) },
      ])
    }
    fields["pager"] = pager(
      table.from, rows.count, of: table.count, step: JSONTable.Limits().rows, "Rows", links)
    if table.hasMoreColumns { fields["remark"] = "The table shows the first \(table.columns.count) columns." }
    return ["columns": columns, "rows": rows]
  }

  private static func cell(_ child: JSONChild?, _ links: FileLinks, _ budget: inout PageBudget) -> Fields {
    var fields: Fields = ["text": nil, "kind": nil, "href": nil, "title": nil]
    switch child?.value {
    case nil: break
    case .string(let text, let isCut):
      let shown = PageText.cut(PageText.inline(text), to: min(160, budget.left))
      _ = budget.take(shown.length)
      (fields["text"], fields["kind"]) = (shown.text, "string")
      if isCut || !shown.isWhole { fields["href"] = child.map { links.tree($0.place.path, from: 0) } }
    case .number(let text, _):
      let shown = PageText.cut(text, to: min(60, budget.left))
      _ = budget.take(shown.length)
      (fields["text"], fields["kind"]) = (shown.text, "number")
    case .literal(let text): (fields["text"], fields["kind"]) = (text, "literal")
    case .object(let preview), .array(let preview):
      let isObject = if case .object = child?.value { true } else { false }
      fields["text"] = (isObject ? "{" : "[") + Measures.number(preview.count) + (isObject ? "}" : "]")
      fields["kind"] = "container"
      if preview.count > 0 { fields["href"] = child.map { links.tree($0.place.path, from: 0) } }
      _ = budget.take(120)
    }
    return fields
  }

  /// The lines that fit into the budget, at least one.
  private static func lineRows(_ lines: [String], from: Int, _ budget: inout PageBudget) -> [Fields] {
    var rows: [Fields] = []
    for (index, line) in lines.enumerated() {
      let shown = PageText.cut(line, to: max(1000, budget.left))
      guard rows.isEmpty || budget.take(80 + shown.length) else { break }
      rows.append(["number": from + index + 1, "line": shown.text])
    }
    return rows
  }

  private static func hexRows(_ rows: [[UInt8]], from start: Int) -> [Fields] {
    rows.enumerated().map { index, row in
      let text = String(
        decoding: row.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
      let pairs = row.enumerated().map { ($0 == 8 ? " " : "") + digits(UInt64($1), 2) }
      return [
        "offset": digits(UInt64(start + index * 16), 8), "bytes": pairs.joined(separator: " "), "text": text,
      ]
    }
  }

  private static func digits(_ value: UInt64, _ count: Int) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: max(0, count - digits.count)) + digits
  }
}

extension FileSelection.View {
  fileprivate var name: String {
    switch self {
    case .tree: "Tree"
    case .table: "Table"
    case .formatted: "Formatted"
    case .text: "Text"
    case .hex: "Bytes"
    }
  }
}

extension JSONPath {
  fileprivate var lastKey: String { if case .key(let key) = steps.last { key } else { "" } }
}
