import SnapshotAPI
import SnapshotFormat
import SnapshotStore

extension SnapshotPage: Page {
  var template: PageTemplates.Name { .snapshot }
  var title: String { "\(record.applicationName) – \(record.shortID)" }

  func fields(in frame: PageFrame) -> Fields {
    var budget = PageBudget()
    let note = budget.part(8000) { self.note(&$0) }
    let metadata = budget.part(4000) { self.metadata(&$0) }
    var pictures: [Fields] = []
    if case .success(let contents) = contents {
      pictures = budget.part(6000) { contents.pictures(of: record.id, &$0) }
    }
    let comments = budget.part(6000) { self.comments(&$0) }
    let next = cameFrom?.description ?? ""
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
      "words": words(note, metadata, pictures),
      "comments": commentFields(comments, allows(.comment, frame)),
      "neighbours": budget.part(2400) { neighbours.fields(of: record, &$0) },
      "history": showsHistory ? PagePath.history(record.id).description : nil,
      "next": next.isEmpty || PageText.length(next) > Self.nextLength ? nil : next,
      "nextField": PageField.next.rawValue,
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

  /// The maximum size of the path of the list that the visitor came from, in bytes. Each form contains it.
  private static let nextLength = 500

  private func words(_ note: Fields?, _ fields: [Fields], _ pictures: [Fields]) -> Fields? {
    guard note != nil || !fields.isEmpty || !pictures.isEmpty else { return nil }
    return [
      "note": note, "fields": fields, "hasFields": !fields.isEmpty, "pictures": pictures,
      "hasPictures": !pictures.isEmpty,
    ]
  }

  private func commentFields(_ rows: [Fields], _ mayComment: Bool) -> Fields? {
    let total = record.comments?.count ?? 0
    guard total > 0 || mayComment else { return nil }
    return [
      "rows": rows,
      "count": total > 0 ? Measures.count(total, "comment") : nil,
      "earlier": earlier(than: rows),
      "action": mayComment ? PagePath.action(.comment, record.id).description : nil,
      "field": PageField.comment.rawValue,
      "length": SnapshotComment.Limits.default.textBytes,
    ]
  }

  private func allows(_ action: Action, _ frame: PageFrame) -> Bool {
    frame.formToken != nil && actions.contains(action)
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
      application.version == SnapshotRecord.noVersion
        ? nil : text("Version", "\(application.version) (\(application.build))"),
      text("Device", device.model),
      text("System", "\(device.system) \(device.systemVersion)"),
      text("Locale", device.locale),
      time("Created", Measures.timeFields(record.createdAt)),
      time("Received", Measures.timeFields(record.receivedAt)),
    ].compactMap { $0 }
    if let end = record.expiresAt { facts.append(time("Expires", Measures.timeFields(end))) }
    facts.append(text("Integrity", record.verified.words))
    if let token = record.attachedBy { facts.append(text("Uploaded with token", token)) }
    if case .success(let contents) = contents, contents.redactionCount > 0 {
      let names = contents.redactions.prefix(PageLimits.names).joined(separator: ", ")
      let rest = contents.redactionCount - min(contents.redactions.count, PageLimits.names)
      facts.append(text("Redaction rules", names + (rest > 0 ? " and \(Measures.number(rest)) more" : "")))
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

  /// The newest comments that fit into the budget, oldest first.
  private func comments(_ budget: inout PageBudget) -> [Fields] {
    var rows: [Fields] = []
    for comment in (record.comments ?? []).reversed() {
      let text = PageText.cut(comment.text, to: SnapshotComment.Limits.default.textBytes)
      let lines = text.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      guard budget.take(200 + text.length + lines.count * Self.lineMarkup) else { break }
      rows.append([
        "author": comment.author.map { budget.name($0, most: 80) },
        "written": Measures.timeFields(comment.writtenAt),
        "lines": lines.map { ["text": String($0)] as Fields },
        "isCut": !text.isWhole,
      ])
    }
    return rows.reversed()
  }

  /// A sentence about the comments that are not shown, or `nil` if all are.
  private func earlier(than shown: [Fields]) -> String? {
    let rest = (record.comments?.count ?? 0) - shown.count
    return rest > 0
      ? "\(Measures.count(rest, "earlier comment")) not shown here. The API returns all comments." : nil
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
      ["label": "Open in the app", "text": "snapshots://activate/\(record.id)"],
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
      "markGood": record.isGood ? nil : path(.markGood),
      "unmarkGood": record.isGood ? path(.unmarkGood) : nil,
      "link": path(.link),
      "secondsField": PageField.seconds.rawValue,
    ]
  }
}

extension SnapshotRecord.Verification {
  /// The verification's state in a few words.
  var words: String {
    switch self {
    case .pending: "Not checked yet"
    case .intact: "All checksums are correct"
    case .damaged: "Damaged"
    }
  }
}
