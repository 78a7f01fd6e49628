import JSONText
import SnapshotAPI
import SnapshotFormat
import SnapshotViewer

/// The contents of a file, which stand beside the list of the snapshot.
extension PreviewPage {
  /// The budget for the contents of a file, in bytes.
  static let budget = 300_000

  /// The name to show: the identifier of a recording, otherwise the last segment of the path.
  private var name: String {
    recording?.identifier ?? originalPath.split(separator: "/").last.map(String.init) ?? path
  }

  /// The path with the names that the user gave.
  private var originalPath: String { PortableName.decode(path: path) }

  var title: String { "\(PageText.cut(name, to: 120).text) – \(record.shortID)" }

  var fields: Fields {
    var budget = PageBudget()
    let links = FileLinks(page: self)
    return [
      "fileName": budget.name(name, most: 600),
      "path": budget.name(originalPath, most: 1200),
      "raw": PagePath.raw(record.id, file: path).description,
      "fileSize": Measures.sizeFields(size),
      "recordedAt": recording.map { Measures.secondFields($0.recordedAt) },
      "fileCall": recording?.call.map { Measures.number($0) },
      "sha256": recording?.sha256.description,
      "exchange": recording.flatMap { exchangeFields($0, &budget) },
      "views": preview.views.map { view in
        [
          "name": view.name, "href": links.path(selection.viewed(as: view)),
          "isCurrent": view == preview.view,
        ] as Fields
      },
      "find": preview.views.contains { $0 == .tree || $0 == .text } ? findFields(links) : nil,
      "decoded": preview.decoded.map { decodedFields($0, &budget) },
      "crumbs": crumbs(links, &budget),
      "preview": contentFields,
      "compared": comparisonFields(links),
    ]
  }

  /// The values of the template `content`.
  var contentFields: Fields {
    var budget = PageBudget(Self.budget)
    let links = FileLinks(page: self)
    var fields: Fields = [
      "json": nil, "string": nil, "table": nil, "lines": nil, "found": nil, "hex": nil, "image": nil,
      "unreadable": nil, "remark": preview.remark, "pager": nil, "isEmpty": nil, "hasLines": nil,
      "hit": preview.hit.map { hitFields($0, links) },
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
            "place": hit.path.description, "excerpt": excerpt(hit.excerpt),
            "value": hit.value.map(JSONRows.item),
          ]
        }, from: result.from, count: result.count, isCut: result.isCut, links)
      fields["pager"] = pager(result.from, result.hits.count, of: result.count, step: 50, "Hits", links)
    case .text(let lines, let count):
      let from = lines.first?.number ?? 0
      let rows = textRows(lines, &budget)
      fields["lines"] = rows
      var links = links
      // The pages of the text are not those of its matches.
      links.page.selection.find = ""
      fields["pager"] = pager(from, rows.count, of: count, step: 500, "Lines", links)
    case .matches(let matches, let count, let isCut):
      fields["found"] = found(
        matches.map { match in
          [
            "place": "line \(Measures.number(match.line + 1))", "excerpt": excerpt(match.excerpt),
            "value": nil,
          ]
        }, from: selection.from, count: count, isCut: isCut, links)
      fields["pager"] = pager(selection.from, matches.count, of: count, step: 50, "Matches", links)
    case .hex(let rows, let size):
      let start = selection.from / 16 * 16
      fields["hex"] = ["rows": Self.hexRows(rows, from: start)] as Fields
      let count = rows.reduce(0) { $0 + $1.count }
      fields["pager"] = pager(start, count, of: size, step: 4096, "Bytes", links)
    case .image(let header): fields["image"] = imageFields(header)
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
      guard budget.take(60 + links.length + 2 * prefix.pointer.utf8.count) else { break }
      steps.append(["text": PageText.cut(text, to: 60).text, "href": links.tree(prefix, from: 0)])
    }
    return [
      "root": links.path(selection.showing("")), "steps": steps,
      "rootName": selection.decode == nil ? "The file" : "The decoded contents",
      "pointer": ["text": path.pointer, "label": "the JSON Pointer"] as Fields,
      "jq": ["text": path.description, "label": "the path for jq"] as Fields,
    ]
  }

  private func pager(
    _ from: Int, _ shown: Int, of count: Int, step: Int, _ noun: String, _ links: FileLinks
  ) -> Fields? {
    guard from > 0 || shown < count else { return nil }
    func link(_ from: Int) -> String { links.path(links.page.selection.starting(at: from)) }
    return [
      "label": noun,
      "range":
        "\(noun) \(Measures.number(from + 1)) to \(Measures.number(from + shown)) of \(Measures.number(count))",
      "first": from > 0 ? link(0) : nil,
      "previous": from > 0 ? link(max(0, from - step)) : nil,
      "next": from + shown < count ? link(from + shown) : nil,
    ]
  }

  /// The string whose contents are shown.
  private func decodedFields(_ decoded: FilePreview.Decoded, _ budget: inout PageBudget) -> Fields {
    let coding =
      switch decoded.text.coding {
      case .text: "read as JSON"
      case .base64: "decoded from base64"
      case .token: "a signed token whose signature is not verified"
      }
    let pointer = decoded.path.pointer
    return [
      "place": budget.name(decoded.path.description, most: 400), "coding": coding,
      "href": PagePath.preview(record.id, file: path, selection.wholeFile.showing(pointer)).description,
      "size": Measures.size(Int64(decoded.size)), "download": decodedPath,
    ]
  }

  private var decodedPath: String {
    PagePath.decoded(record.id, file: path, string: selection.decode ?? "").description
  }

  private func imageFields(_ header: ImageHeader) -> Fields {
    [
      "href": preview.decoded == nil ? PagePath.raw(record.id, file: path).description : decodedPath,
      "measures":
        "\(Measures.number(header.width)) × \(Measures.number(header.height)) pixels, "
        + Measures.size(preview.decoded.map { Int64($0.size) } ?? size),
      "width": "\(header.width)", "height": "\(header.height)",
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
      "decode": preview.encoded.flatMap { encoded in
        JSONPath.tokens(ofPointer: selection.pointer).flatMap { tokens in
          links.decoded(JSONPath(tokens.map { .key($0) }), encoded).map {
            ["href": $0.href, "text": $0.text] as Fields
          }
        }
      },
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
      guard budget.take(80 + links.length + (40 + links.length) * row.cells.count) else { break }
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

  /// The approximate number of bytes of a line without its text.
  private static let lineLength = 140

  /// The lines that fit into the budget, at least one.
  private static func lineRows(
    _ lines: [String], from: Int, _ budget: inout PageBudget, isFirst: Bool = true
  ) -> [Fields] {
    var rows: [Fields] = []
    for (index, line) in lines.enumerated() {
      let shown = PageText.cut(line, to: max(1000, budget.left))
      guard budget.take(lineLength + shown.length) || isFirst && rows.isEmpty else { break }
      rows.append(["number": from + index + 1, "line": shown.text, "marked": nil])
    }
    return rows
  }

  /// The lines of a text that fit into the budget, at least one, with marked matches.
  private func textRows(_ lines: [TextView.Line], _ budget: inout PageBudget) -> [Fields] {
    var rows: [Fields] = []
    for line in lines {
      guard let marked = line.marked else {
        let more = Self.lineRows(
          [line.text + (line.isCut ? "…" : "")], from: line.number, &budget, isFirst: rows.isEmpty)
        guard !more.isEmpty else { break }
        rows += more
        continue
      }
      let length = [marked.before, marked.match, marked.after].reduce(0) { $0 + PageText.length($1) }
      guard budget.take(Self.lineLength + length) || rows.isEmpty else { break }
      var fields = excerpt(marked)
      fields["isHit"] = preview.hit?.place == .line(line.number)
      rows.append(["number": line.number + 1, "line": nil, "marked": fields])
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
    case .image: "Image"
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
