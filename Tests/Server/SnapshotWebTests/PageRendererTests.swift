import Foundation
import SnapshotDiff
import SnapshotFormat
import TestSupport
import Testing

@testable import SnapshotWeb

struct PageRendererTests {
  private static let samples = [SamplePages.usual, .hostile]
  private static let pages = samples.map { sample in Result { try sample.all() } }

  @Test(arguments: samples.indices)
  func `every page is HTML that no policy and no reader stumbles over`(_ sample: Int) throws {
    for (name, bytes) in try Self.pages[sample].get() {
      let page = try HTMLPage(bytes)
      #expect(page.violations == [], "\(name)")
    }
  }

  @Test(arguments: samples.indices)
  func
    `no page is larger than 60 KB, or 120 KB with a list of contents, or 500 KB of a file or of what is compared or deleted`(
      _ sample: Int
    ) throws
  {
    let files: Set = [
      "compared", "tree", "table", "formatted", "hits", "hit", "decoded", "string", "text", "hex", "diff",
      "diff of a text", "diff of images", "diff of a recording", "deletion", "contents",
      "contents of a report",
    ]
    let lists: Set = ["snapshot", "comments", "first file", "damaged", "image", "nothing", "unreadable"]
    for (name, bytes) in try Self.pages[sample].get() {
      let limit = files.contains(name) ? 500_000 : lists.contains(name) ? 120_000 : 60_000
      #expect(bytes.count <= limit, "\(name)")
    }
  }

  @Test func `what is untrusted neither runs, nor hides, nor turns the page around`() throws {
    let unseen = Set("\u{0}\u{7F}\u{202E}".unicodeScalars)
    for (name, bytes) in try Self.pages[1].get() {
      let page = try HTMLPage(bytes)
      let scripts = page.all("script").compactMap { $0.attributes["src"] }
      let known =
        ["report", "attach"].contains(name) ? [PageAsset.script, .packScript, .uploadScript] : [.script]
      #expect(scripts == known.map { PagePath.asset($0).description }, "\(name)")
      #expect(page.elements.allSatisfy { !$0.attributes.keys.contains("onload") }, "\(name)")
      #expect(
        String(decoding: bytes, as: UTF8.self).unicodeScalars.allSatisfy { !unseen.contains($0) }, "\(name)")
    }
  }

  @Test func `an exchange is shown with request, response and timing`() throws {
    let sample = SamplePages.usual
    let page = try HTMLPage(
      try PageRenderer().render(try sample.preview(.empty), in: PageFrame(account: .open)))
    let text = page.all("main").map(\.text).joined()
    for part in [
      "POST https://example.com/feed?page=0", "302", "GET https://example.com/",
      "response after 41 ms, ended after 1,052 ms", "Request fields (6)", "Response fields (6)", "X-Field-5",
    ] {
      #expect(text.contains(part), "\(part)")
    }
    let body = "/files/attachments/exchange-requests/"
    #expect(page.all("a").contains { $0.attributes["href"]?.contains(body) == true })
    let list = try HTMLPage(
      try PageRenderer().render(try sample.snapshot(), in: PageFrame(account: .open)))
    #expect(list.all("main").map(\.text).joined().contains("302, 1,052 ms"))
  }

  @Test func `a list of usual snapshots has all of its fifty rows`() throws {
    let page = try HTMLPage(
      try PageRenderer().render(try SamplePages.usual.home(), in: PageFrame(account: .open)))
    #expect(page.all("a").filter { $0.attributes["href"]?.hasPrefix("/snapshots/") == true }.count == 50)
  }

  @Test func `a list has as many recordings as there is room for, and the next page goes on behind them`()
    throws
  {
    for sample in Self.samples {
      let page = try HTMLPage(try PageRenderer().render(try sample.snapshot(), in: PageFrame(account: .open)))
      let rows = page.all("a").filter { $0.attributes["href"]?.contains("/files/recordings/") == true }.count
      let next = page.all("a").first { $0.attributes["href"]?.contains("?recordings=") == true }
      #expect(rows > 0)
      if sample.factor == 1 {
        #expect(rows == 64 && next == nil)
      } else {
        #expect(next?.attributes["href"]?.hasSuffix("?recordings=\(rows)") == true)
      }
    }
  }

  private func list(_ selection: ListSelection) throws -> [String] {
    var page = try SamplePages.usual.snapshot()
    page.contents = .success(SamplePages.usual.contentsList(selection))
    let html = try HTMLPage(try PageRenderer().render(page, in: PageFrame(account: .open)))
    return html.all("li").filter { $0.ancestors.contains("nav") }.map {
      $0.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
  }

  @Test func `recordings stand below their modules with type, state, time and size`() throws {
    let rows = try list(ListSelection())
    #expect(rows[0] == "{} news/feed 302, 1,052 ms 00:00:00 190 B")
    #expect(rows[1].hasPrefix("· session") || rows[1].hasPrefix("· weather/today"))
    #expect(rows.contains { $0.contains("invalid JSON, 1:9") })
    #expect(rows.contains { $0.contains("7 redacted") })
    #expect(rows.contains { $0.hasPrefix("⊘ news/missing/0 missing") })
    #expect(rows.contains { $0.hasPrefix("⊘ news/video/0") && $0.contains("dropped: 60 MB") })
  }

  @Test func `a list can be in the order of problems, time and size`() throws {
    let problems = try list(ListSelection(order: .problems))
    let isBad = problems.prefix(64).map { $0.contains("invalid JSON") || $0.contains("error page") }
    #expect(isBad.prefix { $0 }.count == isBad.count { $0 } && isBad.contains(true))
    let times = try list(ListSelection(order: .time)).prefix(64).compactMap {
      $0.split(separator: " ").dropLast(2).last
    }
    #expect(times == times.sorted())
    let sizes = try list(ListSelection(order: .size))
    #expect(sizes[0].contains("kB") && sizes[63].contains(" B"))
  }

  // MARK: - Forms

  private func forms(_ account: PageFrame.Account, _ token: String?, _ actions: Set<SnapshotPage.Action>)
    throws
    -> [String]
  {
    var actionsShown: [String] = []
    for panel in [SnapshotPage.Panel.details, .comments] {
      var model = try SamplePages.usual.snapshot(.panel(panel))
      model.record.isPinned = false
      model.actions = actions
      let page = try HTMLPage(
        try PageRenderer().render(model, in: PageFrame(account: account, formToken: token)))
      let forms = page.all("form").filter { $0.attributes["method"] == "post" }
      actionsShown += forms.compactMap {
        $0.attributes["action"]?.split(separator: "/").last.map(String.init)
      }
    }
    return actionsShown
  }

  @Test func `a page has the forms for what may be done, and no others`() throws {
    #expect(try forms(.open, "1", [.delete, .pin, .unpin, .link]) == ["pin", "link", "delete"])
    #expect(try forms(.open, "1", [.link]) == ["link"])
    #expect(try forms(.open, "1", [.comment]) == ["comment"])
    #expect(try forms(.open, "1", []) == [])
    #expect(try forms(.signedIn(name: "laptop"), "1", [.delete]) == ["sign-out", "delete", "sign-out"])
  }

  @Test func `the user's words and images come before the list, and the list before what is selected`() throws
  {
    let html = String(
      decoding: try PageRenderer().render(
        try SamplePages.usual.snapshot(.first(SamplePages.usual.preview(.empty))),
        in: PageFrame(account: .open, formToken: "1")), as: UTF8.self)
    let places = [
      "<q>", "class=\"thumb\"", "class=\"work-list\"", "class=\"work-pane\"", "The file is empty.",
    ]
    .map { html.range(of: $0)?.lowerBound }
    #expect(!places.contains(nil))
    #expect(places.compactMap(\.self) == places.compactMap(\.self).sorted())
  }

  @Test func `a narrow screen shows the list alone unless something is selected`() throws {
    for (selected, isAlone) in [
      (SnapshotPage.Selected.nothing, true), (.first(try SamplePages.usual.preview(.empty)), true),
      (.file(try SamplePages.usual.preview(.empty)), false), (.panel(.details), false),
      (.panel(.comments), false),
    ] {
      let html = try text {
        $0.render(try SamplePages.usual.snapshot(selected), in: PageFrame(account: .open))
      }
      #expect(html.contains("alone-list") == isAlone)
    }
  }

  @Test func `a timeline shows the changes from one snapshot to the next, also across pages`() throws {
    var page = try SamplePages.usual.report()
    page.recorded = [:]
    page.list.records = Array(page.list.records.prefix(2))
    page.list.records[0].recordingCount = page.list.records[1].recordingCount + 2
    page.list.records[0].device = page.list.records[1].device
    page.before = page.list.records[1]
    page.before?.size += 5000
    let html = try HTMLPage(try PageRenderer().render(page, in: PageFrame(account: .open, formToken: "1")))
    let lines = html.all("li").filter { $0.ancestors.contains("li") }.map(\.text)
    #expect(
      lines == [
        "Version: 3.1.1 (412) → 3.1.0 (412)", "Recordings: 12 → 14", "Size: −7.9 kB", "Size: −5.0 kB",
      ])
    page.before = nil
    let first = try text { $0.render(page, in: PageFrame(account: .open)) }
    #expect(!first.contains("−5.0 kB"))
  }

  @Test func `comments that don't fit into a page are counted, and the newest are shown`() throws {
    var page = try SamplePages.usual.snapshot(.panel(.comments))
    page.record.comments = (1...100).compactMap {
      SnapshotComment("comment \($0) " + String(repeating: "x", count: 500), writtenAt: SamplePages.day)
    }
    let html = try text { $0.render(page, in: PageFrame(account: .open)) }
    #expect(html.contains("comment 100 ") && !html.contains("comment 1 "))
    #expect(html.contains(" earlier comments not shown here."))
  }

  @Test func `a page without a form token has no form that changes anything`() throws {
    #expect(try forms(.open, nil, [.delete, .pin, .unpin, .link]) == [])
  }

  @Test func `every form that changes something sends the form token`() throws {
    // The form of a link to attach has the secret of the link instead.
    for (name, bytes) in try Self.pages[0].get() where name != "attach" {
      let page = try HTMLPage(bytes)
      let posts = page.all("form").filter { $0.attributes["method"] == "post" }.count
      let tokens = page.all("input").filter { $0.attributes["name"] == PageField.formToken.rawValue }
      #expect(tokens.count == posts, "\(name)")
      #expect(tokens.allSatisfy { $0.attributes["value"]?.isEmpty == false }, "\(name)")
    }
  }

  @Test func `a pinned snapshot can be unpinned, and not pinned again`() throws {
    let html = String(
      decoding: try PageRenderer().render(
        try SamplePages.usual.snapshot(), in: PageFrame(account: .open, formToken: "1")), as: UTF8.self)
    #expect(html.contains("/unpin\""))
    #expect(!html.contains("/pin\""))
  }

  // MARK: - What is said

  private func text(_ render: (PageRenderer) throws -> [UInt8]) throws -> String {
    String(decoding: try render(try PageRenderer()), as: UTF8.self)
  }

  @Test func `who needs no token is told of none`() throws {
    let page = try SamplePages.usual.snapshot()
    let open = try text { $0.render(page, in: PageFrame(account: .open)) }
    let signedIn = try text { $0.render(page, in: PageFrame(account: .signedIn(name: "laptop"))) }
    #expect(open.contains("curl -OJ https://snapshots.example.com/v1/snapshots/\(page.record.id).zip<"))
    #expect(signedIn.contains("curl -OJ -H &quot;Authorization: Bearer $SNAPSHOT_TOKEN&quot; https://"))
  }

  @Test func `what was dropped is listed with its reason, also beside a missing identifier`() throws {
    var contents = SamplePages.usual.contents()
    contents.dropped = Array(contents.dropped.prefix(2))
    contents.modules[1].missingIdentifiers = ["news/video/0"]
    contents.modules[1].reasons = ["news/video/0": "dropped: 60 MB, too much waited for the disk"]
    var page = try SamplePages.usual.snapshot()
    page.contents = .success(ContentsList(ExaminedContents(contents)))
    let html = try text { $0.render(page, in: PageFrame(account: .open)) }
    let reason = "dropped: 60 MB, too much waited for the disk"
    #expect(html.contains("news/video/0</bdi></code> <span class=\"note\"><bdi>\(reason)</bdi></span>"))
    #expect(html.contains(">Not recorded</h2>"))
    #expect(html.contains("<td>Dropped: <bdi>too much waited for the disk</bdi></td>"))
    #expect(html.contains("<span class=\"note\">2 calls</span>"))
  }

  @Test func `an origin with anything in it is one word to a shell`() throws {
    var page = try SamplePages.usual.snapshot()
    page.origin = "https://a$(reboot)'b"
    let html = try text { $0.render(page, in: PageFrame(account: .open)) }
    #expect(html.contains("--server &#39;https://a$(reboot)&#39;\\&#39;&#39;b&#39;<"))
  }

  @Test func `a search shows again what was entered, and what is wrong with it`() throws {
    let page = HomePage(
      search: SearchForm([.text: "a \"b\"", .device: "", .after: "soon"], mistake: "‘after’ is a day."),
      list: SnapshotList([]))
    let html = try HTMLPage(try PageRenderer().render(page, in: PageFrame(account: .open)))
    let values = html.all("input").compactMap { $0.attributes["value"] }.filter { !$0.isEmpty }
    #expect(values == ["a &quot;b&quot;", "soon"])
    #expect(html.all("p").contains { $0.attributes["role"] == "alert" && $0.text == "‘after’ is a day." })
    #expect(html.all("details").first?.attributes.keys.contains("open") == true)
  }

  @Test func `an empty store says how to attach the first snapshot`() throws {
    #expect(
      try text { $0.render(HomePage(list: SnapshotList([])), in: PageFrame(account: .open)) }
        .contains("snapshot upload FOLDER-OR-ZIP --report BUG-123"))
    let search = HomePage(search: SearchForm([.text: "x"]), list: SnapshotList([]))
    #expect(
      try text { $0.render(search, in: PageFrame(account: .open)) }.contains(
        "No snapshots match this search."))
  }

  @Test func `a search that found nothing explains what can be found, and how to search without filters`()
    throws
  {
    let page = HomePage(search: SearchForm([.text: "a b", .device: "x"]), list: SnapshotList([]))
    let html = try text { $0.render(page, in: PageFrame(account: .open)) }
    for part in ["balan", "BUG-12", "1f0c3a5b", "iPhone14", "残高", "received before", "href=\"/?text=a%20b\""]
    {
      #expect(html.contains(part), "\(part)")
    }
    let plain = HomePage(search: SearchForm([.text: "a"]), list: SnapshotList([]))
    #expect(!(try text { $0.render(plain, in: PageFrame(account: .open)) }.contains("without the filters")))
  }

  @Test func `a result shows the match, and how many modules are complete`() throws {
    var list = try SamplePages.usual.list(2)
    list.text = "nega fee"
    list.records[0].identifiers = ["feed"]
    list.records[1].identifiers = ["other <feed>"]
    let page = try HTMLPage(
      try PageRenderer().render(
        HomePage(search: SearchForm([.text: "nega fee"]), list: list), in: PageFrame(account: .open)))
    #expect(page.all("mark").map(\.text) == ["nega", "fee", "nega", "fee"])
    let rows = page.all("tr").dropFirst().map(\.text)
    #expect(rows[0].contains("1 of 1 module complete"))
    #expect(rows[0].contains("Recorded identifier: feed"))
    #expect(rows[1].contains("0 of 1 module complete"))
    #expect(rows[1].contains("Note: the balance was negative"))
    #expect(!rows[1].contains("“the balance"))
    #expect(rows[1].contains("other &lt;feed&gt;"))
  }

  @Test func `the newest snapshots are before the charts`() throws {
    let html = try text { $0.render(try SamplePages.usual.home(), in: PageFrame(account: .open)) }
    let (list, chart) = (html.range(of: "id=\"found\""), html.range(of: "id=\"activity\""))
    #expect(try #require(list).lowerBound < #require(chart).lowerBound)
  }

  @Test func `a problem says what, why and under which id it is in the log`() throws {
    let page = ProblemPage(status: 410, title: "It was deleted", detail: "Somebody did.", requestID: "abc")
    let html = try text { $0.render(page, in: PageFrame(account: .open)) }
    for part in ["410", "It was deleted – Data Snapshots", "Somebody did.", ">abc<"] {
      #expect(html.contains(part))
    }
  }

  @Test func `who has not signed in has nothing to search with, and a way in`() throws {
    let page = try HTMLPage(try PageRenderer().render(SignedOutPage(), in: PageFrame(account: .signedOut)))
    #expect(page.all("form").isEmpty)
    #expect(page.all("a").contains { $0.attributes["href"] == "/sign-in" })
  }

  @Test func `what was just done is said`() throws {
    for notice in PageNotice.allCases {
      let page = try HTMLPage(
        try PageRenderer().render(
          HomePage(list: SnapshotList([])), in: PageFrame(account: .open, notice: notice)))
      #expect(page.all("p").contains { $0.attributes["role"] == "status" && !$0.text.isEmpty })
    }
  }

  // MARK: - Comparisons

  @Test func `recordings that differ are told of by their modules`() throws {
    let page = try HTMLPage(
      try PageRenderer().render(try SamplePages.usual.diff(), in: PageFrame(account: .open)))
    #expect(page.all("h3").map(\.text) == ["Feed", "No module"])
    #expect(page.all("del").contains { $0.text.contains("Yesterday") })
    #expect(page.all("ins").contains { $0.text.contains("Today") })
  }

  @Test func `the list shows some changes of each recording, and links to all of them`() throws {
    let changes = (0..<10).map {
      Change(place: JSONPath([.index($0)]), first: "1", second: String(repeating: "x", count: 150))
    }
    var page = try SamplePages.usual.diff()
    let recordings = (0..<3).map { number in
      let recording = SamplePages.usual.recording(number)
      let difference = RecordingDifference(
        first: recording, second: recording, detail: .json(Changes(changes, of: number == 1 ? 1234 : nil)))
      return DiffSummary.Entry(module: nil, .changed(difference))
    }
    page.content = .list(
      DiffSummary(facts: [], counts: .init(changed: 3), recordings: recordings, files: []))
    let html = try HTMLPage(try PageRenderer().render(page, in: PageFrame(account: .open)))
    #expect(html.all("tbody").count == 3)
    #expect(html.all("del").count == 30)
    let buttons = html.all("a").filter { $0.attributes["href"]?.contains("recording=") == true }
    #expect(buttons.count { $0.text.hasPrefix("Show all 1,23") } == 1)
    #expect(buttons.count == 3)
  }

  @Test func `a change links to its place, and the words that differ are marked`() throws {
    var page = try SamplePages.usual.comparedRecording()
    let path = JSONPath([.key("items"), .index(3), .key("a/b")])
    let changes = [Change(place: path, first: "\"the old house\"", second: "\"the new house\"")]
    page.content = .item(
      DiffItem(
        first: .init(path: "recordings/f", size: 1), second: .init(path: "recordings/f", size: 1),
        detail: .json(Changes(changes))))
    let html = try HTMLPage(try PageRenderer().render(page, in: PageFrame(account: .open)))
    #expect(html.all("del").map(\.text) == ["old"])
    #expect(html.all("ins").map(\.text) == ["new"])
    let second = try #require(page.second).id
    let place = "at=%2Fitems%2F3&with=\(page.first.id)#%2Fitems%2F3%2Fa~1b"
    #expect(
      html.all("a").contains {
        $0.attributes["href"]?.replacing("&amp;", with: "&")
          == "/snapshots/\(second)/files/recordings/f?\(place)"
          && $0.text == ".items[3][&quot;a/b&quot;]"
      })
  }
}
