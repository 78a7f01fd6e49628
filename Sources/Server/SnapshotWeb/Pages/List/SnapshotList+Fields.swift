import SnapshotFormat
import SnapshotStore

extension SnapshotList {
  /// The maximum size of the names in each row, in bytes, so that a full page does not exceed its limit.
  private static let rowNames = 300
  /// The maximum size of the texts in each row that show why it was found, in bytes.
  private static let rowMatches = 450

  /// Returns the values for the template `snapshots`.
  ///
  /// - Parameter path: returns the path of the page at a cursor, or of the first page.
  func fields(showsReport: Bool, path: (String?) -> String) -> Fields {
    var finder = text.map { EvidenceFinder($0) }
    let rows = records.prefix(text == nil ? Self.pageLength : Self.searchLength).map { record in
      var budget = PageBudget(Self.rowNames)
      var row = record.rowFields(showsReport: showsReport, &budget)
      if let evidence = finder?.evidence(in: record), !evidence.isEmpty {
        var budget = PageBudget(Self.rowMatches)
        row["matches"] = evidence.map { $0.fields(&budget) }
        if evidence.contains(where: { $0.place == .note }) { row["note"] = nil }
      }
      return row
    }
    return [
      "outage": outage,
      "hasRows": !rows.isEmpty,
      "isEmpty": rows.isEmpty && outage == nil,
      "rows": rows,
      "showsReport": showsReport,
      "count": total.map { (totalIsExact ? "" : "more than ") + Measures.count($0, "snapshot") },
      "pager": isContinued || next != nil
        ? [
          "label": "Pages of snapshots",
          "range": nil,
          "previous": nil,
          "first": isContinued ? path(nil) : nil,
          "next": next.map { path($0) },
        ] as Fields : nil,
    ]
  }
}

extension SnapshotRecord {
  /// The first part of the id, which is sufficient to distinguish the snapshots of a list.
  var shortID: String { String(id.description.prefix(8)) }

  /// The app and its version on one line.
  var applicationName: String {
    if application == .hidden, sealed != nil { return "Sealed snapshot" }
    return application.version == Self.noVersion
      ? application.identifier : "\(application.identifier) \(application.version)"
  }

  /// Whether the clear head of a sealed bundle does not show the number of recordings.
  var hidesRecordings: Bool { sealed != nil && recordingCount == 0 }

  /// The version in a snapshot of something that has none, such as a folder.
  static let noVersion = "-"

  /// Returns the values of a row for the template `snapshots`.
  func rowFields(showsReport: Bool, _ budget: inout PageBudget) -> Fields {
    var row: Fields = [
      "href": PagePath.snapshot(id).description,
      "short": shortID,
      "id": id.description,
      "application": budget.name(
        application == .hidden ? applicationName : application.identifier, most: 80),
      "version": application.version == Self.noVersion ? nil : budget.name(application.version, most: 40),
      "device": budget.name(device == .hidden ? "device hidden" : device.model, most: 60),
      "system": budget.name(
        device == .hidden ? "system hidden" : "\(device.system) \(device.systemVersion)", most: 60),
      "recordings": hidesRecordings ? "?" : Measures.number(recordingCount),
      "recordingsNoun": recordingCount == 1 ? "recording" : "recordings",
      "problems": problemCount.flatMap { $0 > 0 ? Measures.count($0, "problem") : nil },
      "size": Measures.sizeFields(size),
      "received": Measures.timeFields(receivedAt),
      "isPinned": isPinned,
      "isGood": isGood,
      "isDamaged": verified == .damaged,
      "isSealed": sealed != nil,
      "report": nil,
      "note": nil,
      "modules": completeness.flatMap(\.words),
      "matches": nil,
    ]
    if showsReport { row["report"] = reportFields(&budget) }
    if let note = metadata[SnapshotRecord.noteKey], let line = note.split(whereSeparator: \.isNewline).first {
      row["note"] = budget.name(String(line.prefix(200)), most: 120)
    }
    return row
  }

  /// Returns the report, with a link to its page if the budget allows it.
  func reportFields(_ budget: inout PageBudget) -> Fields {
    let name = budget.name(report.description, most: 128)
    let path = PagePath.report(report).description
    return ["name": name, "href": budget.take(PageText.length(path)) ? path : nil]
  }
}

extension SnapshotRecord.Completeness {
  /// The numbers in words; `nil` without modules.
  fileprivate var words: String? {
    guard total > 0 else { return nil }
    return "\(Measures.number(complete)) of \(Measures.count(total, "module")) complete"
  }
}

extension SearchEvidence {
  /// Returns the place, and its text within the budget.
  fileprivate func fields(_ budget: inout PageBudget) -> Fields {
    let pieces = pieces.compactMap { piece -> Fields? in
      let shown = PageText.cut(piece.text, to: budget.left)
      guard !shown.text.isEmpty, budget.take(shown.length) else { return nil }
      return ["text": shown.text, "isMatch": piece.isMatch]
    }
    return ["place": place.words, "pieces": pieces]
  }
}

extension SearchEvidence.Place {
  /// The place in words.
  fileprivate var words: String {
    switch self {
    case .id: "UUID"
    case .manifestID: "UUID in the manifest"
    case .report: "Report"
    case .note: "Note"
    case .field: "Field"
    case .identifier: "Recorded identifier"
    case .module: "Module"
    case .device: "Device"
    case .system: "System"
    case .application: "Application"
    }
  }
}
