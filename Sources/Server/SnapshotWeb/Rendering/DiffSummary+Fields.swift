import SnapshotAPI
import SnapshotDiff
import SnapshotFormat

extension DiffSummary {
  /// The maximum size of one recording's differences in the page, in bytes.
  private static let entryLength = 9000

  /// Returns the values for the template `diff`, as much as `budget` allows.
  func fields(_ first: SnapshotRecord, _ second: SnapshotRecord, _ budget: inout PageBudget) -> Fields {
    let facts = budget.part(8000) { factRows(&$0) }
    let files = budget.part(8000) { fileRows(first, second, &$0) }
    let groups = self.groups(first, second, &budget)
    let shown = groups.reduce(0) { $0 + $1.count }
    let differing = counts.added + counts.removed + counts.changed
    return [
      "isEmpty": isEmpty,
      "alike": Measures.number(counts.alike),
      "added": Measures.number(counts.added),
      "removed": Measures.number(counts.removed),
      "changed": Measures.number(counts.changed),
      "otherFiles": counts.files > 0 ? Measures.count(counts.files, "other file") : nil,
      "cut": cut.map { PageText.cut($0, to: 600).text },
      "facts": facts,
      "hasFacts": !facts.isEmpty,
      "groups": groups.map { ["name": $0.name, "entries": $0.entries] as Fields },
      "hasGroups": !groups.isEmpty,
      "rest": differing > shown
        ? "\(Measures.count(differing - shown, "more changed recording")) not shown" : nil,
      "files": files,
      "hasFiles": !files.isEmpty,
      "filesRest": counts.files > files.count
        ? "and \(Measures.count(counts.files - files.count, "file")) more" : nil,
    ]
  }

  private func factRows(_ budget: inout PageBudget) -> [Fields] {
    var rows: [Fields] = []
    for fact in facts {
      guard budget.take(120) else { break }
      rows.append(
        Self.change(budget.name(fact.place.words, most: 200), fact.first, fact.second, &budget))
    }
    return rows
  }

  private func fileRows(
    _ first: SnapshotRecord, _ second: SnapshotRecord, _ budget: inout PageBudget
  ) -> [Fields] {
    var rows: [Fields] = []
    for file in files.prefix(PageLimits.rows) {
      let path = PagePath.preview((file.second == nil ? first : second).id, file: file.place).description
      guard budget.take(320 + PageText.length(path)) else { break }
      rows.append([
        "kind": file.kind.rawValue, "label": file.kind.label,
        "name": budget.name(file.place), "href": path,
        "first": file.first.flatMap(Int64.init).map(Measures.sizeFields),
        "second": file.second.flatMap(Int64.init).map(Measures.sizeFields),
      ])
    }
    return rows
  }

  // MARK: - Recordings

  private struct Group {
    let module: String?
    let name: Fields?
    var entries: [Fields] = []
    var count: Int { entries.count }
  }

  /// Returns the recordings, with consecutive ones of the same module in one group.
  private func groups(
    _ first: SnapshotRecord, _ second: SnapshotRecord, _ budget: inout PageBudget
  ) -> [Group] {
    var groups: [Group] = []
    for entry in recordings.prefix(PageLimits.rows) {
      guard budget.take(400) else { break }
      if groups.last.map({ $0.module != entry.module }) ?? true {
        groups.append(Group(module: entry.module, name: entry.module.map { budget.name($0) }))
      }
      let fields = budget.part(Self.entryLength) { entry.fields(first.id, second.id, &$0) }
      groups[groups.count - 1].entries.append(fields)
    }
    return groups
  }

  /// Returns the values for the template `change`.
  static func change(
    _ place: Fields, _ first: String?, _ second: String?, _ budget: inout PageBudget
  ) -> Fields {
    [
      "place": place,
      "first": first.map { budget.name($0, most: 1000) },
      "second": second.map { budget.name($0, most: 1000) },
    ]
  }
}

extension DiffSummary.Entry {
  fileprivate func fields(_ first: SnapshotID, _ second: SnapshotID, _ budget: inout PageBudget) -> Fields {
    switch kind {
    case .added(let recording):
      return Self.fields(.added, recording, in: second, nil, recording.size, &budget)
    case .removed(let recording):
      return Self.fields(.removed, recording, in: first, recording.size, nil, &budget)
    case .changed(let difference):
      let recording = difference.second
      var fields = Self.fields(
        .changed, recording, in: second, difference.first.size, recording.size, &budget)
      difference.detail.fill(&fields, &budget)
      return fields
    }
  }

  private static func fields(
    _ kind: ChangeKind, _ recording: Manifest.Recording, in snapshot: SnapshotID, _ first: Int64?,
    _ second: Int64?, _ budget: inout PageBudget
  ) -> Fields {
    let path = PagePath.preview(snapshot, file: recording.path).description
    return [
      "kind": kind.rawValue, "label": kind.label,
      "name": budget.name(recording.identifier),
      "call": recording.call.map { Measures.number($0) },
      "href": budget.take(PageText.length(path)) ? path : nil,
      "first": first.map(Measures.sizeFields),
      "second": second.map(Measures.sizeFields),
      "words": nil, "table": nil, "rest": nil,
    ]
  }
}

extension RecordingDifference.Detail {
  fileprivate func fill(_ fields: inout Fields, _ budget: inout PageBudget) {
    switch self {
    case .json(let changes, _) where changes.isEmpty:
      fields["words"] = "The JSON values are equal, but written differently."
    case .json(let changes, let isComplete):
      Self.fill(&fields, "Path", changes, isComplete, &budget) { $0.description }
    case .text(let changes, let isComplete):
      Self.fill(&fields, "Line", changes, isComplete, &budget) { Measures.number($0) }
    case .bytes(let offset):
      fields["words"] = "This is not text. The first difference is at byte \(Measures.number(offset))."
    case .beyondLimits:
      fields["words"] = "The recording is too large or too complex to be compared here."
    }
  }

  private static func fill<Place>(
    _ fields: inout Fields, _ placeLabel: String, _ changes: [Change<Place>], _ isComplete: Bool,
    _ budget: inout PageBudget, _ place: (Place) -> String
  ) {
    var rows: [Fields] = []
    for change in changes {
      guard budget.take(130) else { break }
      rows.append(
        DiffSummary.change(
          budget.name(place(change.place), most: 300), change.first, change.second, &budget))
    }
    fields["table"] = ["place": placeLabel, "rows": rows] as Fields
    if rows.count < changes.count {
      let more = isComplete ? "" : "at least "
      fields["rest"] = "and \(more)\(Measures.count(changes.count - rows.count, "change")) more"
    } else if !isComplete {
      fields["rest"] = "and further changes, which were not counted"
    }
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

extension SnapshotComparison.Fact {
  /// The label of the compared fact.
  var words: String {
    switch self {
    case .application: "Application"
    case .version: "Version"
    case .build: "Build"
    case .device: "Device"
    case .system: "System"
    case .locale: "Locale"
    case .redactions: "Redaction rules"
    case .module(let name): "Module \(name)"
    }
  }
}
