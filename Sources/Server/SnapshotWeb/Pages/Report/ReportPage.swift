import SnapshotAPI
import SnapshotFormat
import SnapshotStore

/// The page `/reports/{report}`: the snapshots of a report as a timeline, and a form that uploads one.
struct ReportPage: Sendable {
  /// The maximum number of snapshots on the page.
  static let pageLength = 25

  /// The form that uploads a bundle to the report.
  struct Upload: Sendable, Hashable {
    /// Whether a script can upload in several requests, so that an upload can be resumed.
    var isResumable: Bool

    /// Creates a form.
    init(isResumable: Bool) { self.isResumable = isResumable }
  }

  /// The report.
  var report: ReportID
  /// Its snapshots, newest first. At most ``pageLength`` are shown.
  var list: SnapshotList
  /// The snapshot before the oldest one of the list, which is on the next page.
  var before: SnapshotRecord?
  /// What changed in the recordings since the snapshot before, for the newest ones of the page.
  var recorded: [SnapshotID: RecordedChanges] = [:]
  /// The form, if the visitor may upload.
  var upload: Upload?
  /// Whether the visitor may make links to attach.
  var offersLinks = false
}

extension ReportPage: Page {
  var template: PageTemplates.Name { .report }
  /// The maximum size of the texts of one snapshot in the timeline, in bytes.
  private static let entryTexts = 700
  /// The maximum size of its changed values, in bytes. Only the newest snapshots have these.
  private static let valueTexts = 2400

  var title: String { report.description }

  func fields(in frame: PageFrame) -> Fields {
    var budget = PageBudget(800)
    var list = list
    list.records = Array(list.records.prefix(Self.pageLength))
    var fields: Fields = [
      "report": budget.name(report.description, most: 800),
      "list": list.fields(showsReport: false) { PagePath.report(report, cursor: $0).description },
      "entries": list.records.indices.map { entry($0, of: list.records) },
      "compare": list.records.count >= 2 && !list.isContinued
        ? PagePath.diff(list.records[1].id, with: list.records[0].id).description : nil,
      "upload": nil,
      "attachLinks": offersLinks ? PagePath.attachLinks(report).description : nil,
      "tracker": frame.tracker.address(of: report),
    ]
    if let upload {
      fields["upload"] =
        [
          "action": PagePath.attach(report).description,
          "name": report.description,
          "uploads": upload.isResumable ? PagePath.uploads.description : nil,
          "secret": nil,
          "scripts": PageAsset.uploadScripts,
        ] as Fields
    }
    return fields
  }

  /// Returns the values of one snapshot of the timeline, with its changes since the one before.
  private func entry(_ index: Int, of records: [SnapshotRecord]) -> Fields {
    var budget = PageBudget(Self.entryTexts)
    let record = records[index]
    var fields = record.rowFields(showsReport: false, &budget)
    let older = index + 1 < records.count ? records[index + 1] : before
    fields["changes"] = older.map {
      var values = PageBudget(Self.valueTexts)
      return SnapshotChanges(from: $0, to: record, recorded: recorded[record.id]).fields(&budget, &values)
    }
    return fields
  }
}

extension SnapshotChanges {
  /// The maximum number of changes that are listed.
  private static let mostLines = 8
  /// The maximum number of modules that are named in one line.
  private static let mostModules = 3

  /// Returns the values for the template `changes`.
  func fields(_ budget: inout PageBudget) -> Fields {
    var values = PageBudget(0)
    return fields(&budget, &values)
  }

  /// Returns the values for the template `changes`.
  /// - Parameter values: The budget for the changed values.
  func fields(_ budget: inout PageBudget, _ values: inout PageBudget) -> Fields {
    let rows = recorded?.valueRows(from: older.id, to: newer.id, &values) ?? []
    let lines = ((recorded?.lines ?? []) + self.lines).prefix(Self.mostLines).map {
      budget.name($0, most: 110)
    }
    let isSame = recorded.map { $0.count == 0 } ?? false
    return [
      "values": rows,
      "hasValues": !rows.isEmpty,
      "lines": lines,
      "isSame": isSame,
      "isEmpty": lines.isEmpty && rows.isEmpty && !isSame,
      "compare": older.sealed == nil && newer.sealed == nil
        ? PagePath.diff(older.id, with: newer.id).description : nil,
    ]
  }

  /// The changes, each in a few words.
  var lines: [String] {
    guard older.sealed == nil, newer.sealed == nil else {
      return ["Sealed, so that the server can't compare the contents"]
    }
    func change(_ name: String, _ first: String, _ second: String) -> String? {
      first == second ? nil : "\(name): \(first) → \(second)"
    }
    func version(_ record: SnapshotRecord) -> String {
      "\(record.application.version) (\(record.application.build))"
    }
    func system(_ record: SnapshotRecord) -> String {
      "\(record.device.system) \(record.device.systemVersion)"
    }
    var lines = [
      change("Application", older.application.identifier, newer.application.identifier),
      change("Version", version(older), version(newer)),
      change("Device", older.device.model, newer.device.model),
      change("System", system(older), system(newer)),
    ]
    let (before, after) = (older.modules.map(\.name), newer.modules.map(\.name))
    lines.append(Self.modules("Modules added", after.filter { !before.contains($0) }))
    lines.append(Self.modules("Modules removed", before.filter { !after.contains($0) }))
    if let before = older.completeModules, let after = newer.completeModules {
      lines.append(change("Complete modules", Measures.number(before), Measures.number(after)))
    }
    lines.append(
      change("Recordings", Measures.number(older.recordingCount), Measures.number(newer.recordingCount)))
    if older.size != newer.size {
      let sign = newer.size > older.size ? "+" : "−"
      let difference = Measures.size(Int64(clamping: (newer.size - older.size).magnitude))
      lines.append("Size: \(sign)\(difference)")
    }
    return lines.compactMap { $0 }
  }

  private static func modules(_ label: String, _ names: [String]) -> String? {
    guard !names.isEmpty else { return nil }
    let rest = names.count - min(names.count, mostModules)
    return "\(label): " + names.prefix(mostModules).joined(separator: ", ")
      + (rest > 0 ? " and \(Measures.number(rest)) more" : "")
  }
}

extension Neighbours {
  /// Returns the values for the template `neighbours`; `nil` if there are none.
  func fields(of record: SnapshotRecord, _ budget: inout PageBudget) -> Fields? {
    guard older != nil || newer != nil else { return nil }
    func entry(_ label: String, _ other: SnapshotRecord, _ changes: SnapshotChanges) -> Fields {
      [
        "label": label,
        "href": PagePath.snapshot(other.id).description,
        "short": other.shortID,
        "received": Measures.timeFields(other.receivedAt),
        "changes": changes.fields(&budget),
      ]
    }
    return [
      "report": PagePath.report(record.report).description,
      "older": older.map { entry("Previous snapshot", $0, SnapshotChanges(from: $0, to: record)) },
      "newer": newer.map { entry("Next snapshot", $0, SnapshotChanges(from: record, to: $0)) },
    ]
  }
}
