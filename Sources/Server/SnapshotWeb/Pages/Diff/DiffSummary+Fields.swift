import SnapshotAPI
import SnapshotDiff
import SnapshotFormat

extension DiffSummary {
  /// The maximum size of one recording's differences in the page, in bytes.
  private static let entryLength = 5000

  /// Returns the values for the list in the template `diff`.
  func fields(_ links: DiffLinks, _ budget: inout PageBudget) -> Fields {
    let facts = budget.part(30_000) { factRows(&$0) }
    let files = budget.part(50_000) { fileRows(links, &$0) }
    let groups = self.groups(links, &budget)
    return [
      "isEmpty": isEmpty,
      "alike": "\(Measures.count(counts.alike, "recording")) \(counts.alike == 1 ? "is" : "are") identical.",
      "tabs": tabs(links),
      "omitted": counts.omitted > 0
        ? "\(Measures.count(counts.omitted, "recording")) on this page \(counts.omitted == 1 ? "differs" : "differ") only in values that the filter omits."
        : nil,
      "facts": facts,
      "factsRest": facts.count < self.facts.count
        ? "and \(Measures.count(self.facts.count - facts.count, "fact")) more" : nil,
      "hasFacts": !facts.isEmpty,
      "groups": groups.map { ["name": $0.name, "entries": $0.entries] as Fields },
      "pager": pager(links, next: next, isLater: links.selection.after != nil) { $0.after = $1 },
      "files": files,
      "hasFiles": !files.isEmpty,
      "filesPager": pager(links, next: nextFile, isLater: links.selection.filesAfter != nil) {
        $0.filesAfter = $1
      },
    ]
  }

  private func tabs(_ links: DiffLinks) -> [Fields] {
    let all = counts.added + counts.removed + counts.changed
    let tabs: [(String, ChangeKind?, Int)] = [
      ("All", nil, all), ("Changed", .changed, counts.changed), ("Removed", .removed, counts.removed),
      ("Added", .added, counts.added),
    ]
    return tabs.map { name, kind, count in
      var selection = links.selection.showing(nil)
      selection.kind = kind
      return [
        "name": name, "count": Measures.number(count), "href": links.path(selection),
        "isCurrent": links.selection.kind == kind,
      ]
    }
  }

  private func pager<Place>(
    _ links: DiffLinks, next: Place?, isLater: Bool, _ move: (inout DiffSelection, Place?) -> Void
  ) -> Fields? {
    guard next != nil || isLater else { return nil }
    func link(_ place: Place?) -> String {
      var selection = links.selection
      move(&selection, place)
      return links.path(selection)
    }
    return [
      "label": "Pages", "range": nil, "first": isLater ? link(nil) : nil, "previous": nil,
      "next": next.map { link($0) },
    ]
  }

  private func factRows(_ budget: inout PageBudget) -> [Fields] {
    var rows: [Fields] = []
    for fact in facts {
      guard budget.take(120) else { break }
      let words = fact.place.description
      let label = words.prefix(1).uppercased() + words.dropFirst()
      rows.append(ChangeRows.row(budget.name(label, most: 200), fact.first, fact.second, &budget))
    }
    return rows
  }

  private func fileRows(_ links: DiffLinks, _ budget: inout PageBudget) -> [Fields] {
    files.prefix(PageLimits.rows).map { file in
      let path = links.file(file.place, isFirst: file.second == nil)
      let compare = file.kind == .changed ? links.item(.file(file.place)) : nil
      let isShort = budget.take(320 + PageText.length(path) + (compare.map(PageText.length) ?? 0))
      return [
        "kind": file.kind.rawValue, "label": file.kind.label,
        "name": budget.name(PortableName.decode(path: file.place)), "href": isShort ? path : nil,
        "compare": isShort ? compare : nil,
        "first": file.first.flatMap(Int64.init).map(Measures.sizeFields),
        "second": file.second.flatMap(Int64.init).map(Measures.sizeFields),
      ]
    }
  }

  // MARK: - Recordings

  private struct Group {
    let module: String?
    let name: Fields?
    var entries: [Fields] = []
  }

  /// Returns the recordings, with consecutive ones of the same module in one group.
  private func groups(_ links: DiffLinks, _ budget: inout PageBudget) -> [Group] {
    var groups: [Group] = []
    for entry in recordings.prefix(PageLimits.rows) {
      if groups.last.map({ $0.module != entry.module }) ?? true {
        groups.append(Group(module: entry.module, name: entry.module.map { budget.name($0) }))
      }
      let fields = budget.part(Self.entryLength) { entry.fields(links, &$0) }
      groups[groups.count - 1].entries.append(fields)
    }
    return groups
  }
}

extension DiffSummary.Entry {
  fileprivate func fields(_ links: DiffLinks, _ budget: inout PageBudget) -> Fields {
    switch kind {
    case .added(let recording): return Self.fields(.added, recording, links, nil, recording.size, &budget)
    case .removed(let recording): return Self.fields(.removed, recording, links, recording.size, nil, &budget)
    case .changed(let difference):
      let recording = difference.second
      var fields = Self.fields(
        .changed, recording, links, difference.first.size, recording.size, &budget)
      fields["remark"] =
        difference.detail == .beyondLimits ? "It was not compared in this list." : difference.detail.remark
      let item = links.item(.recording(.init(recording)))
      fields["compare"] = budget.take(PageText.length(item)) ? item : nil
      let table = ChangeRows.table(
        difference.detail, links, difference.first.path, recording.path, &budget)
      fields["table"] = table?.fields
      fields["compareLabel"] =
        if let table, table.shown < table.count { "Show all \(Measures.count(table.count, "change"))" } else {
          "Compare"
        }
      return fields
    }
  }

  private static func fields(
    _ kind: ChangeKind, _ recording: Manifest.Recording, _ links: DiffLinks, _ first: Int64?,
    _ second: Int64?, _ budget: inout PageBudget
  ) -> Fields {
    let path = links.file(recording.path, isFirst: kind == .removed)
    return [
      "kind": kind.rawValue, "label": kind.label,
      "name": budget.name(recording.identifier),
      "call": recording.call.map { Measures.number($0) },
      "href": budget.take(PageText.length(path)) ? path : nil,
      "first": first.map(Measures.sizeFields),
      "second": second.map(Measures.sizeFields),
      "remark": nil, "table": nil, "compare": nil, "compareLabel": nil,
    ]
  }
}

extension ChangeKind {
  var label: String {
    switch self {
    case .added: "Added"
    case .removed: "Removed"
    case .changed: "Changed"
    }
  }
}
