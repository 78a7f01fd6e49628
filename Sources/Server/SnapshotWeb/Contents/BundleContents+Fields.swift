import SnapshotFormat

extension BundleContents {
  /// The modules, and what each of them lacks, for the details; `nil` without modules.
  func moduleFields(of id: SnapshotID, _ budget: inout PageBudget) -> Fields? {
    guard moduleCount > 0 else { return nil }
    var rows: [Fields] = []
    for module in modules.prefix(PageLimits.modules) {
      let path = PagePath.snapshot(id, ListSelection(module: module.name)).description
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
        "href": present > 0 && budget.take(PageText.length(path)) ? path : nil,
      ])
    }
    return [
      "count": Measures.count(moduleCount, "module"), "rows": rows,
      "rest": rest(moduleCount - rows.count, "module"),
    ]
  }

  /// What was not recorded, for the details; `nil` if nothing is known.
  func droppedFields(_ budget: inout PageBudget) -> Fields? {
    guard !dropped.isEmpty else { return nil }
    var rows: [Fields] = []
    for entry in dropped.prefix(PageLimits.rows) {
      guard budget.take(180) else { break }
      rows.append([
        "name": budget.name(entry.identifier ?? "others", most: 120),
        "calls": entry.count > 1 ? Measures.count(entry.count, "call") : nil,
        "size": Measures.sizeFields(entry.bytes),
        "reason": budget.name(entry.explanation, most: 120),
      ])
    }
    return ["rows": rows, "rest": rest(dropped.count - rows.count, "identifier")]
  }

  private func rest(_ count: Int, _ noun: String) -> String? {
    count > 0 ? "and \(Measures.count(count, noun)) more" : nil
  }

  /// Returns the attached images, which the page shows above everything else.
  func pictures(of id: SnapshotID, _ budget: inout PageBudget) -> [Fields] {
    var rows: [Fields] = []
    for file in attachments.filter(\.isImage).prefix(PageLimits.pictures) {
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
}

extension PageSlice {
  /// Returns the values for the template `pager`, or `nil` if the whole list is shown.
  ///
  /// - Parameters:
  ///   - shown: the number of rows that fit into the page.
  ///   - most: the number of rows of a page.
  ///   - path: returns the path of the page that starts after a number of elements.
  func pager(
    _ noun: String, shown: Int, most: Int = PageLimits.rows, path: (Int) -> String
  ) -> Fields? {
    let end = start + shown
    guard start > 0 || end < total else { return nil }
    return [
      "label": "Pages of \(noun)",
      "range": shown > 0
        ? "\(Measures.number(start + 1))–\(Measures.number(end)) of \(Measures.number(total))"
        : "none of \(Measures.number(total))",
      "first": start > most ? path(0) : nil,
      "previous": start > 0 ? path(max(0, start - most)) : nil,
      "next": shown > 0 && end < total ? path(end) : nil,
    ]
  }
}

extension String {
  /// Returns the text without `prefix`, if it starts with it.
  func removing(_ prefix: String) -> String { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self }
}
