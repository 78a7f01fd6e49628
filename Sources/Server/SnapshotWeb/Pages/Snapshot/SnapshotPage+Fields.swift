import HTTPSemantics
import SnapshotAPI
import SnapshotFormat
import SnapshotStore

extension SnapshotPage: Page {
  var template: PageTemplates.Name { .snapshot }

  var title: String {
    guard case .file(let page) = selected else { return "\(record.applicationName) – \(record.shortID)" }
    return page.title
  }

  func fields(in frame: PageFrame) -> Fields {
    var budget = PageBudget()
    let next = cameFrom?.description ?? ""
    let isDetails = if case .panel(.details) = selected { true } else { false }
    let isComments = if case .panel(.comments) = selected { true } else { false }
    var isListAlone = true
    if case .file = selected { isListAlone = false }
    if isDetails || isComments { isListAlone = false }
    return [
      "id": record.id.description,
      "short": record.shortID,
      "isListAlone": isListAlone,
      "snapshot": PagePath.snapshot(record.id, list).description,
      "head": budget.part(10_000) { head(frame.tracker, &$0) },
      "list": listFields(&budget),
      "unreadable": record.sealed == nil ? unreadable : nil,
      "sealed": record.sealed == nil ? nil : unreadable,
      "file": selected.file?.fields,
      "details": isDetails ? details(isOpen: frame.account == .open, frame, &budget) : nil,
      "comments": isComments ? commentFields(allows(.comment, frame), &budget) : nil,
      "next": next.isEmpty || PageText.length(next) > Self.nextLength ? nil : next,
      "nextField": PageField.next.rawValue,
    ]
  }

  /// The maximum size of the path of the list that the visitor came from, in bytes. Each form contains it.
  private static let nextLength = 500

  private var list: ListSelection {
    if case .success(let list) = contents { list.selection } else { ListSelection() }
  }

  private func listFields(_ budget: inout PageBudget) -> Fields? {
    guard case .success(let list) = contents else { return nil }
    return list.fields(of: record.id, &budget)
  }

  private var unreadable: String? {
    if case .failure(let reason) = contents { PageText.cut(reason.description, to: 2000).text } else { nil }
  }

  func allows(_ action: Action, _ frame: PageFrame) -> Bool {
    frame.formToken != nil && actions.contains(action)
  }

  // MARK: - Above the list

  /// The most bytes of the user's words above the list. The details contain all of them.
  private static let wordsLength = 600

  /// Whose snapshot it is, in two lines.
  private func head(_ tracker: IssueTracker, _ budget: inout PageBudget) -> Fields {
    let (application, device) = (record.application, record.device)
    var pictures: [Fields] = []
    if case .success(let list) = contents {
      pictures = budget.part(4000) { list.contents.pictures(of: record.id, &$0) }
    }
    let words = record.metadata[SnapshotRecord.noteKey].map {
      PageText.cut($0.split(whereSeparator: \.isNewline).joined(separator: " "), to: Self.wordsLength).text
    }
    var facts =
      device == .hidden ? ["device hidden"] : [device.model, "\(device.system) \(device.systemVersion)"]
    if application.version != SnapshotRecord.noVersion { facts.insert("(\(application.build))", at: 0) }
    let count = record.comments?.count ?? 0
    var comments = actions.contains(.comment) ? "Comment" : nil
    if count > 0 { comments = Measures.count(count, "comment") }
    return [
      "report": budget.part(800) { record.reportFields(&$0) },
      "application": budget.name(record.applicationName, most: 200),
      "facts": budget.name(facts.joined(separator: " · "), most: 200),
      "created": Measures.secondFields(record.createdAt),
      "isPinned": record.isPinned,
      "isDamaged": record.verified == .damaged,
      "isSealed": record.sealed != nil,
      "copy": ["text": record.id.description, "label": "the UUID"] as Fields,
      "tracker": tracker.address(of: record.report),
      "newIssue": tracker.newIssue(about: record),
      "compare": record.sealed != nil
        ? nil : (other.map { PagePath.diff($0.id, with: record.id) } ?? .diff(record.id)).description,
      "otherName": other.map { budget.name($0.versionName, most: 60) },
      "bundle": PagePath.bundle(record.id).description,
      "bundleSize": Measures.sizeFields(record.size),
      "words": words,
      "pictures": pictures,
      "comments": comments,
      "commentsHref": path(of: .comments),
      "detailsHref": path(of: .details),
    ]
  }

  /// The path of a panel, which keeps the list that the visitor came from.
  private func path(of panel: Panel) -> String {
    let path = PagePath.panel(record.id, panel).description
    guard let next = cameFrom?.description, PageText.length(next) <= Self.nextLength else { return path }
    return path + "&\(PageField.next.rawValue)=\(PercentCoding.encode(next))"
  }

  // MARK: - Comments

  private func commentFields(_ mayComment: Bool, _ budget: inout PageBudget) -> Fields {
    let total = record.comments?.count ?? 0
    let rows = budget.part(40_000) { comments(&$0) }
    return [
      "rows": rows,
      "count": total > 0 ? Measures.count(total, "comment") : nil,
      "earlier": earlier(than: rows),
      "action": mayComment ? PagePath.action(.comment, record.id).description : nil,
      "field": PageField.comment.rawValue,
      "length": SnapshotComment.Limits.default.textBytes,
    ]
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

  /// The size of what the template adds to a line of a text, in bytes.
  static let lineMarkup = 4

  /// A sentence about the comments that are not shown, or `nil` if all are.
  private func earlier(than shown: [Fields]) -> String? {
    let rest = (record.comments?.count ?? 0) - shown.count
    return rest > 0
      ? "\(Measures.count(rest, "earlier comment")) not shown here. The API returns all comments." : nil
  }
}

extension SnapshotRecord {
  /// The version, or the beginning of the UUID if there is none.
  fileprivate var versionName: String {
    application.version == Self.noVersion ? shortID : application.version
  }
}
