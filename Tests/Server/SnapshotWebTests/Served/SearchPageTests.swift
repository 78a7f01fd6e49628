import Foundation
import HTTPSemantics
import HTTPTypes
import Observability
import ServerTesting
import SnapshotFormat
import TestSupport
import Testing

/// The pages that search the contents of snapshots.
@Suite struct SearchPageTests {
  private let api = TestAPI()
  private let browser: PageBrowser

  init() { browser = PageBrowser(api) }

  @discardableResult
  private func attach(
    _ recording: String, report: String = "BUG-1", extra: [String: String] = [:], level: Int32 = 0
  ) async throws -> ZippedSample {
    let bundle = try ZippedSample(recording, extra: extra, level: level)
    let answer = try await api.upload(bundle.bytes, .put, report: report, id: bundle.id)
    try #require(answer.status == 201)
    return bundle
  }

  private func search(_ place: String, _ find: String) async throws -> String {
    try await browser.get("\(place)/search?find=\(PercentCoding.encode(find))").text
  }

  /// The texts of an HTML page without its elements.
  private func text(_ page: String) -> String {
    page.replacing(/<[^>]*>/, with: "").replacing("&quot;", with: "\"").replacing(/\s+/, with: " ")
  }

  private func links(_ page: String) -> [String] {
    page.matches(of: /href="(\/snapshots\/[^"]+#hit)"/).map { String($0.1).replacing("&amp;", with: "&") }
  }

  private static let articles: String = {
    let media = (0..<40).map { #"{"width":\#($0 == 31 ? -1 : 1200),"url":"https://example.com/\#($0)"}"# }
    return #"{"articles":[{"title":"First","media":[\#(media.joined(separator: ","))]}]}"#
  }()

  @Test func `values are listed with the rare ones first, and lead to their marked places`() async throws {
    let bundle = try await attach(Self.articles, level: 6)
    let page = try await search("/snapshots/\(bundle.id)", "width")
    #expect(text(page).contains(".articles[*].media[*].width 40 places -1 × 1 1200 × 39"))
    #expect(text(page).contains("40 places in 1 file. Searched 1 file"))
    let links = links(page)
    #expect(links.count == 2)
    let first = try await browser.get(try #require(links.first).replacing("#hit", with: "")).text
    #expect(text(first).contains("Hit 1 of 1 All hits .articles[0].media[31].width"))
    #expect(first.matches(of: /id="hit"/).count == 1)
    let common = try await browser.get(try #require(links.last).replacing("#hit", with: "")).text
    #expect(text(common).contains("Hit 1 of 39"))
  }

  @Test(arguments: [
    ("url:\"https://example.com/7\"", "\"https://example.com/7\" × 1"), ("width:<0", "-1 × 1"),
    (".articles[0].title", "\"First\" × 1"), ("$..width:type:number", "1200 × 39"),
    ("key:title", "\"First\" × 1"),
    ("negative", "line 2 the balance was negative × 1"), ("\"negative\"", "line 2"), ("-1.0", "-1 × 1"),
    ("media", "[…] × 1"), ("$..media[3]", "{…} × 1"),
  ])
  func `every kind of query leads to a hit`(find: String, shown: String) async throws {
    let bundle = try await attach(
      Self.articles, extra: ["attachments/log.txt": "started\nthe balance was negative\n"])
    let page = try await search("/snapshots/\(bundle.id)", find)
    #expect(text(page).contains(shown), "\(text(page))")
    for link in links(page) {
      let place = try await browser.get(link.replacing("#hit", with: ""))
      #expect(place.status == 200)
      #expect(place.text.contains("id=\"hit\""), "\(link)")
    }
    #expect(!links(page).isEmpty)
  }

  @Test func `a report and all snapshots are searched, newest first`() async throws {
    let first = try await attach(#"{"balance":-5}"#)
    let second = try await attach(#"{"balance":7}"#)
    let other = try await attach(#"{"balance":-6}"#, report: "WEB-1")
    let report = try await search("/reports/BUG-1", "balance:<0")
    #expect(report.contains("/snapshots/\(first.id)/search?find=balance%3A%3C0"))
    #expect(!report.contains("\(second.id)") && !report.contains("\(other.id)"))
    #expect(text(report).contains("1 place in 1 file. Searched 2 files"))
    let newest = try await search("", "balance:<0")
    #expect(newest.contains("\(first.id)") && newest.contains("\(other.id)"))
    let nothing = try await search("", "balance:>100")
    #expect(text(nothing).contains("Nothing was found. Searched 3 files"))
  }

  @Test func `without a query the page explains the forms, and a malformed one is explained`() async throws {
    let bundle = try await attach("{}")
    let form = try await browser.get("/snapshots/\(bundle.id)/search")
    #expect(form.status == 200)
    #expect(
      form.text.contains("action=\"/snapshots/\(bundle.id)/search\"") && form.text.contains("name=\"find\""))
    #expect(form.text.contains("/docs/search"))
    #expect(try await browser.get("/docs/search").status == 200)
    for (find, words) in [
      ("key:", "key:paid"), (".a[", "is not a path"), (String(repeating: "x", count: 1025), "1024"),
    ] {
      let answer = try await browser.get("/snapshots/\(bundle.id)/search?find=\(PercentCoding.encode(find))")
      #expect(answer.status == 400)
      #expect(text(answer.text).contains(words))
    }
    for wrong in ["cursor=x", "cursor=\(bundle.id)/-1", "cursor=\(SnapshotID())/0"] {
      #expect(
        try await browser.get("/snapshots/\(bundle.id)/search?find=a&\(wrong)").status == 400, "\(wrong)")
    }
    #expect(try await browser.get("/snapshots/\(SnapshotID())/search?find=a").status == 404)
  }

  @Test func `a page that is full leads on to the rest`() async throws {
    let files = Dictionary(
      uniqueKeysWithValues: (100..<190).map { ("attachments/\($0).txt", "needle \($0)") })
    let bundle = try await attach("{}", extra: files)
    var path: String? = "/snapshots/\(bundle.id)/search?find=needle"
    var found: [String] = []
    var pages = 0
    while let next = path {
      pages += 1
      let page = try await browser.get(next).text
      found += page.matches(of: /needle<\/mark> (1\d\d)/).map { String($0.1) }
      path = page.firstMatch(of: /rel="next" href="([^"]+)"/).map {
        String($0.1).replacing("&amp;", with: "&")
      }
      try #require(pages < 100)
    }
    #expect(pages >= 3)
    #expect(found.sorted() == (100..<190).map(String.init))
  }

  @Test func `what can't be searched is said`() async throws {
    let bundle = try await attach(
      "{}", extra: ["attachments/a.bin": "\u{0}\u{1}\u{2}PNG", "attachments/b.bin": "\u{0}\u{1}\u{2}"])
    let page = try await search("/snapshots/\(bundle.id)", "PNG")
    #expect(
      text(page).contains("2 files that are neither text nor JSON nor a property list are not searched."))
  }

  @Test func `texts of snapshots and queries are never markup`() async throws {
    let script = "<script>alert(1)</script>"
    let key = String(decoding: try JSONEncoder().encode("\(script)\u{202E}\""), as: UTF8.self)
    let bundle = try await attach("{\(key):\(key)}", extra: ["attachments/\u{202E}<b>.txt": script])
    for find in [script, "alert", "key:alert"] {
      let page = try await search("/snapshots/\(bundle.id)", find)
      #expect(!page.contains(script) && !page.contains("\u{202E}"))
      #expect(try HTMLPage(Array(page.utf8)).violations == [])
      for link in links(page) {
        #expect(
          try await browser.get(link.replacing("#hit", with: "")).text.contains("id=\"hit\""), "\(link)")
      }
    }
  }
}
