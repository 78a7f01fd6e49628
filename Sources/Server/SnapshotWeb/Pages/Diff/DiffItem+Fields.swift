import SnapshotDiff
import SnapshotFormat

extension DiffItem {
  /// Returns the values for the item in the template `diff`.
  func fields(_ links: DiffLinks, _ budget: inout PageBudget) -> Fields {
    let name: String
    var call: Int?
    switch links.selection.item {
    case .recording(let place):
      name = place.identifier
      call = place.call > 0 ? place.call : nil
    case .file(let path): name = PortableName.decode(path: path)
    case nil: name = ""
    }
    let versions = [(first, "first", "First"), (second, "second", "Second")].map { version, place, label in
      [
        "place": place, "label": label, "size": version.map { Measures.sizeFields($0.size) },
        "href": version.map { links.file($0.path, isFirst: place == "first") },
      ] as Fields
    }
    let title = budget.name(name, most: 600)
    let table = detail.flatMap { detail in
      ChangeRows.table(detail, links, first?.path ?? "", second?.path ?? "", &budget)
    }
    return [
      "name": title, "call": call.map { Measures.number($0) }, "versions": versions,
      "remark": images == nil ? remark : nil, "table": lines.isEmpty ? table?.fields : nil,
      "lines": lines.isEmpty
        ? nil
        : ["rows": ChangeRows.lines(lines, links, first?.path ?? "", second?.path ?? "", &budget)] as Fields,
      "images": imageFields(links),
      "summary": table.map { Measures.count($0.count, "change") },
      "pager": table.flatMap { pager(links, shown: $0.shown, of: $0.count) },
    ]
  }

  /// Two images for the template `twins`.
  private func imageFields(_ links: DiffLinks) -> Fields? {
    guard let images, let first, let second else { return nil }
    func side(_ header: ImageHeader, _ path: String, isFirst: Bool) -> Fields {
      [
        "href": PagePath.raw(isFirst ? links.first : links.second, file: path).description,
        "width": "\(header.width)", "height": "\(header.height)", "label": isFirst ? "First" : "Second",
        "measures": "\(Measures.number(header.width)) × \(Measures.number(header.height)) pixels",
      ]
    }
    return [
      "sides": [
        side(images.first, first.path, isFirst: true), side(images.second, second.path, isFirst: false),
      ]
    ]
  }

  private var remark: String? {
    guard first != nil || second != nil else { return "Neither snapshot has it." }
    guard second != nil else { return "Only the first snapshot has it." }
    guard first != nil else { return "Only the second snapshot has it." }
    guard let detail else { return "The contents are identical." }
    guard detail == .beyondLimits else { return detail.remark }
    let size = Measures.size(Int64(ComparisonLimits.item.recordingBytes))
    return "This is too large or too complex to be compared on a page, which compares up to \(size). "
      + "Use `snapshot diff` in a terminal."
  }

  private func pager(_ links: DiffLinks, shown: Int, of count: Int) -> Fields? {
    let from = min(links.selection.from, count)
    guard from > 0 || shown < count, let item = links.selection.item else { return nil }
    let step = ComparisonLimits.item.changes
    return [
      "label": "Changes",
      "range":
        "Changes \(Measures.number(min(from + 1, count))) to \(Measures.number(from + shown)) of \(Measures.number(count))",
      "first": from > 0 ? links.item(item) : nil,
      "previous": from > 0 ? links.item(item, from: max(0, from - step)) : nil,
      "next": shown > 0 && from + shown < count ? links.item(item, from: from + shown) : nil,
    ]
  }
}
