import SnapshotAPI
import SnapshotFormat
import SnapshotStore

extension SnapshotPage {
  var title: String { "\(record.applicationName) – \(record.shortID)" }

  func fields(in frame: PageFrame) -> Fields {
    var budget = PageBudget()
    let note = budget.part(8000) { self.note(&$0) }
    let metadata = budget.part(4000) { self.metadata(&$0) }
    var fields: Fields = [
      "id": record.id.description,
      "short": record.shortID,
      "applicationName": budget.name(record.applicationName, most: 300),
      "report": budget.part(800) { record.reportFields(&$0) },
      "isPinned": record.isPinned,
      "isDamaged": record.verified == .damaged,
      "compare": PagePath.diff(record.id).description,
      "bundle": PagePath.bundle(record.id).description,
      "bundleSize": Measures.sizeFields(record.size),
      "facts": budget.part(4000) { facts(&$0) },
      "note": note,
      "metadata": metadata.isEmpty ? nil : ["rows": metadata] as Fields,
      "commands": commands(isOpen: frame.account == .open),
      "actions": frame.formToken == nil ? nil : actionFields,
      "unreadable": nil,
      "contents": nil,
    ]
    switch contents {
    case .success(let contents):
      fields["contents"] = contents.fields(of: record.id, selection, &budget)
    case .failure(let reason):
      fields["unreadable"] = PageText.cut(reason.description, to: 2000).text
    }
    return fields
  }

  // MARK: - The record

  private func facts(_ budget: inout PageBudget) -> [Fields] {
    func text(_ label: String, _ text: String) -> Fields {
      ["label": label, "name": budget.name(text), "time": nil, "size": nil, "code": nil]
    }
    func code(_ label: String, _ text: String) -> Fields {
      ["label": label, "code": text, "name": nil, "time": nil, "size": nil]
    }
    func time(_ label: String, _ time: Fields) -> Fields {
      ["label": label, "time": time, "name": nil, "size": nil, "code": nil]
    }
    let (application, device) = (record.application, record.device)
    var facts = [
      text("Application", application.identifier),
      text("Version", "\(application.version) (\(application.build))"),
      text("Device", device.model),
      text("System", "\(device.system) \(device.systemVersion)"),
      text("Locale", device.locale),
      time("Recorded", Measures.timeFields(record.createdAt)),
      time("Received", Measures.timeFields(record.receivedAt)),
    ]
    if let end = record.expiresAt { facts.append(time("Expires", Measures.timeFields(end))) }
    facts.append(text("Checked", record.verified.words))
    if let token = record.attachedBy { facts.append(text("Attached with token", token)) }
    if case .success(let contents) = contents, contents.redactionCount > 0 {
      let names = contents.redactions.prefix(PageLimits.names).joined(separator: ", ")
      let rest = contents.redactionCount - min(contents.redactions.count, PageLimits.names)
      facts.append(text("Redacted by", names + (rest > 0 ? " and \(Measures.number(rest)) more" : "")))
    }
    if let id = record.manifestID { facts.append(code("UUID in the manifest", id.description)) }
    facts.append(code("SHA-256 of the bundle", record.sha256.description))
    return facts
  }

  /// The size of what the template adds to a line of the note, in bytes.
  private static let lineMarkup = 4

  /// The user's words, truncated to the budget.
  private func note(_ budget: inout PageBudget) -> Fields? {
    guard let note = record.metadata[SnapshotRecord.noteKey], !note.isEmpty else { return nil }
    var lines: [Fields] = []
    for line in note.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      guard budget.take(Self.lineMarkup) else { return ["lines": lines, "isCut": true] }
      let shown = PageText.cut(String(line), to: budget.left)
      guard budget.take(shown.length) else { return ["lines": lines, "isCut": true] }
      lines.append(["text": shown.text])
      if !shown.isWhole { return ["lines": lines, "isCut": true] }
    }
    return ["lines": lines, "isCut": false]
  }

  private func metadata(_ budget: inout PageBudget) -> [Fields] {
    var rows: [Fields] = []
    for (name, value) in record.metadata.sorted(by: { $0.key < $1.key }) where name != SnapshotRecord.noteKey
    {
      guard budget.take(60) else { break }
      rows.append(["name": budget.name(name, most: 100), "value": budget.name(value, most: 1000)])
    }
    return rows
  }

  // MARK: - Commands and actions

  private func commands(isOpen: Bool) -> [Fields] {
    let address = "\(origin)/v1/snapshots/\(record.id).zip"
    let token = isOpen ? "" : "-H \"Authorization: Bearer $SNAPSHOT_TOKEN\" "
    return [
      ["label": "UUID", "text": record.id.description],
      ["label": "curl", "text": "curl -OJ \(token)\(Self.shellWord(address))"],
      [
        "label": "snapshot fetch",
        "text": "snapshot fetch \(record.id) --into \(record.shortID) --server \(Self.shellWord(origin))",
      ],
      ["label": "Link for the app", "text": "snapshots://activate/\(record.id)"],
    ]
  }

  /// Returns `text` quoted as a single word for a shell.
  private static func shellWord(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      default: "-._~:/".utf8.contains(byte)
      }
    }
    return isPlain
      ? text
      : "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }

  private var actionFields: Fields? {
    guard !actions.isEmpty else { return nil }
    func path(_ action: Action) -> String? {
      actions.contains(action) ? PagePath.action(action, record.id).description : nil
    }
    return [
      "delete": path(.delete),
      "pin": record.isPinned ? nil : path(.pin),
      "unpin": record.isPinned ? path(.unpin) : nil,
      "link": path(.link),
      "secondsField": PageField.seconds.rawValue,
    ]
  }
}

extension SnapshotRecord.Verification {
  /// The verification's state in a few words.
  var words: String {
    switch self {
    case .pending: "Not yet"
    case .intact: "All checksums match"
    case .damaged: "Damaged"
    }
  }
}
