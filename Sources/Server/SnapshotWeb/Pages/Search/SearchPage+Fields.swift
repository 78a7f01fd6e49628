import JSONText
import SnapshotAPI
import SnapshotFormat
import SnapshotViewer

extension SearchPage: Page {
  var template: PageTemplates.Name { .search }
  /// The budget for what was found, in bytes.
  private static let budget = 300_000

  var title: String { find.isEmpty ? "Search the contents" : "\(PageText.cut(find, to: 80).text) – search" }

  private var isOfOne: Bool { if case .snapshot = scope { true } else { false } }

  func fields(in _: PageFrame) -> Fields {
    var budget = PageBudget()
    var fields: Fields = [
      "action": PagePath.search(scope).description, "field": PageField.find.rawValue,
      "text": find.isEmpty ? nil : ["text": PageText.cut(find, to: 4000).text] as Fields,
      "help": PagePath.article("search").description,
      "mistake": mistake.map { PageText.cut($0, to: 2000).text },
      "outage": outage, "report": nil, "snapshot": nil, "scope": nil, "summary": nil, "snapshots": nil,
      "next": nil,
    ]
    switch scope {
    case .snapshot:
      if let record = snapshots.first?.record {
        fields["report"] = budget.part(800) { record.reportFields(&$0) }
        fields["snapshot"] =
          [
            "href": PagePath.snapshot(record.id).description, "short": record.shortID,
            "application": budget.name(record.applicationName, most: 300),
          ] as Fields
      }
    case .report(let report):
      fields["report"] =
        [
          "name": budget.name(report.description, most: 400), "href": PagePath.report(report).description,
        ] as Fields
      fields["scope"] = "of the newest \(Self.snapshots) snapshots of the report"
    case .newest: fields["scope"] = "of the newest \(Self.snapshots) snapshots"
    }
    guard !find.isEmpty, mistake == nil, outage == nil else { return fields }
    fields["summary"] = summary
    var results = PageBudget(Self.budget)
    var shown: [Fields] = []
    // In a list of snapshots, those in which nothing was found are only counted.
    for snapshot in snapshots where isOfOne || snapshot.isListed {
      guard let row = self.fields(of: snapshot, &results) else { break }
      shown.append(row)
    }
    fields["snapshots"] = shown
    fields["next"] = next.map { position in
      [
        "href": PagePath.search(scope, find: find, cursor: position).description,
        "text": "This page is not the whole result: a page ends after a time, or when it is full.",
      ] as Fields
    }
    return fields
  }

  private var summary: Fields {
    let places = snapshots.flatMap(\.files).reduce(0) { $0 + $1.findings.count }
    let files = snapshots.flatMap(\.files).count { !$0.findings.isEmpty }
    let searched = snapshots.reduce(into: (files: 0, bytes: Int64(0))) { sum, snapshot in
      sum.files += snapshot.searchedFiles
      sum.bytes += snapshot.searchedBytes
    }
    let sealed = snapshots.count(where: \.isSealed)
    let more = (isContinued ? " on this page" : "") + (next == nil ? "" : " so far")
    return [
      "found": places == 0
        ? "Nothing was found\(more)."
        : "\(Measures.count(places, "place")) in \(Measures.count(files, "file"))\(more).",
      "searched": "Searched \(Measures.count(searched.files, "file")), \(Measures.size(searched.bytes))"
        + (isOfOne
          ? "."
          : ", in \(Measures.count(snapshots.count - sealed, "snapshot"))."
            + (sealed == 0 ? "" : " \(Measures.count(sealed, "sealed snapshot")) can't be searched."))
        ,
    ]
  }

  /// The values of one snapshot; `nil` if they do not fit into the budget.
  private func fields(of snapshot: SearchedSnapshot, _ budget: inout PageBudget) -> Fields? {
    guard budget.take(800) else { return nil }
    let record = snapshot.record
    var fields: Fields = [
      "title": nil, "damaged": nil, "files": nil,
      "omitted": snapshot.omitted.map { PageText.cut($0, to: 1500).text },
    ]
    if !isOfOne {
      fields["title"] =
        [
          "href": PagePath.search(.snapshot(record.id), find: find).description, "short": record.shortID,
          "application": budget.name(record.applicationName, most: 200),
          "received": Measures.timeFields(record.receivedAt),
        ] as Fields
    }
    if snapshot.isDamaged { fields["damaged"] = Unreadable.damaged.description }
    var files: [Fields] = []
    for (index, file) in snapshot.files.enumerated() {
      let id = "f-\(record.shortID)-\(index)"
      guard let row = self.fields(of: file, record.id, id: id, &budget) else {
        fields["omitted"] = "The page is full: not all files in which something was found are listed."
        break
      }
      files.append(row)
    }
    fields["files"] = files
    return fields
  }

  private func fields(
    of file: SearchedSnapshot.File, _ snapshot: SnapshotID, id: String, _ budget: inout PageBudget
  ) -> Fields? {
    let path = PagePath.preview(snapshot, file: file.path).description
    guard budget.take(300 + path.utf8.count) else { return nil }
    let findings = file.findings
    let links = FoundLinks(snapshot: snapshot, file: file.path, find: find)
    var fields: Fields = [
      "id": id, "href": path, "heading": isOfOne ? "h2" : "h3",
      "name": budget.name(file.recording?.identifier ?? PortableName.decode(path: file.path), most: 300),
      "call": file.recording?.call.map { Measures.number($0) },
      "count": Measures.count(findings.count, "place"), "partly": nil, "rest": nil,
    ]
    if file.share < 1 {
      fields["partly"] =
        [
          "text":
            "Only the first \(Int(file.share * 100)) % of \(Measures.size(file.size)) were searched, because it would take longer.",
          "href": links.list,
        ] as Fields
    }
    var groups: [Fields] = []
    for group in findings.groups {
      guard let row = Self.fields(of: group, links, &budget) else { break }
      groups.append(row)
    }
    fields["groups"] = groups
    let rest = findings.count - findings.groups.prefix(groups.count).reduce(0) { $0 + $1.count }
    if rest > 0 { fields["rest"] = "\(Measures.count(rest, "more place")) in other parts of the file." }
    return fields
  }

  private static func fields(
    of group: ContentFindings.Group, _ links: FoundLinks, _ budget: inout PageBudget
  ) -> Fields? {
    let pattern = group.pattern.map { PageText.cut($0, to: 600) }
    guard budget.take(160 + (pattern?.length ?? 0)) else { return nil }
    var values: [Fields] = []
    for value in group.values {
      let texts = [value.excerpt.before, value.excerpt.match, value.excerpt.after].map {
        PageText.cut(PageText.inline($0), to: 500)
      }
      let href = links.href(of: value, in: group)
      guard budget.take(120 + (href?.utf8.count ?? 0) + texts.reduce(0) { $0 + $1.length }) else { break }
      let quote = value.type == .string ? "\"" : ""
      values.append([
        "href": href, "kind": value.type?.kind, "place": value.line.map { "line \(Measures.number($0 + 1))" },
        "before": quote + texts[0].text, "match": texts[1].text.isEmpty ? nil : texts[1].text,
        "after": texts[2].text + quote,
        "times": Measures.number(value.count),
      ])
    }
    let rest = group.count - group.values.prefix(values.count).reduce(0) { $0 + $1.count }
    let others =
      group.otherValues > 0
      ? "\(Measures.number(group.otherValues)) other values or more, in \(Measures.count(rest, "place"))."
      : "\(Measures.count(rest, "more place"))."
    return [
      "pattern": pattern?.text, "count": Measures.count(group.count, "place"), "values": values,
      "rest": rest > 0 ? others : nil,
    ]
  }
}

extension SearchedSnapshot {
  /// Whether there is something to say about the snapshot.
  fileprivate var isListed: Bool { !files.isEmpty || isDamaged || largeCount > 0 || damagedCount > 0 }

  /// What was not searched, in sentences.
  fileprivate var omitted: String? {
    func names(_ names: [String], _ count: Int) -> String {
      let listed = names.map { PageText.cut(PortableName.decode(path: $0), to: 100).text }.joined(
        separator: ", ")
      return count > names.count ? "\(listed) and \(Measures.number(count - names.count)) more" : listed
    }
    var sentences: [String] = []
    if binaryFiles > 0 {
      let are = binaryFiles == 1 ? "is" : "are"
      sentences.append(
        "\(Measures.count(binaryFiles, "file")) that \(are) neither text nor JSON nor a property list \(are) not searched."
      )
    }
    if largeCount > 0 { sentences.append("Too large to be searched: \(names(largeFiles, largeCount)).") }
    if damagedCount > 0 { sentences.append("Damaged: \(names(damagedFiles, damagedCount)).") }
    return sentences.isEmpty ? nil : sentences.joined(separator: " ")
  }
}

/// The links from what was found to the page of the file.
private struct FoundLinks {
  let snapshot: SnapshotID
  let file: String
  let find: String

  /// The page of the file with all hits.
  var list: String { path(find, hit: nil) }

  /// The page of the file with the first place of a value in view; without a number that it can show, that of all hits.
  func href(of value: ContentFindings.Value, in group: ContentFindings.Group) -> String? {
    if let query = value.type == nil ? nil : ContentFindings.query(of: value, in: group) {
      return path(query, hit: 1) + "#hit"
    }
    let most = value.type == nil ? TextView.Limits().matches : JSONSearch.Limits().hits
    return value.hit <= most ? path(find, hit: value.hit) + "#hit" : list
  }

  private func path(_ find: String, hit: Int?) -> String {
    var selection = FileSelection()
    (selection.find, selection.hit) = (find, hit)
    return PagePath.preview(snapshot, file: file, selection).description
  }
}

extension ContentType {
  /// The class of its colour.
  fileprivate var kind: String {
    switch self {
    case .string: "string"
    case .number: "number"
    case .boolean, .null: "literal"
    case .object, .array: "container"
    }
  }
}
