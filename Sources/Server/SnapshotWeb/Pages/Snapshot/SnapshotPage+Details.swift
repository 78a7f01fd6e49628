import AccessControl
import SnapshotAPI
import SnapshotFormat
import SnapshotStore

/// The details of a snapshot: its record, the commands to fetch it, and what can be done with it.
extension SnapshotPage {
  func details(isOpen: Bool, _ frame: PageFrame, _ budget: inout PageBudget) -> Fields {
    let note = budget.part(8000) { self.note(&$0) }
    let metadata = budget.part(4000) { self.metadata(&$0) }
    let contents: BundleContents? = if case .success(let list) = contents { list.contents } else { nil }
    return [
      "words": note == nil && metadata.isEmpty
        ? nil : ["note": note, "fields": metadata, "hasFields": !metadata.isEmpty] as Fields,
      "facts": budget.part(4000) { facts(in: frame, &$0) },
      "history": showsHistory ? PagePath.history(record.id).description : nil,
      "neighbours": budget.part(2400) { neighbours.fields(of: record, &$0) },
      "commands": frame.hasOneUser ? nil : ["rows": commands(isOpen: isOpen)] as Fields,
      "actions": frame.formToken == nil || frame.hasOneUser ? nil : actionFields,
      "modules": contents.flatMap { contents in
        budget.part(10_000) { contents.moduleFields(of: record.id, &$0) }
      },
      "dropped": contents.flatMap { contents in budget.part(8000) { contents.droppedFields(&$0) } },
    ]
  }

  private func facts(in frame: PageFrame, _ budget: inout PageBudget) -> [Fields] {
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
      frame.hasOneUser ? nil : time("Received", Measures.timeFields(record.receivedAt)),
    ].compactMap { $0 }
    if let end = record.expiresAt { facts.append(time("Expires", Measures.timeFields(end))) }
    facts.append(text("Integrity", record.verified.words))
    if let sealed = record.sealed {
      let recipients = sealed.recipients.map { $0.recipient ?? "an unknown key (\($0.type))" }
      facts.append(text("Sealed to", recipients.joined(separator: ", ")))
      if let former = sealed.rewrapped { facts.append(code("Sealed again from", former.description)) }
      if let inner = sealed.bundle { facts.append(code("UUID of the inner bundle", inner.description)) }
    }
    switch Caller.Credential(account: record.attachedBy) {
    case .user(let name): facts.append(text("Uploaded by", name))
    case .token(let id): facts.append(text("Uploaded with token", id))
    case .none, .link: break
    }
    if case .success(let list) = contents, list.contents.redactionCount > 0 {
      let contents = list.contents
      let names = contents.redactions.prefix(PageLimits.names).joined(separator: ", ")
      let rest = contents.redactionCount - min(contents.redactions.count, PageLimits.names)
      facts.append(text("Redaction rules", names + (rest > 0 ? " and \(Measures.number(rest)) more" : "")))
    }
    if let id = record.manifestID { facts.append(code("UUID in the manifest", id.description)) }
    facts.append(code("SHA-256 of the bundle", record.sha256.description))
    return facts
  }

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
    guard record.sealed == nil else {
      let server = "--server \(Self.shellWord(origin))"
      return [
        ["label": "UUID", "text": record.id.description],
        ["label": "snapshot view", "text": "snapshot view \(record.id) --identity FILE \(server)"],
        ["label": "snapshot fetch", "text": "snapshot fetch \(record.id) --identity FILE \(server)"],
        ["label": "curl", "text": "curl -OJ \(token)\(Self.shellWord(address))"],
        [
          "label": "Without this software",
          "text": "unzip -p \(record.id).zip sealed.age | age -d -i FILE > inner.zip",
        ],
      ]
    }
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
