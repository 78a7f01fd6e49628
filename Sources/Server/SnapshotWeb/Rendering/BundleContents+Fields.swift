import SnapshotFormat

extension BundleContents {
  /// Returns the values for the template `snapshot`, with as many rows of each list as `budget` allows. The recordings
  /// get the remaining budget.
  func fields(
    of id: SnapshotID, _ selection: SnapshotPage.Selection, _ budget: inout PageBudget
  ) -> Fields {
    let droppedRows = budget.part(5000) { self.droppedRows(&$0) }
    let moduleRows = budget.part(10_000) { self.moduleRows(of: id, selection, &$0) }
    let attachments = budget.part(8000) { budget in
      fileRows(self.attachments.rows, of: id, below: "attachments/", &budget)
    }
    let files = budget.part(8000) { fileRows(self.files.rows, of: id, below: "app-data/", &$0) }
    let recordings = recordingRows(of: id, &budget)
    return [
      "modules": moduleCount > 0
        ? [
          "count": Measures.count(moduleCount, "module"),
          "rows": moduleRows,
          "rest": rest(moduleCount - moduleRows.count, "module"),
        ] as Fields : nil,
      "dropped": dropped.total > 0
        ? ["rows": droppedRows, "rest": rest(dropped.total - droppedRows.count, "identifier")] as Fields
        : nil,
      "selected": selection.module.map { module -> Fields in
        var budget = PageBudget(200)
        return [
          "name": budget.name(module),
          "all": PagePath.snapshot(id).description + "#recordings",
        ]
      },
      "count": Measures.count(recordingCount, "recording"),
      "size": Measures.sizeFields(recordingBytes),
      "recordings": recordings,
      "archive": recordingCount > 0 ? PagePath.folder(id, "recordings").description : nil,
      "hasRecordings": !recordings.isEmpty,
      "recordingsPager": self.recordings.pager("recordings", shown: recordings.count) { start in
        var selection = selection
        selection.recordings = start
        return PagePath.snapshot(id, selection).description + "#recordings"
      },
      "attachments": attachments.isEmpty
        ? nil
        : [
          "count": Measures.count(self.attachments.total, "attachment"),
          "rows": attachments,
          "rest": rest(self.attachments.total - attachments.count, "attachment"),
          "archive": PagePath.folder(id, "attachments").description,
        ] as Fields,
      "files": self.files.total == 0
        ? nil
        : [
          "count": Measures.count(self.files.total, "file"),
          "rows": files,
          "archive": PagePath.folder(id, "app-data").description,
          "pager": self.files.pager("files", shown: files.count) { start in
            var selection = selection
            selection.files = start
            return PagePath.snapshot(id, selection).description + "#files"
          },
        ] as Fields,
    ]
  }

  private func rest(_ count: Int, _ noun: String) -> String? {
    count > 0 ? "and \(Measures.count(count, noun)) more" : nil
  }

  private func droppedRows(_ budget: inout PageBudget) -> [Fields] {
    var rows: [Fields] = []
    for entry in dropped.rows.prefix(PageLimits.rows) {
      guard budget.take(180) else { break }
      rows.append([
        "name": budget.name(entry.identifier ?? "others", most: 120),
        "calls": entry.count > 1 ? Measures.count(entry.count, "call") : nil,
        "size": Measures.sizeFields(entry.bytes),
        "reason": budget.name(entry.explanation, most: 120),
      ])
    }
    return rows
  }

  private func moduleRows(
    of id: SnapshotID, _ selection: SnapshotPage.Selection, _ budget: inout PageBudget
  ) -> [Fields] {
    var rows: [Fields] = []
    for module in modules.prefix(PageLimits.modules) {
      let path = PagePath.snapshot(id, .init(module: module.name)).description
      guard budget.take(420) else { break }
      let name = budget.name(module.name, most: 120)
      var missing: [Fields] = []
      for identifier in module.missingIdentifiers.prefix(PageLimits.names) where budget.take(40) {
        var row = budget.name(identifier, most: 120)
        row["reason"] = module.reasons[identifier].map { budget.name($0, most: 120) }
        missing.append(row)
      }
      let present = max(0, module.wanted - module.missing)
      rows.append([
        "name": name,
        "isComplete": module.missing == 0,
        "present": Measures.number(present),
        "wanted": Measures.number(module.wanted),
        "share": Measures.share(Int64(present), of: Int64(module.wanted)),
        "missing": Measures.number(module.missing),
        "missingIdentifiers": missing,
        "hasMissing": !missing.isEmpty,
        "rest": module.missing > missing.count
          ? "and \(Measures.number(module.missing - missing.count)) more" : nil,
        "href": present > 0 && budget.take(PageText.length(path)) ? path + "#recordings" : nil,
        "isSelected": selection.module == module.name,
      ])
    }
    return rows
  }

  private func recordingRows(of id: SnapshotID, _ budget: inout PageBudget) -> [Fields] {
    var rows: [Fields] = []
    for recording in recordings.rows.prefix(PageLimits.rows) {
      let path = PagePath.preview(id, file: recording.path).description
      let length = recording.exchange == nil ? 470 : 510
      guard budget.take(length + PageText.length(path)) else { break }
      rows.append([
        "href": path,
        "name": budget.name(recording.identifier),
        "call": recording.call.map { Measures.number($0) },
        "outcome": recording.exchange.map { exchange in
          budget.name("\(exchange.status), \(Measures.number(exchange.duration)) ms", most: 60)
        },
        "size": Measures.sizeFields(recording.size),
        "share": Measures.share(recording.size, of: largestRecording),
        "recorded": Measures.timeFields(recording.recordedAt),
      ])
    }
    return rows
  }

  /// Returns the attached images, which the page shows before everything else.
  func pictures(of id: SnapshotID, _ budget: inout PageBudget) -> [Fields] {
    var rows: [Fields] = []
    for file in attachments.rows.filter(\.isImage).prefix(PageLimits.pictures) {
      let (path, raw) = (PagePath.preview(id, file: file.path), PagePath.raw(id, file: file.path))
      guard budget.take(200 + PageText.length(path.description) + PageText.length(raw.description)) else {
        break
      }
      rows.append([
        "href": path.description, "source": raw.description,
        "name": budget.name(file.name.removing("attachments/"), most: 120),
      ])
    }
    return rows
  }

  private func fileRows(
    _ files: [FileEntry], of id: SnapshotID, below folder: String, _ budget: inout PageBudget
  ) -> [Fields] {
    var rows: [Fields] = []
    for file in files.prefix(PageLimits.rows) {
      let path = PagePath.preview(id, file: file.path).description
      guard budget.take(220 + PageText.length(path)) else { break }
      rows.append([
        "href": path, "name": budget.name(file.name.removing(folder)), "size": Measures.sizeFields(file.size),
      ])
    }
    return rows
  }
}

extension PageSlice {
  /// Returns the values for the template `pager`, or `nil` if the whole list is shown.
  ///
  /// - Parameters:
  ///   - shown: the number of rows that fit into the page.
  ///   - path: returns the path of the page that starts after a number of elements.
  func pager(_ noun: String, shown: Int, path: (Int) -> String) -> Fields? {
    let end = start + shown
    guard start > 0 || end < total else { return nil }
    return [
      "label": "Pages of \(noun)",
      "range": shown > 0
        ? "\(Measures.number(start + 1))–\(Measures.number(end)) of \(Measures.number(total))"
        : "none of \(Measures.number(total))",
      "first": start > PageLimits.rows ? path(0) : nil,
      "previous": start > 0 ? path(max(0, start - PageLimits.rows)) : nil,
      "next": shown > 0 && end < total ? path(end) : nil,
    ]
  }
}

extension String {
  /// Returns the text without `prefix`, if it starts with it.
  func removing(_ prefix: String) -> String { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self }
}
