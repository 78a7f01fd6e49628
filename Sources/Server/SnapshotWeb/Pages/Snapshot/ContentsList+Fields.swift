import SnapshotFormat

extension ContentsList {
  /// The budget for the rows of the list, in bytes.
  private static let budget = 60_000
  private static let headBudget = 3000

  /// Returns the values for the template `list`.
  func fields(of id: SnapshotID, _ head: inout PageBudget) -> Fields {
    var budget = PageBudget(Self.budget)
    let attachments = budget.part(10_000) { fileRows(contents.attachments, of: id, &$0) }
    let files = budget.part(10_000) { budget in
      fileRows(PageSlice(of: contents.files, from: selection.files).rows, of: id, &budget)
    }
    let page = page
    var shown = 0
    let groups = groups(page, of: id, &budget, &shown)
    return [
      "action": PagePath.search(.snapshot(id)).description,
      "field": PageField.find.rawValue,
      "count": Measures.count(contents.recordings.count, "recording"),
      "size": Measures.sizeFields(contents.recordingBytes),
      "problems": problemCount > 0
        ? (isComplete ? "" : "at least ") + Measures.count(problemCount, "problem") : nil,
      "problemsHref": PagePath.snapshot(id, selection.ordered(by: .problems)).description,
      "orders": ListSelection.Order.allCases.map { order in
        [
          "name": order.rawValue, "isCurrent": order == selection.order,
          "href": PagePath.snapshot(id, selection.ordered(by: order)).description,
        ] as Fields
      },
      "selected": selection.module.map { module in
        ["name": head.name(module), "all": PagePath.snapshot(id).description] as Fields
      },
      "groups": groups,
      "isEmpty": contents.recordings.isEmpty && contents.attachments.isEmpty && contents.files.isEmpty,
      "pager": page.pager("recordings", shown: shown, most: PageLimits.recordings) { start in
        var selection = selection
        selection.recordings = start
        return PagePath.snapshot(id, selection).description
      },
      "attachments": contents.attachments.isEmpty
        ? nil
        : [
          "count": Measures.number(contents.attachments.count), "rows": attachments,
          "rest": rest(contents.attachments.count - attachments.count),
          "archive": PagePath.folder(id, "attachments").description,
        ] as Fields,
      "files": contents.files.isEmpty
        ? nil
        : [
          "count": Measures.number(contents.files.count), "rows": files,
          "archive": PagePath.folder(id, "app-data").description,
          "pager": PageSlice(of: contents.files, from: selection.files).pager("files", shown: files.count) {
            start in
            var selection = selection
            selection.files = start
            return PagePath.snapshot(id, selection).description
          },
        ] as Fields,
      "archive": contents.recordings.isEmpty ? nil : PagePath.folder(id, "recordings").description,
    ]
  }

  private func rest(_ count: Int) -> String? { count > 0 ? "and \(Measures.number(count)) more" : nil }

  // MARK: - Recordings

  /// The recordings of the page, below the names of their modules, and what was not recorded.
  private func groups(
    _ page: PageSlice<Int>, of id: SnapshotID, _ budget: inout PageBudget, _ shown: inout Int
  ) -> [Fields] {
    var groups: [Fields] = []
    let isLast = page.start + page.rows.count >= page.total
    let gaps = isLast || selection.order == .module ? gaps : []
    var rest = page.rows[...]
    while let first = rest.first {
      let module = contents.recordings[first].module
      let members =
        selection.order == .module ? rest.prefix { contents.recordings[$0].module == module } : rest
      rest = rest.dropFirst(members.count)
      var rows: [Fields] = []
      for index in members {
        guard let row = row(index, of: id, &budget) else { break }
        rows.append(row)
      }
      shown += rows.count
      var group = title(of: module, &budget)
      group["rows"] = rows
      group["gaps"] =
        selection.order == .module
        ? gaps.filter { $0.module == module && module != nil }.compactMap { $0.fields(&budget) } : []
      groups.append(group)
      if rows.count < members.count { return groups }
    }
    let present =
      selection.order == .module ? Set(page.rows.compactMap { contents.recordings[$0].module }) : []
    let others =
      selection.module == nil && isLast
      ? gaps.filter { $0.module.map { !present.contains($0) } ?? true || selection.order != .module } : []
    if !others.isEmpty {
      let rows = others.prefix(PageLimits.rows).compactMap { $0.fields(&budget) }
      groups.append([
        "title": ["text": "Not recorded", "full": nil] as Fields, "href": nil,
        "note": Measures.number(others.count), "rows": [Fields](), "gaps": rows,
      ])
    }
    return groups
  }

  private func title(of module: Int?, _ budget: inout PageBudget) -> Fields {
    guard selection.order == .module, !contents.modules.isEmpty else {
      return ["title": nil, "href": nil, "note": nil]
    }
    guard let module else {
      return ["title": ["text": "Others", "full": nil] as Fields, "href": nil, "note": nil]
    }
    let summary = contents.modules[module]
    return [
      "title": budget.name(summary.name, most: 120), "href": nil,
      "note": "\(Measures.number(summary.wanted - summary.missing)) of \(Measures.number(summary.wanted))",
    ]
  }

  private func row(_ index: Int, of id: SnapshotID, _ budget: inout PageBudget) -> Fields? {
    let recording = contents.recordings[index]
    let path = PagePath.preview(
      id, file: recording.path, FileSelection(list: selection.ofFile, with: with)
    ).description
    guard budget.take(430 + PageText.length(path)) else { return nil }
    return [
      "href": path,
      "isCurrent": recording.path == current,
      "icon": states[index]?.kind.icon ?? "·",
      "kind": states[index]?.kind.words ?? "not examined",
      "name": budget.name(recording.identifier),
      "call": recording.call.map { Measures.number($0) },
      "tag": tag(of: index, &budget),
      "recorded": Measures.secondFields(recording.recordedAt),
      "size": Measures.sizeFields(recording.size),
    ]
  }

  private func tag(of index: Int, _ budget: inout PageBudget) -> Fields? {
    if let problem = problem(of: index) {
      let shown = PageText.cut(problem.description, to: 60)
      _ = budget.take(shown.length)
      return ["text": shown.text, "class": "bad"]
    }
    switch differences[contents.recordings[index].path] {
    case .changed(let count):
      return ["text": count.map { "\(Measures.number($0)) changed" } ?? "changed", "class": "warn"]
    case .added: return ["text": "new", "class": "good"]
    case .same, nil: break
    }
    if let places = states[index]?.redactedPlaces, places > 0 {
      return ["text": "\(Measures.number(places)) redacted", "class": ""]
    }
    return contents.recordings[index].outcome.map { ["text": $0, "class": ""] as Fields }
  }

  // MARK: - What was not recorded

  /// An identifier without recording.
  private struct Gap {
    var module: Int?
    var identifier: String
    var reason: String?

    func fields(_ budget: inout PageBudget) -> Fields? {
      guard budget.take(160) else { return nil }
      return [
        "name": budget.name(identifier, most: 120),
        "tag": reason.map { budget.name($0, most: 100) } ?? ["text": "missing", "full": nil] as Fields,
      ]
    }
  }

  /// What the modules lack, and what was dropped besides.
  private var gaps: [Gap] {
    var gaps: [Gap] = []
    for (index, module) in contents.modules.enumerated() {
      gaps += module.missingIdentifiers.map { Gap(module: index, identifier: $0, reason: module.reasons[$0]) }
    }
    let known = Set(gaps.map(\.identifier))
    for entry in contents.dropped where entry.identifier.map({ !known.contains($0) }) ?? true {
      gaps.append(Gap(module: nil, identifier: entry.identifier ?? "others", reason: entry.summary))
    }
    return gaps
  }

  // MARK: - Files

  private func fileRows(_ files: [FileEntry], of id: SnapshotID, _ budget: inout PageBudget) -> [Fields] {
    var rows: [Fields] = []
    for file in files.prefix(PageLimits.rows) {
      let path = PagePath.preview(id, file: file.path, FileSelection(list: selection.ofFile)).description
      guard budget.take(260 + PageText.length(path)) else { break }
      let name = file.name.removing("attachments/").removing("app-data/")
      rows.append([
        "href": path, "isCurrent": file.path == current, "icon": file.isImage ? "▧" : "·",
        "name": budget.name(name), "size": Measures.sizeFields(file.size),
      ])
    }
    return rows
  }
}

extension ListSelection {
  /// The same list beside a file. The part of the recordings follows the file.
  fileprivate var ofFile: ListSelection {
    var selection = self
    selection.recordings = nil
    return selection
  }
}

extension ContentState.Kind {
  /// A symbol for the list.
  var icon: String {
    switch self {
    case .json: "{}"
    case .jsonLines: "☰"
    case .propertyList: "▤"
    case .html, .xml: "<>"
    case .image: "▧"
    case .text: "¶"
    case .binary: "01"
    case .empty: "∅"
    }
  }

  /// The kind in words.
  var words: String {
    switch self {
    case .json: "JSON"
    case .jsonLines: "JSON Lines"
    case .propertyList: "property list"
    case .html: "HTML"
    case .xml: "XML"
    case .image: "image"
    case .text: "text"
    case .binary: "bytes"
    case .empty: "empty"
    }
  }
}
