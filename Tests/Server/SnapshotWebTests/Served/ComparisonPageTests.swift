import Foundation
import HTTPTypes
import ServerTesting
import SnapshotFormat
import TestSupport
import Testing

/// The comparison of two snapshots: its pages, its filter and its links.
@Suite struct ComparisonPageTests {
  private let api = TestAPI()
  private let browser: PageBrowser
  private let first: ZippedSample
  private let second: SnapshotID
  private let path: String

  init() async throws {
    browser = PageBrowser(api)
    func bundle(_ number: Int) throws -> ZippedSample {
      let items = (0..<150).map { "{\"id\":\($0),\"at\":\(number),\"text\":\"old \($0)\"}" }
      let changed = number == 1 ? items : items.map { $0.replacing("old", with: "new") }
      return try ZippedSample(
        "[\(changed.joined(separator: ","))]", extra: ["attachments/log.txt": "line 1\nline \(number)\n"])
    }
    first = try bundle(1)
    let second = try bundle(2)
    self.second = second.id
    for bundle in [first, second] {
      let answer = try await api.upload(bundle.bytes, report: "BUG-1")
      #expect(answer.status == 201)
    }
    path = "/snapshots/\(first.id)/diff?with=\(second.id)"
  }

  @Test func `the list leads to all changes of a recording, page by page`() async throws {
    let list = try await browser.get(path)
    #expect(list.status == 200)
    #expect(list.text.contains("Show all 300 changes"))
    #expect(list.text.contains("\(path)&amp;recording=feed\""))
    var found: [String] = []
    for from in [0, 100, 200] {
      let page = try await browser.get("\(path)&recording=feed&from=\(from)").text
      #expect(page.contains("Changes \(from + 1) to \(from + 100) of 300"))
      #expect(page.contains("from=\(from + 100)\"") == (from < 200))
      found += page.matches(of: /<code><bdi>(\.\[[0-9]+\]\.[a-z]+)</).map { String($0.1) }
    }
    #expect(found == (0..<150).flatMap { [".[\($0)].at", ".[\($0)].text"] })
    #expect(try await browser.get("\(path)&recording=feed&from=300").text.contains("300 changes"))
  }

  @Test func `a file is compared by its lines`() async throws {
    #expect(try await browser.get(path).text.contains("\(path)&amp;file=attachments%2Flog.txt\""))
    let page = try await browser.get("\(path)&file=attachments/log.txt").text
    #expect(page.contains("1 change") && page.contains("<del>1</del>") && page.contains("<ins>2</ins>"))
  }

  @Test func `the page of a file marks the values that differ in another snapshot`() async throws {
    let file = "/snapshots/\(first.id)/files/recordings/feed"
    let other = try await attach(#"[{"id":0,"at":1,"text":"other"},{"id":700,"gone":1}]"#) {
      $0.application.version = "9.9"
    }
    let plain = try await browser.get(file).text
    #expect(!plain.contains("class=\"was\"") && !plain.contains("with="))
    let page = try await browser.get("\(file)?with=\(other)").text
    #expect(page.contains("<span class=\"string ch\">&quot;old 0&quot;</span>"))
    let was =
      #/<span class="was">{ <b>text</b>: <span class="string">&quot;other&quot;</span>, … } in 9\.9</span>/#
    #expect(page.contains(was))
    #expect(page.contains("at=%2F0&amp;with=\(other)\""))
    #expect(page.contains("href=\"\(file)\">Without comparison"))
    #expect(page.contains("/snapshots/\(other)/diff?with=\(first.id)&amp;recording=feed\""))
    let same = try await browser.get("\(file)?with=\(first.id)").text
    #expect(same.contains("The contents are identical."))
  }

  @Test func `the page of a file lists the first changes, and leads to each`() async throws {
    let page = try await browser.get("/snapshots/\(second)/files/recordings/feed?with=\(first.id)").text
    #expect(page.contains(": 300 differences."))
    let rows = page.matches(of: /<li><a href="([^"]*)"> *<code>([^<]*)<\/code><\/a>/)
    #expect(rows.map { String($0.2) } == [".[0].at", ".[0].text", ".[1].at", ".[1].text", ".[2].at"])
    for row in rows {
      let address = String(row.1).replacing("&amp;", with: "&")
      #expect(try await browser.get(address).text.contains(" ch\""))
    }
  }

  @Test func `a file is shown even if the snapshot to compare with is not there`() async throws {
    let file = "/snapshots/\(first.id)/files/recordings/feed"
    let page = try await browser.get("\(file)?with=\(SnapshotID())")
    #expect(page.status == 200)
    #expect(page.text.contains("Compared with another snapshot: ") && page.text.contains("old 99"))
    #expect(try await browser.get("\(file)?with=x").status == 400)
    let other = try await attach("{}") { $0.recordings[0].call = 1 }
    #expect(try await browser.get("\(file)?with=\(other)").text.contains("It has no such file."))
    let log = "/snapshots/\(first.id)/files/attachments/log.txt?with="
    #expect(try await browser.get("\(log)\(second)").text.contains("The contents differ."))
  }

  private func attach(
    _ text: String, _ alter: (inout Manifest) -> Void = { _ in }
  ) async throws -> SnapshotID {
    let bundle = try ZippedSample(text, alter: alter)
    #expect(try await api.upload(bundle.bytes, report: "BUG-1").status == 201)
    return bundle.id
  }

  @Test func `the choice of the other snapshot proposes a good one, and shows notes`() async throws {
    let path = "/snapshots/\(first.id)/diff"
    let other = try await attach(#"{"good":1}"#) { $0.note = "This one works" }
    func proposed() async throws -> String? {
      try await browser.get(path).text.firstMatch(of: /class="button main" href="([^"]*)"/)
        .map { String($0.1).replacing("&amp;", with: "&") }
    }
    #expect(try await proposed() == nil)
    _ = try await api.send(
      .patch, "/v1/snapshots/\(other)", [.contentType: "application/merge-patch+json"],
      body: .pieces(of: Array(#"{"good":true}"#.utf8), size: 4))
    #expect(try await proposed() == "/snapshots/\(first.id)/diff?with=\(other)")
    let page = try await browser.get(path).text
    #expect(page.contains("This one works") && page.contains("<span class=\"badge good\">Good</span>"))
  }

  @Test func `a timeline shows the changed values, those first that were stable before`() async throws {
    func document(_ views: Int, _ amount: String) -> String {
      "{\"updatedAt\":\(views),\"views\":\(views),\"balance\":{\"amount\":\(amount)}}"
    }
    for (number, amount) in ["12.5", "12.5", "-12.5"].enumerated() {
      let bundle = try ZippedSample(document(number, amount))
      #expect(try await api.upload(bundle.bytes, report: "BUG-7").status == 201)
    }
    let page = try await browser.get("/reports/BUG-7").text
    let paths = page.matches(of: /<code>(\.[a-zA-Z.]+)<\/code>/).map { String($0.1) }
    #expect(paths == [".balance.amount", ".views", ".updatedAt", ".views", ".updatedAt"])
    #expect(
      page.contains(
        "<del><bdi>12.5</bdi></del> <span aria-hidden=\"true\">→</span> <ins><bdi>-12.5</bdi></ins>"))
  }

  @Test func `a filter omits values, and the permanent link contains it`() async throws {
    let page = try await browser.get("\(path)&recording=feed&ignore=AT,%20").text
    #expect(page.contains("150 changes") && !page.contains(".[0].at<"))
    #expect(page.contains("recording=feed&amp;ignore=AT\""))
    let all = try await browser.get("\(path)&ignore=**.at,$[*].text").text
    #expect(all.contains("differs only in values that the filter omits"))
  }

  @Test(arguments: [
    ("ignore=a..b", 400, "is not a path"), ("kind=other", 400, "must be ‘added’"),
    ("from=-1", 400, "must be a number"), ("recording=gone", 200, "Neither snapshot has it."),
    ("recording=feed&call=7", 200, "Neither snapshot has it."),
    ("file=recordings/none", 200, "Neither snapshot has it."),
    ("kind=removed", 200, "No recordings to list."),
  ])
  func `a mistake in the address is explained`(query: String, status: Int, words: String) async throws {
    let page = try await browser.get("\(path)&\(query)")
    #expect(page.status == status)
    #expect(page.text.contains(words))
  }
}
