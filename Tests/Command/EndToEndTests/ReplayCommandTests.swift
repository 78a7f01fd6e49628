import DataSnapshots
import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// `snapshot replay` with clients that know nothing of snapshots: curl, Python, and a browser.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct ReplayCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Packs a snapshot with two answers to `/api/feed`, one to a `POST`, and the identifier `news/sports`.
  private func makeSnapshot() throws -> URL {
    var sources: [SnapshotBundle.Source] = []
    func add(
      _ identifier: String, _ body: String, call: Int? = nil, _ request: Manifest.Exchange.Request? = nil,
      sending: String? = nil, type: String = "application/json"
    ) throws {
      let name = "\(sources.count)"
      let exchange = request.map {
        Manifest.Exchange(
          request: $0, response: .init(status: 200, fields: [.init("Content-Type", type)]), startedAt: Date())
      }
      sources.append(
        .init(
          identifier: identifier, file: try folder.write(Data(body.utf8), to: name), recordedAt: Date(),
          call: call, exchange: exchange,
          requestBody: try sending.map { text in try folder.write(Data(text.utf8), to: name + ".sent") }))
    }
    let host = "https://api.example.com"
    for (call, unread) in [3, 0].enumerated() {
      try add(
        "GET \(host)/api/feed", #"{"unread":\#(unread)}"#, call: call + 1,
        .init(method: "GET", url: "\(host)/api/feed"))
    }
    let digest = "\(ContentDigest.of(Data(#"{"id":7}"#.utf8)))".prefix(16)
    try add(
      "POST \(host)/api/read #\(digest)", #"{"ok":true}"#, .init(method: "POST", url: "\(host)/api/read"),
      sending: #"{"id":7}"#)
    try add("news/sports", #"[{"title":"Final"}]"#)
    let manifest = Manifest(
      id: SnapshotID(), createdAt: Date(),
      application: .init(identifier: "com.example.news", version: "1", build: "2"),
      device: .init(model: "x", system: "y", systemVersion: "z", locale: "en"))
    let zip = folder.file("snapshot.zip")
    _ = try SnapshotBundle.pack(sources, describedBy: manifest, to: zip)
    return zip
  }

  private func start(_ arguments: String...) async throws -> (program: RunningProgram, url: String) {
    let program = try await RunningProgram(
      Product.path, ["replay", try makeSnapshot().path, "--port", "0"] + arguments)
    let address = try #require(program.firstLine.split(separator: " ").last)
    #expect(program.firstLine.hasPrefix("Replaying "))
    return (program, String(address))
  }

  @Test func `curl gets recorded answers in order, and the command logs each request`() async throws {
    let (program, url) = try await start("--map", "news/sports=/api/sports")
    #expect(try await Curl([url + "/api/feed"]).text == #"{"unread":3}"#)
    #expect(try await Curl([url + "/api/feed"]).text == #"{"unread":0}"#)
    #expect(try await Curl([url + "/api/read", "-d", #"{"id":7}"#]).text == #"{"ok":true}"#)
    #expect(try await Curl([url + "/api/sports"]).field("Content-Type") == "application/json")
    #expect(try await Curl([url + "/api/fed"]).status == 404)
    #expect(await program.stop(SIGINT) == 0)
    let errors = try program.errors
    for line in [
      "2 recorded requests and 1 mapped identifier; what was asked and missing: \(url)/__snapshot/",
      "GET /api/feed → 200, recording 1 of 2", "GET /api/feed → 200, recording 2 of 2",
      "POST /api/read → 200, recording 1 of 1", "GET /api/sports → 200, recording 1 of 1",
      "GET /api/fed → 404, missing: nearest GET /api/feed, "
        + "which differs in the path (/api/fed instead of /api/feed)",
    ] {
      #expect(errors.split(separator: "\n").contains { $0 == line }, "\(line) in \(errors)")
    }
  }

  @Test(.enabled(if: Tool.find("python3") != nil, "Install python3"))
  func `a Python program replays by its base URL`() async throws {
    let (program, url) = try await start()
    let script = """
      import json, sys, urllib.request
      base = sys.argv[1]
      feed = json.load(urllib.request.urlopen(base + "/api/feed"))
      request = urllib.request.Request(base + "/api/read", data=b'{"id":7}', method="POST")
      print(feed["unread"], json.load(urllib.request.urlopen(request))["ok"])
      """
    let outcome = try await Tool.run("python3", ["-c", script, url])
    #expect(outcome.text == "3 True\n", "\(outcome.errors)")
    await program.stop()
  }

  @Test(.enabled(if: Browser.isInstalled, "Install chromium and chromium-driver: make setup"))
  func `a page of another origin replays in a browser, and the page of the command shows it live`()
    async throws
  {
    let (program, url) = try await start()
    let (other, page) = try await start("--map", "news/sports=/app")
    try await Browser.run(width: 390) { browser in
      // Any page of another origin will do.
      try await browser.open(#require(URL(string: page + "/app")))
      let script = """
        done => (async () => {
          const feed = await (await fetch('\(url)/api/feed', {credentials: 'include'})).json();
          const read = await (await fetch('\(url)/api/read', {
            method: 'POST', headers: {'Content-Type': 'application/json', 'X-App': '1'}, body: '{"id":7}',
          })).json();
          const missing = await fetch('\(url)/api/read', {method: 'PUT'});
          return [feed.unread, read.ok, missing.status].join();
        })().then(done, done)
        """
      #expect(try await browser.result(ofAsync: script) == "3,true,404")

      try await browser.open(#require(URL(string: url + "/__snapshot/")))
      #expect(try await browser.text(".counts").contains("1 missing"))
      #expect(try await browser.text("main").contains("PUT /api/read"))
      #expect(
        try await browser.evaluate(
          "document.documentElement.scrollWidth <= document.documentElement.clientWidth")
          == "true")
      _ = try await Curl([url + "/api/later"])
      try await browser.wait(for: "document.body.innerText.includes('/api/later')")
      try await browser.follow("footer button")
      #expect(try await browser.text("main").contains("/api/later"))
    }
    #expect(try await Curl([url + "/api/feed"]).text == #"{"unread":3}"#)
    await other.stop()
    await program.stop()
  }

  @Test(arguments: [([], 0), (["--strict"], 2)] as [([String], Int32)])
  func `what is missing ends a strict replay with status 2`(arguments: [String], status: Int32) async throws {
    let program = try await RunningProgram(
      Product.path, ["replay", try makeSnapshot().path, "--port", "0"] + arguments)
    let url = try #require(program.firstLine.split(separator: " ").last)
    #expect(try await Curl(["\(url)/api/other"]).status == 404)
    #expect(await program.stop() == status)
    #expect(
      try program.errors.contains("Error: 1 request had no recorded answer: GET /api/other.") == (status == 2)
    )
  }

  @Test func `bad input is refused with one sentence`() async throws {
    let zip = try makeSnapshot().path
    let (program, url) = try await start()
    let port = try #require(url.split(separator: ":").last)
    let server = try await TestServer(storage: folder.file("storage"))
    let rules = try folder.write(Data("news=/a\nnonsense\n".utf8), to: "rules")
    let plain = folder.file("plain.zip")
    try folder.write(Data("1".utf8), to: "plain/a.json")
    #expect(try await Product.run(["pack", folder.file("plain").path, "--output", plain.path]).status == 0)
    for (arguments, status, words) in [
      ([zip, "--port", "\(port)"], 1, "Another process is listening at 127.0.0.1:\(port)"),
      (["nowhere.zip"], 2, "There is no file or folder at nowhere.zip."),
      ([zip, "--map", "news/sport=/a"], 2, "the nearest is ‘news/sports’."),
      ([zip, "--map", "news/sports"], 2, "is not an identifier, an equals sign and a path"),
      ([zip, "--rules", rules.path], 2, "Line 2: ‘nonsense’ is not an identifier"),
      ([zip, "--rules", "nowhere"], 2, "Cannot read the file nowhere with rules: there is no such file."),
      ([zip, "--from-host", "other.example"], 2, "there are https://api.example.com."),
      ([zip, "--upstream", "ftp://a"], 2, "is not an address such as https://api.example.com"),
      ([zip, "--host", "nonsense"], 2, "is neither an IP address nor localhost"),
      ([plain.path], 2, "pass --map 'a.json=/path'."),
      ([UUID().uuidString, "--server", server.url.absoluteString], 1, "There is no snapshot with this id"),
    ] as [([String], Int32, String)] {
      let outcome = try await Product.run(["replay"] + arguments)
      #expect(outcome.status == status, "\(arguments) \(outcome.errors)")
      #expect(outcome.errors.contains(words), "\(outcome.errors)")
      #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
    }
    for arguments in [
      ["--strict", "--upstream", "http://a"], ["--after-last", "live"], ["--after-last", "x"],
    ] {
      #expect(try await Product.run(["replay", zip] + arguments).status == 64, "\(arguments)")
    }
    await server.program.stop()
    await program.stop()
  }
}
