import AccessControl
import Foundation
import Observability
import SnapshotFormat
import SnapshotViewer
import SystemIO
import TestSupport
import Testing
import Webhooks

@testable import SnapshotDiff
@testable import SnapshotWeb

/// Pages with what apps usually record, or with what somebody wrote who means harm.
struct SamplePages: Sendable {
  /// What stands wherever an app may write what it likes.
  let text: @Sendable (String) -> String
  /// How many elements a list gets, against the usual number.
  let factor: Int

  /// What apps usually record.
  static let usual = SamplePages(text: { $0 }, factor: 1)
  /// Markup, quotation marks with accents, and control characters wherever there is text, and very much of it.
  static let hostile = SamplePages(
    text: {
      "\($0)\"><script>alert(1)</script>\"\u{301} onload=\"alert(1)\u{202E}\u{0}\u{7F}\n"
        + String(repeating: "<\"&'>", count: 300)
    },
    factor: 40)

  static let day = Date(timeIntervalSince1970: 1_795_219_200)

  func manifest(_ number: Int = 0, recordings: Int = 12) -> Manifest {
    Manifest(
      id: id(number), createdAt: Self.day.addingTimeInterval(Double(3600 * number)),
      application: .init(
        identifier: text("com.example.news"), version: text("3.1.\(number % 7)"), build: text("412")),
      device: .init(
        model: text("iPhone17,1"), system: text("iOS"), systemVersion: text("26.1"), locale: text("de_AT")),
      modules: [Module(name: text("Feed"), files: ["feed"])],
      recordings: factor > 1 ? [] : (0..<recordings).map(recording))
  }

  func id(_ number: Int) -> SnapshotID {
    SnapshotID(bytes: (0..<16).map { UInt8(truncatingIfNeeded: ($0 + 3) * 29 + number * 57) }) ?? SnapshotID()
  }

  func record(_ number: Int = 0, report: String = "BUG-123") throws -> SnapshotRecord {
    let report = factor > 1 ? String(repeating: "#", count: 120) + "/\(number)" : report
    var metadata = ["note": "the balance was negative", "reporter": "Mira"]
    if factor > 1 {
      metadata = Dictionary(uniqueKeysWithValues: (0..<200).map { (text("\($0)"), text("value")) })
    }
    return SnapshotRecord(
      id: id(number), report: try ReportID(validating: report), size: Int64(184_311 + number * 7919),
      sha256: .of([UInt8(number & 255)]),
      receivedAt: Self.day.addingTimeInterval(Double(-5000 * number) + 77_000),
      verified: number % 9 == 4 ? .damaged : .intact,
      manifest: manifest(number), metadata: metadata, attachedBy: "1f0c3a5b7d9e",
      expiresAt: Self.day.addingTimeInterval(86_400 * 30))
  }

  func recording(_ number: Int) -> Manifest.Recording {
    let names = ["news/feed", "news/article?id=7", "profile", "weather/today", "images/hero.jpg", "session"]
    let identifier = text(number < names.count ? names[number] : "\(names[number % names.count])/\(number)")
    return Manifest.Recording(
      identifier: identifier, path: "recordings/\(RecordingName(identifier))",
      size: Int64(190 + (number * number * 7919) % 600_000), sha256: .of([UInt8(number & 255)]),
      recordedAt: Self.day.addingTimeInterval(Double(number)), call: number % 5 == 3 ? number : nil,
      exchange: number % 4 == 0 ? exchange(number) : nil)
  }

  private func exchange(_ number: Int) -> Manifest.Exchange {
    let fields = (0..<(6 * factor)).map {
      Manifest.Exchange.Field(text("X-Field-\($0)"), text("value \($0)"))
    }
    var exchange = Manifest.Exchange(
      request: .init(
        method: text("POST"), url: text("https://example.com/feed?page=\(number)"), fields: fields),
      response: .init(status: 302, fields: fields),
      redirect: .init(method: "GET", url: text("https://example.com/")), startedAt: Self.day,
      responseAfter: 41,
      duration: 1052)
    exchange.request.body = .init(size: 2048, sha256: .of([1]))
    if factor > 1 { exchange.failure = .init(domain: text("Domain"), code: number) }
    return exchange
  }

  // MARK: - Pages

  func list(_ count: Int, next: String? = "c2Fsc2E") throws -> SnapshotList {
    SnapshotList(
      try (0..<count).map { try record($0, report: ["BUG-123", "BUG-97", "proj/issue/9", "#4567"][$0 % 4]) },
      next: next, total: 1284)
  }

  func home() throws -> HomePage {
    HomePage(
      list: try list(50),
      days: (0..<60).map { day in
        let count = [0, 3, 5, 12, 7, 1, 0, 9, 14, 22, 6, 2, 0, 4][day % 14]
        return ActivityDay(
          day: Self.day.addingTimeInterval(Double(day - 59) * 86_400), count: count,
          bytes: Int64(count * count * 310_127))
      })
  }

  private func found(_ count: Int) throws -> SnapshotList {
    var list = try list(count, next: nil)
    list.text = "negative value news"
    for index in list.records.indices { list.records[index].identifiers = [text("news/\(index)")] }
    return list
  }

  func search() throws -> HomePage {
    HomePage(
      search: SearchForm(
        [.text: text("negative balance"), .application: text("com.example.news"), .after: "2026-11-01"],
        mistake: factor > 1 ? text("‘after’ is a day.") : nil), list: try found(factor > 1 ? 50 : 3))
  }

  func report() throws -> ReportPage {
    var page = ReportPage(
      report: try record().report, list: try list(factor > 1 ? 50 : 7, next: nil), before: try record(60),
      upload: .init(isResumable: true))
    page.offersLinks = true
    for record in page.list.records.prefix(RecordedChanges.mostSnapshots - 1) {
      page.recorded[record.id] = recordedChanges()
    }
    return page
  }

  private func recordedChanges() -> RecordedChanges {
    let place = ComparisonSelection.Place(recording(0))
    let values = changes().map { ValueChange(recording: place, change: $0, countInRecording: 3) }
    return RecordedChanges(
      values: Array(values.prefix(SnapshotChanges.mostValues)), added: [text("news/new")],
      removed: [text("news/old")], others: [text("app.log")], count: 4, paths: [place: recording(0).path])
  }

  func comments() -> [SnapshotComment] {
    (0..<2 * factor).compactMap {
      SnapshotComment(
        text("I can reproduce this with build \($0)."), writtenAt: Self.day, author: text("Mira"),
        token: "1f0c")
    }
  }

  func webhooks() -> WebhooksPage {
    WebhooksPage(
      webhooks: (0..<16).compactMap { index in
        WebhookEndpoint("https://hooks\(index).example/secret").map { endpoint in
          (
            endpoint,
            WebhookEndpointState(
              waiting: 3, delivered: 12_000 * factor, failed: 1, isDisabled: index % 3 == 0,
              problem: index % 3 == 1 ? nil : text("status 410"))
          )
        }
      })
  }

  func history() throws -> HistoryPage {
    let actions = ["attachSnapshotAs", "readSnapshot", "fetchBundle", text("newAction")]
    let events = (0..<25 * factor).map {
      AuditTrail.Event(
        actions[$0 % 4], result: $0 % 5 == 4 ? .failed : .done, time: Self.day,
        token: $0 % 3 == 0 ? nil : "1f0c",
        usesLink: $0 % 3 == 0, address: "192.0.2.\($0 % 250)")
    }
    return HistoryPage(
      record: try record(), trail: AuditTrail(events, isCut: factor > 1), tokenNames: ["1f0c": text("Mira")])
  }

  func contents() -> BundleContents {
    let missing = (0..<(3 * factor)).map { text("news/missing/\($0)") }
    let modules = ["Feed", "Profile", "Weather", "Payments"].enumerated().flatMap { index, name in
      (0..<max(1, factor / 4)).map { copy in
        ModuleSummary(
          name: text(copy == 0 ? name : "\(name) \(copy)"), wanted: 4 + index + missing.count,
          missing: index % 2 == 0 ? 0 : missing.count,
          missingIdentifiers: index % 2 == 0 ? [] : missing)
      }
    }
    let long = String(repeating: "ä", count: 500)
    let name = { (name: String) in factor > 1 ? "\(name)\"\u{301}<b>\(long)" : name }
    return BundleContents(
      formatVersion: 1, redactions: [text("usual secrets"), text("account numbers")],
      redactionCount: factor > 1 ? 7000 : 2,
      modules: modules,
      moduleCount: modules.count * factor,
      dropped: (0..<3 * factor).map {
        .init(identifier: text("news/video/\($0)"), reason: .waiting, count: $0 + 1, bytes: 60_000_000)
      },
      recordings: (0..<64 * factor).map { number in
        let recording = recording(number)
        return .init(
          identifier: recording.identifier, path: recording.path, call: recording.call, size: recording.size,
          recordedAt: recording.recordedAt,
          outcome: recording.exchange.map { "\($0.status), \(Measures.number($0.duration)) ms" },
          module: number % 3 == 2 ? nil : number % 3, exchangeProblem: recording.exchangeProblem)
      },
      attachments: (0..<(2 * min(factor, 30))).map {
        FileEntry(
          path: "attachments/" + name($0 % 2 == 0 ? "screenshot\($0).png" : "log\($0).txt"), size: 48_112,
          isImage: $0 % 2 == 0)
      },
      files: (0..<3 * factor).map {
        FileEntry(
          path: "app-data/" + name("Documents/file\($0).json"), size: Int64($0) * 1337, isImage: false)
      })
  }

  /// The list, of whose recordings every third has a problem or is redacted.
  func contentsList(_ selection: ListSelection = ListSelection()) -> ContentsList {
    let contents = contents()
    let states = contents.recordings.indices.map { number -> ContentState? in
      [
        ContentState(.json), ContentState(.json, problem: .invalidJSON(line: 1, column: 9)),
        ContentState(.jsonLines, redactedPlaces: 7), nil,
        ContentState(.html, problem: .errorPage(status: 502)),
        ContentState(.binary),
      ][number % 6]
    }
    return ContentsList(ExaminedContents(contents, states: states), selection)
  }

  func snapshot(_ selected: SnapshotPage.Selected = .panel(.details)) throws -> SnapshotPage {
    var record = try record()
    record.isPinned = true
    record.comments = comments()
    return SnapshotPage(
      record: record, contents: .success(contentsList()), selected: selected,
      origin: "https://snapshots.example.com",
      actions: [.delete, .pin, .unpin, .link, .comment],
      neighbours: Neighbours(older: try self.record(1), newer: try self.record(9)),
      cameFrom: ListPath("/?text=\(String(repeating: "a", count: 40 * factor))"), showsHistory: true)
  }

  func preview(
    _ content: FilePreview.Content, _ view: FileSelection.View? = nil, remark: String? = nil
  ) throws -> PreviewPage {
    PreviewPage(
      record: try record(), path: recording(0).path, size: 8412, recording: recording(0),
      preview: FilePreview(content, view: view, views: view.map { [$0, .hex] } ?? [], remark: remark))
  }

  private func quoted(_ string: String) throws -> String {
    String(decoding: try JSONEncoder().encode(text(string)), as: UTF8.self)
  }

  /// A JSON document.
  func json() throws -> JSONView {
    let items = try (0..<(9 * factor)).map { item in
      """
      {"id":\(item),"headline":\(try quoted("A headline that says nothing of number \(item)")),
      "isRead":\(item % 2 == 0 ? "true" : "null"),"author":{"name":"Mira \\u00e4"}}
      """
    }
    let document = """
      {"title":\(try quoted("Latest news")),"total":12345678901234567890.10,"empty":[],
      "items":[\(items.joined(separator: ","))]}
      """
    return try JSONView.of(document)
  }

  private func changes() -> [Change<JSONPath>] {
    (0..<(3 * factor)).map { number in
      let path = JSONPath([.key("items"), .index(number), .key(text("title"))])
      let first = number % 3 == 1 ? nil : text("\"Yesterday\"")
      return Change(
        place: path, first: first, second: number % 3 == 2 ? nil : text("\"Today, and a little more\""))
    }
  }

  private func details() -> [RecordingDifference.Detail] {
    let lines = (1..<4).map { Change(place: $0, first: text("one line"), second: text("another line")) }
    return [
      .json(Changes(changes(), of: factor == 1 ? nil : 100_000)), .text(Changes(lines)),
      .bytes(firstDifference: 4711), .beyondLimits, .json(Changes()), .omitted,
    ]
  }

  func diff() throws -> DiffPage {
    let details = details()
    var entries: [DiffSummary.Entry] = [
      .init(module: text("Feed"), .added(recording(8))), .init(module: text("Feed"), .removed(recording(9))),
    ]
    for number in 0..<(factor > 1 ? 40 : 6) {
      let difference = RecordingDifference(
        first: recording(number), second: recording(number), detail: details[number % 6])
      entries.append(.init(module: number < 3 ? text("Feed") : nil, .changed(difference)))
    }
    let facts: [Change<SnapshotComparison.Fact>] = [
      Change(place: .version, first: text("3.1.1"), second: text("3.1.0")),
      Change(place: .module(text("Feed")), first: nil, second: text("feed, profile")),
    ]
    let files = (0..<min(50, 2 * factor)).map { number in
      Change(
        place: "attachments/" + text("log\(number).txt"), first: number % 2 == 0 ? "100" : nil,
        second: "20311")
    }
    let counts = DiffSummary.Counts(
      added: factor, removed: factor, changed: 50_000 * (factor - 1) + 5, alike: 51, files: 2 * factor)
    var page = DiffPage(
      first: try record(1), second: try record(0),
      content: .list(
        DiffSummary(
          facts: facts, counts: counts, recordings: entries,
          next: factor > 1 ? .init(recording(0)) : nil, files: files,
          nextFile: factor > 1 ? text("attachments/log.txt") : nil)))
    page.filter = try ComparisonFilter(rules: (0..<factor).map { "key\($0)" })
    page.origin = "https://example.com"
    return page
  }

  /// What a search in the contents found.
  func contents(_ scope: SearchPage.Scope) throws -> SearchPage {
    var page = SearchPage(scope: scope, find: text("headline"))
    page.next = SearchPosition(id(0), file: 100)
    let search = ContentSearch(try ContentQuery("headline"))
    let items = try (0..<(30 * factor)).map { item in
      "{\(try quoted("key\(item % 30)")):{\"headline\":\(try quoted("A headline \(item)"))}}"
    }
    let lines = (0..<30).map { text("A headline \($0)") }.joined(separator: "\n")
    for number in 0..<min(20, 3 * factor) {
      var snapshot = SearchedSnapshot(record: try record(number))
      for (index, file) in ["[\(items.joined(separator: ","))]", lines].enumerated() {
        let bytes = Array(file.utf8)
        let outcome = try search.search(size: Int64(bytes.count)) {
          var rest: [UInt8]? = bytes
          return { rest.take() }
        }
        guard case .searched(let findings) = outcome else { continue }
        snapshot.files.append(
          .init(
            path: "attachments/" + text("log\(index).txt"), size: 8412,
            recording: index == 0 ? recording(0) : nil, findings: findings, share: index == 0 ? 1 : 0.61))
      }
      snapshot.binaryFiles = 7
      (snapshot.largeFiles, snapshot.largeCount) = ([text("attachments/video.mov")], 2)
      (snapshot.damagedFiles, snapshot.damagedCount) = ([text("attachments/log.txt")], 1)
      snapshot.isDamaged = number % 9 == 4
      page.snapshots.append(snapshot)
    }
    return page
  }

  func comparedRecording() throws -> DiffPage {
    var page = try diff()
    page.selection.item = .recording(.init(recording(0)))
    page.content = .item(
      DiffItem(
        first: .init(path: recording(0).path, size: 1), second: .init(path: recording(0).path, size: 1),
        detail: details()[0]))
    return page
  }

  /// The comparisons of a text and of two images.
  func comparedFiles() throws -> (text: DiffPage, images: DiffPage) {
    func log(_ changed: Int) -> [UInt8] {
      let lines = (0..<(30 * factor)).map { $0 % 9 == changed ? text("line \($0) \(changed)") : "line \($0)" }
      return Array(lines.joined(separator: "\n").utf8)
    }
    let rows = TextComparison(log(3), log(4), limits: .item, limit: 100)?.rows() ?? []
    let version = DiffItem.Version(path: "attachments/" + text("log.txt"), size: 100)
    let image = try #require(ImageHeader(Array("GIF89a".utf8) + [146, 4, 228, 9]))
    var page = try diff()
    page.selection.item = .file(version.path)
    page.content = .item(
      DiffItem(first: version, second: version, detail: details()[1], lines: rows))
    var images = page
    images.content = .item(
      DiffItem(
        first: version, second: version, detail: .bytes(firstDifference: 9),
        images: .init(first: image, second: image)))
    return (page, images)
  }

  func choice() throws -> DiffPage {
    DiffPage(
      first: try record(0), entered: text("6f0c1c56"), mistake: .init(.with, "That is no UUID."),
      candidates: try (1..<30).map { try record($0) })
  }

  /// Every page, by a name for it.
  func all() throws -> [(name: String, bytes: [UInt8])] { try lists() + single() + previews() + messages() }

  private var frame: PageFrame {
    PageFrame(
      account: .signedIn(name: text("Mira’s laptop")), formToken: "0123456789abcdef", notice: .pinned)
  }
  private static let open = PageFrame(account: .open, formToken: "1")
  private static let signedOut = PageFrame(account: .signedOut, formToken: "1")

  private func lists() throws -> [(name: String, bytes: [UInt8])] {
    let pages = try PageRenderer()
    let outage = SnapshotList([], outage: "The catalogue is being made anew.")
    return [
      ("home", pages.render(try home(), in: frame)),
      ("search", pages.render(try search(), in: frame)),
      (
        "deletion",
        pages.render(
          DeletionPage(
            search: SearchForm([.text: text("negative")]),
            records: try (0..<DeletionPage.maximum).map { try record($0) },
            hasMore: true), in: frame)
      ),
      ("nothing", pages.render(HomePage(search: try search().search, list: SnapshotList([])), in: frame)),
      ("empty", pages.render(HomePage(list: SnapshotList([])), in: Self.open)),
      ("outage", pages.render(HomePage(list: outage), in: frame)),
      ("report", pages.render(try report(), in: frame)),
    ]
  }

  private func single() throws -> [(name: String, bytes: [UInt8])] {
    let pages = try PageRenderer()
    let damaged = SnapshotPage(
      record: try record(4), contents: .failure(Unreadable("The bundle is damaged.")),
      origin: "http://127.0.0.1:8080")
    return [
      ("snapshot", pages.render(try snapshot(), in: frame)),
      ("comments", pages.render(try snapshot(.panel(.comments)), in: frame)),
      ("first file", pages.render(try snapshot(.first(preview(.empty))), in: frame)),
      ("damaged", pages.render(damaged, in: Self.open)),
      ("diff", pages.render(try diff(), in: frame)),
      ("diff of a recording", pages.render(try comparedRecording(), in: frame)),
      ("diff of a text", pages.render(try comparedFiles().text, in: frame)),
      ("diff of images", pages.render(try comparedFiles().images, in: frame)),
      ("choice", pages.render(try choice(), in: frame)),
      ("webhooks", pages.render(webhooks(), in: frame)),
      ("history", pages.render(try history(), in: frame)),
      ("contents", pages.render(try contents(.snapshot(id(0))), in: frame)),
      ("contents of a report", pages.render(try contents(.report(record().report)), in: frame)),
    ]
  }

  private func previews() throws -> [(name: String, bytes: [UInt8])] {
    let pages = try PageRenderer()
    let lines =
      try TextView(
        .of((0..<(40 * factor)).map { text("\tline \($0) of a log") }.joined(separator: "\n")))?.lines(
        from: 0) ?? []
    let json = try json()
    func place(_ tokens: String...) throws -> JSONPlace { try json.place(at: tokens) ?? json.root }
    guard let table = try JSONTable(json, place("items")),
      let string = try JSONStringPage(json, place("title")),
      let image = ImageHeader(Array("GIF89a".utf8) + [146, 4, 228, 9])
    else { return [] }
    let formatted = try JSONFormatted(json, from: 3)
    let hits = try JSONSearch(ContentQuery("headline")).hits(in: json, count: 50)
    let rows = (0..<(20 * factor)).map { row in (0..<16).map { UInt8(truncatingIfNeeded: row * 16 + $0) } }
    let cut = "The file is too long for a page: this is its beginning."
    var hit = try preview(.outline(JSONOutline(json, json.root)), .tree)
    hit.selection.find = text("headline")
    let found = try #require(hits.hits.first)
    hit.preview.hit = .init(
      number: 3, count: 17, isCut: true, place: .value(found.path, index: found.index), excerpt: found.excerpt
    )
    var decoded = try preview(.outline(JSONOutline(json, json.root)), .tree)
    decoded.selection.decode = "/\(text("payload"))"
    decoded.preview.decoded = try .init(
      path: JSONPath([.key(text("payload"))]), text: #require(EncodedText("{\"a\":1}", isCut: false)), size: 7
    )
    var compared = try preview(.outline(JSONOutline(json, json.root)), .tree)
    let other = try JSONView.of(
      """
      {"title":\(try quoted("Older news")),"gone":\(try quoted("gone")),"total":[1],"items":[
      {"id":0,"headline":1,"author":\(try quoted("Mira"))},{"id":700,\(try quoted("key")):1}]}
      """)
    let marks = try ValueMarks(
      JSONOutline(json, json.root), of: json, in: other, filter: ComparisonFilter())
    compared.selection.with = id(3)
    compared.comparison = FileComparison(
      other: try record(3), path: compared.path, outcome: .marked(marks))
    return [
      ("compared", pages.render(compared, in: frame)),
      ("tree", pages.render(try preview(.outline(JSONOutline(json, json.root)), .tree), in: frame)),
      ("table", pages.render(try preview(.table(table), .table), in: frame)),
      ("formatted", pages.render(try preview(.formatted(formatted, count: 9000), .formatted), in: frame)),
      ("hits", pages.render(try preview(.hits(hits), .tree), in: frame)),
      ("hit", pages.render(hit, in: frame)),
      ("decoded", pages.render(decoded, in: frame)),
      ("string", pages.render(try preview(.string(string), .tree), in: frame)),
      ("text", pages.render(try preview(.text(lines, count: 9000), .text, remark: cut), in: frame)),
      ("hex", pages.render(try preview(.hex(rows, count: 16 * rows.count)), in: frame)),
      ("image", pages.render(try preview(.image(image), .image), in: frame)),
      ("nothing", pages.render(try preview(.empty), in: frame)),
      ("unreadable", pages.render(try preview(.unreadable("It is damaged.")), in: frame)),
    ]
  }

  /// A link to attach to the report with the longest id.
  private func attachLink() throws -> AttachLinkState {
    let report = try record().report
    let link = try #require(AttachLink(report: report, count: 5, bytes: 500_000_000, maker: "1f0c3a5b7d9e"))
    let token = AccessToken(
      id: "0f0c3a5b7d9e", scopes: [.attach], createdAt: Self.day, expiresAt: Self.day, link: link)
    return AttachLinkState(token: token, link: link, state: .valid)
  }

  private func attachLinks() throws -> AttachLinksPage {
    AttachLinksPage(
      report: try record().report,
      valid: Array(repeating: try attachLink(), count: AttachLink.Limits.perReport),
      revocable: ["0f0c3a5b7d9e"])
  }

  private func attachPage() throws -> AttachPage {
    AttachPage(link: try attachLink(), secret: "snapshot_0f0c3a5b7d9e_abc", isResumable: true)
  }

  private func messages() throws -> [(name: String, bytes: [UInt8])] {
    let pages = try PageRenderer()
    let record = try record()
    let signature = String(repeating: "a", count: 43)
    let link = LinkPage(
      record: record,
      link:
        "https://snapshots.example.com/v1/snapshots/\(record.id).zip?expires=1795308400&signature=\(signature)",
      expiresAt: Self.day)
    let signIn = SignInPage(
      next: "/snapshots/\(record.id)", reason: text("This token is not known here."), isMistake: true)
    let problem = ProblemPage(
      status: 404, title: "There is no such snapshot", detail: text("Nothing has this UUID."),
      requestID: "0f3c5a7b9d1e")
    return [
      ("link", pages.render(link, in: frame)),
      ("attach-links", pages.render(try attachLinks(), in: frame)),
      ("attach", pages.render(try attachPage(), in: Self.signedOut)),
      ("attach-link", pages.render(NewAttachLinkPage(link: try attachLink(), address: link.link), in: frame)),
      ("sign-in", pages.render(signIn, in: Self.signedOut)),
      ("signed-out", pages.render(SignedOutPage(), in: Self.signedOut)),
      ("problem", pages.render(problem, in: frame)),
    ]
  }
}

extension ViewedBytes {
  /// The bytes of `text`, in a temporary file.
  static func of(_ text: String) throws -> ViewedBytes {
    let folder = try TemporaryFolder()
    let file = try File(temporaryIn: folder.path)
    try file.write(Array(text.utf8), at: 0)
    return try ViewedBytes(file)
  }
}

extension JSONView {
  /// A view of `text`.
  static func of(_ text: String) throws -> JSONView {
    struct InvalidSample: Error {}
    let bytes = try ViewedBytes.of(text)
    guard case .index(let index) = try JSONIndex.of(bytes) else { throw InvalidSample() }
    return JSONView(bytes, index)
  }
}

extension PageRenderer {
  /// Renders the page of a file, beside a usual list.
  func render(_ file: PreviewPage, in frame: PageFrame) -> [UInt8] {
    let page = SnapshotPage(
      record: file.record, contents: .success(SamplePages.usual.contentsList(file.selection.list)),
      selected: .file(file), origin: "https://snapshots.example.com")
    return render(page, in: frame)
  }
}
