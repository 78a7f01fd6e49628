import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// `snapshot view`, with curl in place of the browser.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct ViewCommandTests {
  private let folder: TemporaryFolder
  /// The folder in which the command creates its own.
  private let temporary: URL

  init() throws {
    folder = try TemporaryFolder()
    temporary = folder.file("temporary")
    try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
  }

  private var environment: [String: String] { ["TMPDIR": temporary.path] }

  /// The names of what the command has not removed.
  private func left() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: temporary.path)
  }

  /// Packs files with these texts.
  private func bundle(_ name: String, _ texts: [String: String]) async throws -> (
    path: String, id: SnapshotID
  ) {
    for (file, text) in texts { try folder.write(Data(text.utf8), to: "\(name)/\(file)") }
    let zip = folder.file(name + ".zip").path
    let packed = try await Product.run(["pack", folder.file(name).path, "--output", zip])
    try #require(packed.status == 0, "\(packed.errors)")
    return (zip, try #require(SnapshotID(packed.lines[0])))
  }

  /// A running command, and a browser's cookies.
  private struct Viewer {
    let program: RunningProgram
    /// The address that signs in.
    let link: String
    let cookies: URL

    /// The server's address.
    var server: String { link.components(separatedBy: "/sign-in/")[0] }

    /// Requests an address, or a path of the server, as the browser.
    func get(_ address: String, _ options: String...) async throws -> Curl {
      let url = address.hasPrefix("/") ? server + address : address
      return try await Curl(
        ["-b", cookies.path, "-c", cookies.path, "-H", "Accept: text/html", url] + options)
    }
  }

  private func view(_ arguments: [String], environment more: [String: String] = [:]) async throws -> Viewer {
    let program = try await RunningProgram(
      Product.path, ["view"] + arguments, environment: environment.merging(more) { $1 }, folder: folder.url)
    let link = try #require(program.firstLine.split(separator: " ").last)
    return Viewer(program: program, link: String(link), cookies: folder.file("cookies-\(program.identifier)"))
  }

  @Test func `the printed address signs one browser in, once, and everything else is refused`() async throws {
    let (zip, id) = try await bundle("app", ["feed.json": #"{"title":"Storm"}"#])
    let viewer = try await view([zip])
    #expect(viewer.program.firstLine.hasPrefix("Viewing \(id) at http://127.0.0.1:"))
    let page = "/snapshots/\(id)"

    let pages = [
      "/", page, page + "/files/recordings/feed.json", page + "/bundle", page + "/raw/x",
      "/search?find=Storm",
    ]
    for path in pages {
      let refused = try await viewer.get(path)
      #expect(refused.status == 401 && !refused.text.contains("Storm"), "\(path)")
    }
    for path in ["/v1/snapshots", "/v1/snapshots/\(id)", "/v1/snapshots/\(id).zip", "/metrics"] {
      #expect([401, 404].contains(try await Curl([viewer.server + path]).status), "\(path)")
    }
    #expect(try await viewer.get("/sign-in").status == 404)
    #expect(try await viewer.get("/sign-in/" + String(repeating: "A", count: 43)).status == 401)
    // A program that examines the link does not use it up.
    #expect(try await viewer.get(viewer.link, "--head").status == 303)

    let entered = try await viewer.get(viewer.link)
    #expect(entered.status == 303 && entered.field("Location") == page)
    let cookie = try #require(entered.field("Set-Cookie"))
    #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
    let shown = try await viewer.get(page)
    #expect(shown.status == 200 && shown.text.contains("Storm"))
    #expect(!shown.text.contains("Sign out") && !shown.text.contains("Upload"))
    let details = try await viewer.get(page + "?show=details").text
    #expect(details.contains("SHA-256 of the bundle") && !details.contains("snapshot fetch"))
    #expect(!details.contains("Create link") && !details.contains("Received"))
    // The browser that has the session follows the link again when it restores its tabs.
    #expect(try await viewer.get(viewer.link).status == 303)

    let other = try await Curl([viewer.link, "-H", "Accept: text/html"])
    #expect(other.status == 401 && other.field("Set-Cookie")?.contains("session") != true)
    #expect(
      other.text.contains("The address signs one browser in, once.") && !other.text.contains("Back to home"))
    let session = String(cookie.prefix { $0 != ";" })
    for host in ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "printer", "10.0.0.1"] {
      let foreign = try await Curl([viewer.server + page, "-H", "Host: \(host)", "-H", "Cookie: \(session)"])
      #expect(foreign.status == 421 && !foreign.text.contains("Storm"), "\(host)")
    }
    #expect(try await viewer.get(page, "-X", "POST", "-H", "Origin: http://evil.example").status == 405)
    #expect(try await viewer.get(page + "/delete", "-X", "POST").status == 403)
    #expect(await viewer.program.stop() == 0)
    #expect(try left() == [])
  }

  @Test func `two snapshots are listed, searched, checked for problems and compared`() async throws {
    let (old, first) = try await bundle("old", ["feed.json": #"{"unread":3}"#, "cut.json": "[1,"])
    let (new, second) = try await bundle("new", ["feed.json": #"{"unread":4}"#, "cut.json": "[1,"])
    let viewer = try await view([old, new])
    #expect(viewer.program.firstLine.hasPrefix("Viewing 2 snapshots at "))
    #expect(try await viewer.get(viewer.link).field("Location") == "/")
    let list = try await viewer.get("/").text
    #expect(list.contains("\(first)") && list.contains("\(second)") && !list.contains("Last 30 days"))
    let found = try await viewer.get("/search?find=unread").text
    #expect(found.contains("/snapshots/\(first)/files/") && found.contains("/snapshots/\(second)/files/"))
    #expect(try await viewer.get("/snapshots/\(first)?list=problems").text.contains("1 problem"))
    let line = try #require(
      viewer.program.errors.split(separator: "\n").first { $0.hasPrefix("Their comparison: ") })
    let comparison = try await viewer.get(String(line.dropFirst("Their comparison: ".count)))
    #expect(comparison.status == 200 && comparison.text.contains("feed.json"))
    #expect(comparison.text.contains("unread"))
    await viewer.program.stop()
  }

  @Test func `a snapshot of a server keeps its UUID, report and note, and a folder is packed elsewhere`()
    async throws
  {
    let server = try await TestServer(storage: folder.file("storage"))
    let (zip, id) = try await bundle("app", ["feed.json": #"{"title":"Storm"}"#])
    let options = ["--server", server.url.absoluteString]
    let uploaded = try await Product.run(
      ["upload", zip, "--report", "BUG-7", "--note", "The title is wrong"] + options)
    #expect(uploaded.status == 0, "\(uploaded.errors)")
    let viewer = try await view(["BUG-7", "app", "BUG-7"] + options)
    #expect(viewer.program.firstLine.hasPrefix("Viewing 2 snapshots at "))
    await server.program.stop()
    _ = try await viewer.get(viewer.link)
    let page = try await viewer.get("/snapshots/\(id)").text
    #expect(page.contains("The title is wrong") && page.contains("/reports/BUG-7"))
    #expect(try await viewer.get("/reports/local").text.contains("1 recording"))
    await viewer.program.stop()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("app").path) == ["feed.json"])
    #expect(try left() == [])
  }

  @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
  func `what a killed command has left is removed by the next one, and not what a running one uses`(
    signal: Int32
  ) async throws {
    let (zip, id) = try await bundle("app", ["feed.json": "{}"])
    let killed = try await view([zip])
    let abandoned = try left()
    #expect(abandoned.count == 1)
    let permissions = try FileManager.default.attributesOfItem(
      atPath: temporary.appending(path: abandoned[0]).path)[.posixPermissions]
    #expect(permissions as? Int == 0o700)
    await killed.program.stop(SIGKILL)
    #expect(try left() == abandoned)

    let running = try await view([zip])
    let kept = try left()
    #expect(kept.count == 1 && kept != abandoned)
    // Another command with such a folder.
    #expect(try await Product.run(["inspect", zip], environment: environment).status == 0)
    #expect(try left() == kept)
    _ = try await running.get(running.link)
    #expect(try await running.get("/snapshots/\(id)").status == 200)
    #expect(await running.program.stop(signal) == 0)
    #expect(try left() == [])
  }

  @Test func `a session of another command is not valid`() async throws {
    let (zip, id) = try await bundle("app", ["feed.json": "{}"])
    let (one, other) = (try await view([zip]), try await view([zip]))
    let cookie = try #require(try await one.get(one.link).field("Set-Cookie")?.prefix { $0 != ";" })
    let secret = cookie.split(separator: "=", maxSplits: 1)[1]
    let port = try #require(other.server.split(separator: ":").last)
    let refused = try await other.get(
      "/snapshots/\(id)", "-H", "Cookie: \(cookie); snapshot-session-\(port)=\(secret)")
    #expect(refused.status == 401)
    await one.program.stop()
    await other.program.stop()
  }

  @Test func `the browser is opened if that was asked for, and its absence ends nothing`() async throws {
    let (zip, id) = try await bundle("app", ["feed.json": "{}"])
    let opener = try folder.write(
      Data("#!/bin/sh\ncurl -s -o /dev/null -c \"$JAR\" \"$1\"\n".utf8), to: "bin/xdg-open")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: opener.path)
    let jar = folder.file("jar")
    let path = "\(folder.file("bin").path):/usr/bin:/bin"
    let opened = try await view([zip, "--browser"], environment: ["PATH": path, "JAR": jar.path])
    try await eventually { FileManager.default.fileExists(atPath: jar.path) }
    #expect(try await Curl(["-b", jar.path, "\(opened.server)/snapshots/\(id)"]).status == 200)
    await opened.program.stop()

    let none = try await view([zip, "--browser"], environment: ["PATH": folder.file("empty").path])
    try await eventually { try none.program.errors.contains("No browser was opened") }
    #expect(try await none.get(none.link).status == 303)
    #expect(await none.program.stop() == 0)
  }

  @Test(.enabled(if: Browser.isInstalled, "Install chromium and chromium-driver: make setup"))
  func `a browser is signed in by the address, and its scripts work`() async throws {
    let (zip, id) = try await bundle(
      "app", ["feed.json": #"{"items":[{"title":"Storm"}]}"#, "other.json": "[]"])
    let viewer = try await view([zip])
    try await Browser.run(width: 390) { browser in
      try await browser.open(#require(URL(string: viewer.link)))
      // The secret is not in the address any more.
      #expect(try await browser.evaluate("location.pathname") == "/snapshots/\(id)")
      #expect(try await browser.evaluate("document.referrer") == "")
      try await browser.open(
        #require(URL(string: "\(viewer.server)/snapshots/\(id)/files/recordings/feed.json")))
      #expect(try await browser.text("main").contains("Storm"))
      #expect(
        try await browser.evaluate(
          "document.documentElement.scrollWidth <= document.documentElement.clientWidth")
          == "true")
      // What the scripts of the page load.
      let part = "done => fetch(location.pathname + '?part=1').then(answer => done(String(answer.status)))"
      #expect(try await browser.result(ofAsync: part) == "200")
    }
    await viewer.program.stop()
  }

  @Test func `bad input is refused with one sentence, and leaves nothing`() async throws {
    let (zip, _) = try await bundle("app", ["feed.json": #"{"title":"Storm"}"#])
    let bytes = try Data(contentsOf: URL(filePath: zip))
    let cut = try folder.write(bytes.prefix(bytes.count - 30), to: "cut.zip").path
    var changed = bytes
    let start = try #require(bytes.firstRange(of: Data("recordings/feed.json".utf8))).upperBound
    changed[start + 2] ^= 0x10
    let damaged = try folder.write(changed, to: "damaged.zip").path
    let plain = try folder.write(Data("{}".utf8), to: "plain.json").path
    let running = try await view([zip])
    let port = try #require(running.server.split(separator: ":").last)
    let server = try await TestServer(storage: folder.file("storage"))
    let kept = try left()
    for (arguments, status, words) in [
      ([zip, "--port", "\(port)"], 1, "Another process is listening at 127.0.0.1:\(port)"),
      (["nowhere.zip"], 2, "There is no file or folder at nowhere.zip."),
      ([zip, plain], 2, "is not a snapshot bundle; `snapshot pack` creates one from it."),
      ([cut], 2, "cut.zip"),
      ([damaged], 2, "damaged.zip can't be shown: "),
      ([UUID().uuidString, "--server", server.url.absoluteString], 1, "There is no snapshot with this id"),
    ] as [([String], Int32, String)] {
      let outcome = try await Product.run(["view"] + arguments, environment: environment)
      #expect(outcome.status == status, "\(arguments) \(outcome.errors)")
      #expect(outcome.errors.contains(words), "\(outcome.errors)")
      #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
      #expect(outcome.text.isEmpty)
      #expect(try left() == kept, "\(arguments)")
    }
    #expect(try await Product.run(["view"]).status == 64)
    await server.program.stop()
    await running.program.stop()
  }
}
