import AccessControl
import Foundation
import HTTPTypes
import Observability
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import SnapshotWeb
import TestSupport
import Testing

/// The articles and the reference of the API, as the server shows them.
@Suite struct DocumentPageTests {
  private let api: TestAPI
  private let browser: PageBrowser

  init() {
    var observation = Observation()
    observation.metricsText = (text: { "" }, contentType: "text/plain")
    api = TestAPI(observation: observation)
    browser = PageBrowser(api)
  }

  private static var names: [String] {
    SnapshotHandler.manual.articles.keys.filter { $0 != "snapshotserver" }.sorted()
  }

  private func page(_ path: String) async throws -> (html: HTMLPage, text: String) {
    let answer = try await browser.get(path)
    try #require(answer.status == 200, "\(path)")
    #expect(answer.fields[.contentType] == "text/html; charset=utf-8")
    return (try HTMLPage(answer.bytes), answer.text)
  }

  @Test func `every article was rendered since it was edited`() throws {
    func contents(_ folder: URL) throws -> [URL] {
      try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    }
    let sources = PackageFolder.url().appending(path: "Sources")
    let modules =
      try [sources.appending(path: "Server/SnapshotServer")] + contents(sources.appending(path: "App"))
    let files = try modules.flatMap(contents).filter { $0.pathExtension == "docc" }.flatMap(contents)
      .filter { $0.pathExtension == "md" }
    try #require(files.count > 20)
    let digests = try files.map {
      (
        $0.deletingPathExtension().lastPathComponent.lowercased(),
        try "\(ContentDigest.of(Array(Data(contentsOf: $0))))"
      )
    }
    #expect(
      SnapshotHandler.manual.articles.mapValues(\.digest) == Dictionary(uniqueKeysWithValues: digests),
      "Run `make articles`.")
  }

  @Test func `the list of articles links to each of them and to the reference`() async throws {
    let links = try await page("/docs").html.all("a").filter { $0.ancestors.contains("article") }
      .compactMap { $0.attributes["href"] }
    let expected = (Self.names + ["reference"]).map { "/docs/\($0)" }
    let modules = ["datasnapshots", "repositories", "snapshotclient"]
    for module in modules { #expect(links.contains("/docs/\(module)")) }
    // The articles about a library are listed by that of the library.
    var others = links
    for module in modules {
      others += try await page("/docs/\(module)").html.all("a").compactMap { $0.attributes["href"] }
    }
    #expect(Set(expected).isSubset(of: others), "\(Set(expected).subtracting(others))")
  }

  @Test func `every page is complete HTML, without remains of Markdown`() async throws {
    for path in ["/docs", "/docs/reference"] + Self.names.map({ "/docs/\($0)" }) {
      let (html, text) = try await page(path)
      // Articles may refer to other sites.
      #expect(html.violations.filter { !$0.hasPrefix("href leads elsewhere: https://") } == [], "\(path)")
      let article = try #require(text.components(separatedBy: "<article").dropFirst().first)
      let parts = article.components(separatedBy: "<code>")
      let prose = parts.compactMap { $0.components(separatedBy: "</code>").last }.joined()
      for remains in ["|", "`", "**", "](", "&lt;", "\n#", "---"] {
        #expect(!prose.contains(remains), "\(path): \(remains)")
      }
    }
  }

  @Test func `every link leads to a page, and to a place on it`() async throws {
    var pages: [String: HTMLPage] = [:]
    var waiting = ["/docs"]
    while let path = waiting.popLast() {
      if pages[path] != nil { continue }
      let page = try await page(path).html
      pages[path] = page
      for target in page.all("a").compactMap({ $0.attributes["href"] }) where target.hasPrefix("/docs") {
        waiting.append(String(target.prefix { $0 != "#" }))
      }
    }
    #expect(pages.count == Self.names.count + 2)
    let targets = pages.values.flatMap { $0.all("a").compactMap { $0.attributes["href"] } }
    for target in Set(targets) where target.hasPrefix("/") {
      let parts = target.split(separator: "#", maxSplits: 1).map(String.init)
      if let page = pages[parts[0]] {
        let ids = page.elements.compactMap { $0.attributes["id"] }
        #expect(parts.count == 1 || ids.contains(parts[1]), "\(target)")
      } else {
        #expect(try await browser.get(parts[0]).status == 200, "\(target)")
      }
    }
  }

  @Test func `the reference describes every call, object and kind of problem of a call`() async throws {
    let (html, text) = try await page("/docs/reference")
    let headings = Dictionary(
      html.all("h3").map { ($0.attributes["id"] ?? "", $0.text) }, uniquingKeysWith: { first, _ in first })
    for call in api.calls {
      let path = call.template.replacing("...}", with: "}")
      #expect(headings[call.id] == "\(call.method.rawValue) \(path)")
      let documentation = try #require(call.documentation)
      for name in documentation.parameters.map(\.name) + documentation.problems.map(\.rawValue) {
        #expect(text.contains("<code>\(name)</code>"), "\(call.id): \(name)")
      }
    }
    for schema in DescribedAnswers.document["components"]?["schemas"]?.keys ?? [] {
      #expect(headings["object-\(schema)"] == schema)
    }
  }

  @Test(arguments: ["/docs", "/docs/deploying", "/docs/reference"])
  func `a page is the same for every visitor, except for what is around it`(path: String) async throws {
    func main(_ text: String) throws -> Substring {
      let start = try #require(text.firstRange(of: "<main"))
      return try text[start.lowerBound..<#require(text.firstRange(of: "</main>")).lowerBound]
    }
    let guarded = try GuardedAPI()
    let token = try guarded.token(.admin).fields
    let (stranger, member) = (PageBrowser(guarded.api), PageBrowser(guarded.api))
    try await member.signIn(token)
    let first = try await member.get(path).text
    let second = try await stranger.get(path).text
    #expect(try main(first) == main(second))
    #expect(try main(first).contains("<article"))
    #expect(first.contains("Sign out") && !first.contains("Sign in"))
    #expect(second.contains("Sign in") && !second.contains("Sign out"))
    #expect(try await member.get(path).text == first)
  }

  @Test func `the documentation needs no session, also in a store with tokens`() async throws {
    let guarded = try GuardedAPI()
    _ = try guarded.token(.admin)
    let visitor = PageBrowser(guarded.api)
    for path in ["/docs", "/docs/settings", "/docs/reference"] {
      #expect(try await visitor.get(path).status == 200, "\(path)")
    }
    #expect(try await visitor.get("/docs/nothing").status == 404)
    #expect(try await visitor.get("/docs/snapshotserver").status == 404)
    #expect(try await visitor.get("/sign-in").text.contains("href=\"/docs\""))
  }
}
