import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import ServerTesting
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import TestSupport
import Testing

/// The pages of an open store.
@Suite struct PageTests {
  private let api = TestAPI()
  private let browser: PageBrowser

  init() { browser = PageBrowser(api) }

  @discardableResult
  private func attach(
    _ recording: String = "{\"news\":[]}", report: String = "BUG-1", extra: [String: String] = [:],
    alter: (inout Manifest) -> Void = { _ in }
  ) async throws -> ZippedSample {
    let bundle = try ZippedSample(recording, extra: extra, alter: alter)
    let answer = try await api.upload(bundle.bytes, .put, report: report, id: bundle.id)
    try #require(answer.status == 201)
    return bundle
  }

  @Test func `the root path is HTML for people, and text for programs`() async throws {
    let bundle = try await attach()
    let page = try await browser.get("/")
    #expect(page.status == 200)
    #expect(page.fields[.contentType] == "text/html; charset=utf-8")
    #expect(page.fields[.vary] == "Accept")
    #expect(page.text.contains("\(bundle.id)"))
    for accept in ["*/*", "text/plain", "text/html;q=0, */*", "application/json", "text/*"] {
      let text = try await api.send(.get, "/", [.accept: accept])
      #expect(text.fields[.contentType] == "text/plain; charset=utf-8", "\(accept)")
      #expect(text.fields[.vary] == "Accept")
    }
    #expect(try await api.send(.get, "/").fields[.contentType] == "text/plain; charset=utf-8")
  }

  @Test func `every value of a file has an address, and can be loaded into the page`() async throws {
    let items = (0..<300).map { "{\"title\":\"Title \($0)\",\"tags\":[\($0),[]]}" }
    let bundle = try await attach("{\"items\":[\(items.joined(separator: ","))]}")
    let manifest = try await browser.get("/snapshots/\(bundle.id)")
    let file = try #require(
      manifest.text.firstMatch(of: #/href="(/snapshots/[^"]+/files/recordings/[^"]+)"/#)
    ).1
    let page = try await browser.get("\(file)")
    #expect(page.text.contains("&quot;Title 0&quot;"))
    #expect(page.text.contains("href=\"\(file)?at=%2Fitems&amp;from=20\""))
    let part = try await browser.get("\(file)?at=/items&from=280&part=1")
    // The part follows the values before it, so it begins with its first value.
    #expect(part.text.hasPrefix("<a class=\"line\"") && !part.text.contains(" before"))
    #expect(part.text.contains("Title 299") && !part.text.contains("Title 279"))
    #expect(try await browser.get("\(file)?at=/items/299/title").text.contains("Title 299"))
    #expect(try await browser.get("\(file)?find=title+299").text.contains("<mark>Title 299</mark>"))
    #expect(try await browser.get("\(file)?view=table&at=/items&sort=title").text.contains("aria-sort"))
    for wrong in ["at=/nothing", "at=x", "view=x", "from=-1", "from=x", "part=2", "order=up"] {
      #expect(try await browser.get("\(file)?\(wrong)").status == 400, "\(wrong)")
    }
    #expect(try await browser.get("\(file)?find=\(String(repeating: "x", count: 1024))").status == 200)
    #expect(try await browser.get("\(file)?find=\(String(repeating: "x", count: 1025))").status == 400)
    for view in ["tree", "table", "formatted", "text", "hex"] {
      #expect(try await browser.get("\(file)?view=\(view)&at=/items&from=\(1 << 40)").status == 200)
      #expect(try await browser.get("\(file)?view=\(view)&at=/items&from=\(1 << 40 + 1)").status == 400)
    }
  }

  @Test func `a search that identifies one thing redirects there`() async throws {
    let bundle = try await attach(report: "proj/issue/9")
    let page = "/snapshots/\(bundle.id)"
    for (text, place) in [
      ("\(bundle.id)", page), (" \(bundle.id.description.uppercased()) ", page),
      ("snapshots://activate/\(bundle.id)", page),
      ("http://localhost/v1/snapshots/\(bundle.id).zip?x=1", page),
      ("proj/issue/9", "/reports/proj%2Fissue%2F9"),
    ] {
      let answer = try await browser.get("/?text=\(PercentCoding.encode(text))&report=&device=")
      #expect(answer.status == 303, "\(text)")
      #expect(answer.fields[.location] == place, "\(text)")
    }
    for text in ["iPhone17,1", "BUG-404", "com.example.news", "?", "/"] {
      let answer = try await browser.get("/?text=\(PercentCoding.encode(text))")
      #expect(answer.status == 200, "\(text)")
    }
  }

  @Test func `a version leads to its snapshots, and so does a report's name without its last digits`()
    async throws
  {
    let old = try await attach(report: "BUG-812") { $0.application.version = "3.1.2" }
    let new = try await attach(report: "BUG-9") { $0.application.version = "3.2" }
    for (text, version) in [("3.1.2", "3.1.2"), ("3.1", "3.1"), ("v3.1.2", "v3.1.2")] {
      let answer = try await browser.get("/?text=\(text)")
      #expect(answer.fields[.location] == "/?version=\(version)")
      #expect(try await ids(in: browser.get("/?version=\(version)").text) == ["\(old.id)"])
    }
    for text in ["BUG-8", "bug-8"] {
      #expect(try await ids(in: browser.get("/?text=\(text)").text) == ["\(old.id)"])
    }
    #expect(try await ids(in: browser.get("/?text=BUG-9").text).isEmpty)
    #expect(try await ids(in: browser.get("/?text=BUG").text) == ["\(old.id)", "\(new.id)"])
    for text in ["BUG-7", "7.7", "nothing"] {
      let page = try await browser.get("/?text=\(text)")
      #expect(ids(in: page.text).isEmpty)
      #expect(page.text.contains("href=\"/search?find=\(text)\""))
    }
  }

  @Test func `a search shows its results page by page`() async throws {
    for number in 0..<55 { try await attach("{\"n\":\(number)}") }
    let other = try await attach(report: "WEB-7") { $0.application.identifier = "com.example.shop" }
    let found = try await browser.get("/?application=com.example.shop&text=")
    #expect(found.text.contains("\(other.id)"))
    #expect(ids(in: found.text).count == 1)
    let first = try await browser.get("/?report=BUG-1")
    #expect(ids(in: first.text).count == 50)
    let next = try #require(first.text.firstMatch(of: /href="(\/\?report=BUG-1&amp;cursor=[^"]+)"/)).1
    let second = try await browser.get(String(next).replacing("&amp;", with: "&"))
    #expect(ids(in: second.text).count == 5)
    #expect(ids(in: first.text).isDisjoint(with: ids(in: second.text)))
    var listed: [Set<Substring>] = []
    var path: String? = "/reports/BUG-1"
    while let next = path {
      let report = try await browser.get(next).text
      listed.append(ids(in: report))
      path = report.firstMatch(of: /rel="next" href="([^"]+)"/).map { String($0.1) }
    }
    #expect(listed.map(\.count) == [25, 25, 5])
    #expect(listed.reduce(into: []) { $0.formUnion($1) } == ids(in: first.text).union(ids(in: second.text)))
  }

  @Test func `a result shows why it was found, and what is complete`() async throws {
    let bundle = try await attach(report: "BUG-123")
    for (text, mark) in [
      ("BUG-12", "<mark>12</mark>3"), ("fee", "<mark>fee</mark>d"), ("iPhone17", "<mark>iPhone17</mark>,1"),
      ("\(bundle.id)".prefix(8), "<mark>\("\(bundle.id)".prefix(8))</mark>"),
    ] {
      let answer = try await browser.get("/?text=\(PercentCoding.encode(String(text)))")
      #expect(ids(in: answer.text).contains("\(bundle.id)"), "\(text)")
      #expect(answer.text.contains(mark), "\(text)")
      #expect(answer.text.contains("1 of 1 module complete"))
    }
    let nothing = try await browser.get("/?text=nothing-like-this")
    #expect(nothing.text.contains("What can be found"))
    #expect(!nothing.text.contains("<mark>"))
  }

  private func ids(in text: String) -> Set<Substring> {
    Set(text.matches(of: /\/snapshots\/([0-9a-f-]{36})"/).map(\.1))
  }

  @Test func `JSON Lines as text have the line numbers of the file`() async throws {
    let lines = "{\"a\":1,\n\"b\":2}\n\n{\"a\":3}\n"
    let bundle = try await attach(extra: ["attachments/log.jsonl": lines])
    let page = try await browser.get("/snapshots/\(bundle.id)/files/attachments/log.jsonl?view=text").text
    #expect(
      page.matches(of: /<li id="L(\d)">.*<span>(.*)<\/span>/).map { "\($0.1) \($0.2)" } == [
        "1 {&quot;a&quot;:1,", "2 &quot;b&quot;:2}", "3 ", "4 {&quot;a&quot;:3}",
      ])
  }

  @Test func `parameters that others add to the address of a page are ignored`() async throws {
    let bundle = try await attach()
    let snapshot = "/snapshots/\(bundle.id)"
    for page in ["/", "/reports/BUG-1", snapshot, snapshot + "/files/manifest.json", snapshot + "/diff"] {
      #expect(try await browser.get(page + "?utm_source=chat&fbclid=1&fbclid=2").status == 200, "\(page)")
    }
    #expect(try await api.send(.get, "/v1/snapshots", query: "utm_source=chat").status == 400)
  }

  @Test func `the newest snapshots come before the chart`() async throws {
    try await attach()
    let page = try HTMLPage(try await browser.get("/").bytes)
    #expect(page.all("h2").map { $0.text.prefix(6) } == ["Newest", "Last 3"])
  }

  @Test func `the breadcrumbs of every page below a report name it`() async throws {
    let bundle = try await attach(report: "proj/issue/9")
    let path = "/snapshots/\(bundle.id)"
    let link = try await browser.post(
      path + "/link", ["form-token": browser.formToken(in: path + "?show=details"), "seconds": "60"])
    var pages = [link]
    for page in [path, path + "/files/manifest.json", path + "/diff", path + "/diff?with=\(bundle.id)"] {
      pages.append(try await browser.get(page))
    }
    for page in pages {
      let crumbs = try #require(page.text.firstMatch(of: #/<nav class="crumbs".*?</nav>/#)).output
      #expect(crumbs.contains("href=\"/reports/proj%2Fissue%2F9\"><bdi>proj/issue/9</bdi></a>"))
    }
  }

  @Test(arguments: ["after=yesterday", "version=1&minVersion=2", "report=%2F%2F", "cursor=x"])
  func `a page shows why a search is invalid`(query: String) async throws {
    let answer = try await browser.get("/?\(query)")
    #expect(answer.status == 400)
    #expect(answer.fields[.contentType] == "text/html; charset=utf-8")
  }

  @Test func `a file is sent unchanged and sandboxed, and one that a browser would execute as a download`()
    async throws
  {
    let html = "<script>alert(1)</script>"
    let bundle = try await attach(
      extra: [
        "attachments/a.html": html, "attachments/b.svg": "<svg onload=alert(1)>", "attachments/c.json": "{}",
      ])
    for (name, type) in [
      ("a.html", "application/octet-stream"), ("b.svg", "application/octet-stream"),
      ("c.json", "application/json"),
    ] {
      let answer = try await browser.get("/snapshots/\(bundle.id)/raw/attachments/\(name)")
      #expect(answer.status == 200)
      #expect(answer.fields[.contentType] == type)
      #expect(answer.fields[.contentSecurityPolicy] == "default-src 'none'; sandbox")
      #expect(
        answer.fields[.contentDisposition]?.hasPrefix(type.hasSuffix("stream") ? "attachment" : "inline")
          == true)
      #expect(answer.fields[.cacheControl] == "no-store")
      #expect(answer.fields[.xContentTypeOptions] == "nosniff")
    }
    let missing = try await browser.get("/snapshots/\(bundle.id)/raw/attachments/none")
    #expect(missing.status == 404)
    #expect(missing.fields[.contentType] == "text/html; charset=utf-8")
  }

  @Test func `an image in a string is sent sandboxed, and all other contents of strings as a download`()
    async throws
  {
    let gif = Data(Array("GIF89a".utf8) + [2, 0, 3, 0] + [UInt8](repeating: 0, count: 30))
      .base64EncodedString()
    let svg = Data("{\"a\":\"<svg onload=alert(1)>\"}".utf8).base64EncodedString()
    let bundle = try await attach(extra: [
      "attachments/a.json": "{\"gif\":\"\(gif)\",\"b\":[\"\(svg)\"],\"c\":\"d\"}"
    ])
    let path = "/snapshots/\(bundle.id)/decoded/attachments/a.json"
    for (string, type, size) in [("/gif", "image/gif", 40), ("/b/0", "application/octet-stream", 29)] {
      let answer = try await browser.get("\(path)?decode=\(PercentCoding.encode(string))")
      #expect(answer.status == 200)
      #expect(answer.bytes.count == size)
      #expect(answer.fields[.contentType] == type)
      #expect(answer.fields[.contentSecurityPolicy] == "default-src 'none'; sandbox")
      #expect(
        answer.fields[.contentDisposition]?.hasPrefix(type == "image/gif" ? "inline" : "attachment") == true)
      #expect(answer.fields[.cacheControl] == "no-store")
      #expect(answer.fields[.xContentTypeOptions] == "nosniff")
    }
    for wrong in ["decode=/c", "decode=/missing", "decode=c", "", "at=/gif"] {
      #expect(try await browser.get("\(path)?\(wrong)").status == 400, "\(wrong)")
    }
    #expect(
      try await browser.get("/snapshots/\(bundle.id)/decoded/attachments/none?decode=/gif").status == 404)
  }

  @Test func `the bundle is a download`() async throws {
    let bundle = try await attach()
    let answer = try await browser.get("/snapshots/\(bundle.id)/bundle")
    #expect(answer.bytes == bundle.bytes)
    #expect(answer.fields[.contentDisposition]?.hasPrefix("attachment") == true)
  }

  @Test func `two snapshots are compared, or the page shows why they can't be`() async throws {
    let first = try await attach("{\"a\":1}")
    let second = try await attach("{\"a\":2}")
    let path = "/snapshots/\(first.id)/diff"
    let choice = try await browser.get(path)
    #expect(choice.status == 200)
    #expect(choice.text.contains("\(second.id)"))
    let page = try await browser.get("\(path)?with=\(second.id)")
    #expect(page.status == 200)
    for (text, status) in [("x", 400), ("\(SnapshotID())", 404)] {
      let answer = try await browser.get("\(path)?with=\(text)")
      #expect(answer.status == status)
      #expect(answer.text.contains("\(second.id)"))
    }
    #expect(try await browser.get("/snapshots/\(SnapshotID())/diff").status == 404)
  }

  @Test func `assets are immutable, and named by their contents`() async throws {
    let page = try await browser.get("/")
    let names = page.text.matches(of: /(\/assets\/[^"]+)"/).map { String($0.1) }
    #expect(names.contains { $0.hasSuffix(".css") })
    for name in names {
      let answer = try await api.send(.get, name)
      #expect(answer.status == 200)
      #expect(answer.fields[.cacheControl] == "public, max-age=31536000, immutable")
      let tag = try #require(answer.fields[.eTag])
      #expect(try await api.send(.get, name, [.ifNoneMatch: tag]).status == 304)
    }
    #expect(try await api.send(.get, "/assets/pages.css").status == 404)
  }

  @Test func `problems are HTML for people and JSON for programs`() async throws {
    let path = "/snapshots/\(SnapshotID())"
    let page = try await browser.get(path)
    #expect(page.status == 404)
    #expect(page.fields[.contentType] == "text/html; charset=utf-8")
    #expect(page.text.contains("There is no such snapshot"))
    #expect(page.text.contains(try #require(page.fields[.xRequestID])))
    #expect(try await browser.get("/v1" + path).problem != nil)
    #expect(try await browser.get("/nothing").problem == nil)
    #expect(try await api.send(.get, "/nothing").problem != nil)
    let method = try await browser.get(path, method: .put)
    #expect(method.status == 405)
    #expect(method.fields[.allow] == "GET, HEAD, OPTIONS")
  }

  @Test func `the chart shows the last days of the search results`() async throws {
    for _ in 0..<3 { try await attach() }
    let page = try await browser.get("/")
    #expect(page.text.contains("<svg"))
  }
}
