import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Logging
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import SystemIO
import TestSupport
import Testing

/// A server below a path of a host, behind a proxy that removes the path from requests, or does not.
@Suite struct PublicURLTests {
  /// What a proxy does with a request.
  enum Proxy: CaseIterable, Sendable {
    case keepsAll, removesPath, replacesHost, doesBoth

    func forward(_ authority: String, _ path: String, below base: String) -> (String, String) {
      let removes = self == .removesPath || self == .doesBoth
      let replaces = self == .replacesHost || self == .doesBoth
      return (replaces ? "127.0.0.1:8080" : authority, removes ? String(path.dropFirst(base.count)) : path)
    }
  }

  /// A path that no route has, and one that is the start of routes.
  static let bases = ["/tools/debug", "/snapshots"]

  private let bundle: ZippedSample

  init() throws {
    bundle = try ZippedSample(#"{"news":[{"id":1,"text":"[1]"}]}"#)
  }

  private func address(_ base: String) throws -> PublicAddress {
    try #require(PublicAddress("https://tools.example\(base)"))
  }

  private func browser(_ api: TestAPI, _ base: String, _ proxy: Proxy) -> PageBrowser {
    PageBrowser(api, authority: "tools.example", scheme: "https") { proxy.forward($0, $1, below: base) }
  }

  private func signIn(_ browser: PageBrowser, _ base: String, _ token: HTTPFields) async throws {
    let form = try await browser.formToken(in: base + "/sign-in")
    let secret = try #require(token[.authorization]).dropFirst("Bearer ".count)
    let answer = try await browser.post(
      base + "/sign-in", ["form-token": form, "token": String(secret), "next": "/reports/BUG-1"])
    #expect(answer.status == 303)
    #expect(answer.fields[.location] == base + "/reports/BUG-1")
  }

  // MARK: Pages

  /// The addresses in `html`, without fragments.
  private static func links(_ html: String) -> [String] {
    html.matches(of: /\b(?:href|src|action|formaction|data-part|data-uploads)="([^"]*)"/).map { match in
      String(match.1.replacing("&amp;", with: "&").prefix { $0 != "#" })
    }.filter { !$0.isEmpty }
  }

  /// Whether only forms are sent there.
  private static func isAction(_ link: String) -> Bool {
    let last = link.prefix { $0 != "?" }.split(separator: "/").last.map(String.init) ?? ""
    let names = [
      "pin", "unpin", "mark-good", "unmark-good", "link", "delete", "comment", "comments", "sign-out",
      "uploads",
    ]
    return names.contains(last) || link.contains("/reports/") && last == "snapshots"
  }

  @Test(arguments: bases, Proxy.allCases)
  func `no page has an address outside of the path`(base: String, proxy: Proxy) async throws {
    let guarded = try GuardedAPI(at: address(base))
    let admin = try guarded.token(.admin)
    for bundle in [bundle, try ZippedSample(#"{"news":[{"id":2}]}"#)] {
      #expect(try await guarded.attach(bundle, admin.fields).status == 201)
    }
    let browser = browser(guarded.api, base, proxy)
    try await signIn(browser, base, admin.fields)
    var waiting = [base + "/"]
    var known = Set(waiting)
    var visited: [String: Int] = [:]
    while let path = waiting.popLast() {
      let place = path.dropFirst(base.count).split { $0 == "/" || $0 == "?" }.first.map(String.init) ?? ""
      visited[place, default: 0] += 1
      // Enough of each kind.
      if visited[place, default: 0] > 40 { continue }
      let answer = try await browser.get(path)
      #expect(answer.status == 200, "\(path): \(answer.status)")
      guard answer.fields[.contentType]?.hasPrefix("text/html") == true else { continue }
      for link in Self.links(answer.text) where !link.hasPrefix("https://") && !link.hasPrefix("?") {
        #expect(link.hasPrefix(base + "/"), "\(path) has \(link)")
        guard link.hasPrefix(base + "/"), !Self.isAction(link), known.insert(link).inserted else { continue }
        waiting.append(link)
      }
    }
    #expect(Set(visited.keys).isSuperset(of: ["", "reports", "snapshots", "docs", "assets"]), "\(visited)")
  }

  @Test(arguments: bases, Proxy.allCases)
  func `cookies are sent only below the path, and forms work`(base: String, proxy: Proxy) async throws {
    let guarded = try GuardedAPI(at: address(base))
    let admin = try guarded.token(.admin)
    try await guarded.attach(bundle, admin.fields)
    let browser = browser(guarded.api, base, proxy)
    try await signIn(browser, base, admin.fields)
    let page = "\(base)/snapshots/\(bundle.id)"
    let token = try await browser.formToken(in: page)
    let pinned = try await browser.post(page + "/pin", ["form-token": token])
    #expect(pinned.status == 303)
    #expect(pinned.fields[.location]?.hasPrefix(page) == true)
    let link = try await browser.post(page + "/link", ["form-token": token, "seconds": "60"])
    #expect(link.text.contains("https://tools.example\(base)/v1/snapshots/\(bundle.id).zip?expires"))
    let list = base + "/reports/BUG-1"
    let referred = try await browser.get(page, [.referer: "https://tools.example" + list])
    #expect(referred.status == 200)
    let signedOut = try await browser.post(base + "/sign-out", ["form-token": token])
    #expect(signedOut.status == 200)
    #expect(signedOut.text.contains("href=\"\(base)/sign-in\""))
    #expect(browser.cookies.isEmpty)
    #expect(browser.cookiesSet.count >= 3)
    for cookie in browser.cookiesSet {
      #expect(cookie.hasPrefix("__Secure-snapshot-"))
      #expect(cookie.contains("; Path=\(base); HttpOnly; SameSite=Strict; Secure"))
    }
  }

  @Test(arguments: Proxy.allCases)
  func `forms of other sites are refused`(proxy: Proxy) async throws {
    let base = "/tools/debug"
    let guarded = try GuardedAPI(at: address(base))
    let admin = try guarded.token(.admin)
    try await guarded.attach(bundle, admin.fields)
    let browser = browser(guarded.api, base, proxy)
    try await signIn(browser, base, admin.fields)
    let page = "\(base)/snapshots/\(bundle.id)"
    let token = try await browser.formToken(in: page)
    for (origin, status) in [
      ("https://tools.example", 303), ("https://other.example", 403), ("http://127.0.0.1:8080", 403),
      ("null", 403),
    ] {
      let answer = try await browser.post(
        page + "/pin", ["form-token": token], [.origin: origin, .secFetchSite: ""])
      #expect(answer.status == status, "\(origin)")
    }
    #expect(try await browser.post(page + "/pin", ["form-token": token], site: "same-site").status == 403)
  }

  // MARK: The API

  /// Sends a request to the URL or path that a client has.
  private func send(
    _ api: TestAPI, _ proxy: Proxy, _ base: String, _ method: HTTPRequest.Method, _ url: String,
    query: String? = nil, _ fields: HTTPFields = [:], body: HTTPRequestBody = .empty
  ) async throws -> TestAPI.Answer {
    let target = url.replacing("https://tools.example", with: "")
    #expect(target.hasPrefix(base + "/"), "\(url)")
    let (authority, path) = proxy.forward("tools.example", target, below: base)
    return try await api.send(method, path, query: query, fields, body: body, authority: authority)
  }

  @Test(arguments: bases, Proxy.allCases)
  func `the API refers to addresses below the path`(base: String, proxy: Proxy) async throws {
    let api = TestAPI(at: try address(base))
    let record = "\(base)/v1/snapshots/\(bundle.id)"
    let attached = try await send(
      api, proxy, base, .put, "\(base)/v1/reports/BUG-1/snapshots/\(bundle.id)",
      [.contentType: "application/zip"],
      body: .pieces(of: bundle.bytes))
    #expect(attached.status == 201)
    #expect(attached.fields[.location] == record)
    #expect(try attached.decode(JSONValue.self)["bundle"] == .string(record + ".zip"))
    let read = try await send(api, proxy, base, .get, record)
    #expect(try read.decode(JSONValue.self)["bundle"] == .string(record + ".zip"))
    let changed = try await send(
      api, proxy, base, .patch, record,
      [.ifMatch: try #require(read.fields[.eTag]), .contentType: "application/merge-patch+json"],
      body: .pieces(of: Array(#"{"pinned":true}"#.utf8)))
    #expect(changed.status == 200)
    let files = try await send(api, proxy, base, .get, record + "/files", query: "limit=1")
    #expect(files.fields[.link]?.hasPrefix("<\(record)/files?limit=1&cursor=") == true)
    let first = try files.decode(JSONValue.self)["files"]?.items?.first
    #expect(first?["href"] == .string(record + "/files/manifest.json"))
    let list = try await send(api, proxy, base, .get, base + "/v1/snapshots").decode(JSONValue.self)
    #expect(list["snapshots"]?.items?.first?["bundle"] == .string(record + ".zip"))
    let link = try await send(api, proxy, base, .post, record + "/links")
    #expect(link.fields[.location]?.hasPrefix(record + ".zip?") == true)
    #expect(link.fields[.location].map { .string($0) } == (try link.decode(JSONValue.self)["link"]))
    #expect(
      link.fields[.location].map { .string("https://tools.example" + $0) }
        == (try link.decode(JSONValue.self)["url"]))
    let description = try await send(api, proxy, base, .get, base + "/openapi.json").decode(JSONValue.self)
    #expect(description["servers"] == [["url": .string("https://tools.example\(base)")]])
    #expect(try await send(api, proxy, base, .get, base + "/").text.contains(" \(base)/docs"))
    for path in ["/nothing", "/v1/nothing"] {
      // Below a path that is the start of a route, nothing shows that a proxy has not removed it.
      let status = try await send(api, proxy, base, .get, base + path).status
      #expect(status == 404 || base == "/snapshots" && status == 400)
    }
  }

  @Test(arguments: bases, Proxy.allCases)
  func `uploads by tus are resumed and joined below the path`(base: String, proxy: Proxy) async throws {
    let api = TestAPI(at: try address(base))
    let half = bundle.bytes.count / 2
    var parts: [String] = []
    for bytes in [bundle.bytes[..<half], bundle.bytes[half...]] {
      let created = try await send(
        api, proxy, base, .post, base + "/v1/uploads",
        [.tusResumable: "1.0.0", .uploadLength: "\(bytes.count)", .uploadConcat: "partial"])
      let place = try #require(created.fields[.location])
      let appended = try await send(
        api, proxy, base, .patch, place,
        [.tusResumable: "1.0.0", .uploadOffset: "0", .contentType: TestAPI.tusType],
        body: .pieces(of: Array(bytes)))
      #expect(appended.status == 204)
      parts.append(place)
    }
    let joined = try await send(
      api, proxy, base, .post, base + "/v1/uploads",
      [
        .tusResumable: "1.0.0", .uploadConcat: "final;" + parts.joined(separator: " "),
        .uploadMetadata: TestAPI.metadata([("report", "BUG-1")]),
      ])
    #expect(joined.status == 201)
    let head = try await send(
      api, proxy, base, .head, try #require(joined.fields[.location]), [.tusResumable: "1.0.0"])
    #expect(head.fields[.uploadOffset] == "\(bundle.bytes.count)")
    #expect(head.fields[.link]?.hasPrefix("<\(base)/v1/snapshots/") == true)
    let paths = parts.map { $0.replacing("https://tools.example", with: "") }
    #expect(head.fields[.uploadConcat] == "final;" + paths.joined(separator: " "))
  }

  @Test(arguments: bases, Proxy.allCases)
  func `uploads by the IETF draft are resumed below the path`(base: String, proxy: Proxy) async throws {
    let api = TestAPI(at: try address(base))
    let half = bundle.bytes.count / 2
    let opened = try await send(
      api, proxy, base, .post, base + "/v1/reports/BUG-2/snapshots",
      [.uploadDraftInteropVersion: "8", .contentType: "application/zip", .uploadComplete: "?0"],
      body: .pieces(of: Array(bundle.bytes[..<half])))
    #expect(opened.status == 201)
    let place = try #require(opened.fields[.location])
    #expect(opened.interim.first?.fields[.location] == place)
    let ended = try await send(
      api, proxy, base, .patch, place,
      [
        .uploadDraftInteropVersion: "8", .uploadComplete: "?1", .uploadOffset: "\(half)",
        .contentType: "application/partial-upload",
      ], body: .pieces(of: Array(bundle.bytes[half...])))
    #expect(ended.status == 201, "\(ended.problem?.detail ?? "")")
    #expect(ended.fields[.location]?.hasPrefix(base + "/v1/snapshots/") == true)
  }

  // MARK: Names and settings

  @Test func `an open store answers under its public name, and under no other`() async throws {
    let folder = try TemporaryFolder()
    let access = try AccessPolicy(.init(storage: folder.path), logger: Logger(label: "test"))
    let api = TestAPI(access: access, at: try address("/tools"))
    for (name, status) in [
      ("tools.example", 200), ("TOOLS.example", 200), ("127.0.0.1:8080", 200), ("other.example", 421),
      ("tools.example.other.example", 421), ("tools.example:8080", 421),
    ] {
      let answer = try await api.send(.get, "/tools/v1/snapshots", authority: name)
      #expect(answer.status == status, "\(name)")
    }
  }

  @Test(arguments: [false, true])
  func `a trusted proxy can state the address instead of the settings`(removesPath: Bool) async throws {
    let api = TestAPI()
    let server = HTTPServer(
      configuration: {
        var configuration = HTTPServer.Configuration(port: 0)
        configuration.trustedProxies = [TrustedProxy("127.0.0.1")].compactMap { $0 }
        configuration.forwardingFields = .xForwarded
        return configuration
      }(), handler: api.handler, logger: Logger(label: "test"))
    let port = try await server.start().port
    let bundle = bundle
    let path = removesPath ? "" : "/tools"
    let answers = try await RawHTTPClient.run {
      let client = try RawHTTPClient(port: port)
      let fields = """
        Host: 127.0.0.1:\(port)\r
        X-Forwarded-For: 192.0.2.1\r
        X-Forwarded-Proto: https\r
        X-Forwarded-Host: tools.example\r
        X-Forwarded-Prefix: /tools\r

        """
      try client.send(
        "PUT \(path)/v1/reports/A/snapshots/\(bundle.id) HTTP/1.1\r\n\(fields)Content-Type: application/zip\r\n"
          + "Content-Length: \(bundle.bytes.count)\r\n\r\n")
      try client.send(bundle.bytes)
      let attached = try client.receiveResponse()
      try client.send("GET \(path)/snapshots/\(bundle.id) HTTP/1.1\r\n\(fields)Accept: text/html\r\n\r\n")
      return [attached, try client.receiveResponse()]
    }
    await server.shutdown(deadline: .zero)
    #expect(answers.map(\.status) == [201, 200])
    #expect(answers[0].field("Location") == "/tools/v1/snapshots/\(bundle.id)")
    #expect(answers[1].field("Set-Cookie")?.contains("; Path=/tools; ") == true)
    for link in Self.links(answers[1].text) where link.hasPrefix("/") { #expect(link.hasPrefix("/tools/")) }
  }

  @Test func `the settings refuse paths that are those of the server itself`() {
    for path in ServerSettings.reservedPaths {
      #expect(ServerSettings.publicAddress("https://a\(path)") == nil)
      #expect(ServerSettings.publicAddress("https://a\(path)/b") == nil)
      #expect(ServerSettings.publicAddress("https://a\(path)b") != nil)
    }
    #expect(ServerSettings.publicAddress("https://a/snapshots") != nil)
  }
}
