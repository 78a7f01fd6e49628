import Foundation
import TestSupport
import Testing

/// axe-core, a program that checks pages for accessibility. `Tests/Accessibility/fetch` downloads it.
private enum Axe {
  static let file = PackageFolder.url().appending(path: ".build-axe/axe.min.js")
  static var isInstalled: Bool { FileManager.default.fileExists(atPath: file.path) }

  /// Names the rules that the open page violates, with an element for each.
  static let check = """
    (done) => axe.run(document, {resultTypes: ["violations"]}).then(
      ({violations}) => done(violations.map(({id, nodes}) => `${id}: ${nodes.length} × ${nodes[0].html}`).join("\\n")),
      done)
    """
}

extension WebPagesTests {
  @Test(
    .enabled(if: Axe.isInstalled, "Download axe-core: Tests/Accessibility/fetch"),
    arguments: [(1280, "light"), (390, "dark")])
  func `every kind of page is accessible and fits the screen`(width: Int, scheme: String) async throws {
    try await withBrowser(width: width) { server, browser in
      let image = Data(
        base64Encoded:
          "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")
      try folder.write(try #require(image), to: "first/picture.png")
      for (name, text) in [
        "tree.json": Self.tree, "feed.json": "{\"unread\": 1, \"items\": [{\"id\": 1}]}",
        "log.txt": "one\ntwo\n",
        "broken.json": "{\"a\":", "empty": "", "bytes": "\u{0}\u{1}",
      ] {
        try folder.write(Data(text.utf8), to: "first/\(name)")
      }
      let admin = try await token("--scope", "admin", "--name", "Ada")
      let outcome = try await Product.run(
        [
          "upload", folder.file("first").path, "--report", "BUG-7", "--note", "Wrong\nnumber", "--field",
          "a=b",
        ],
        environment: ["SNAPSHOT_TOKEN": admin, "SNAPSHOT_SERVER": server.url.absoluteString])
      let first = try #require(outcome.lines.first, "\(outcome.errors)")
      let second = try await attach(["feed.json": "{\"unread\": -1}"], to: server, token: admin)
      let file = "/snapshots/\(first)/files/recordings"
      let open = ["/sign-in", "/snapshots/\(first)"]
      let pages = [
        "/", "/?text=wrong", "/?text=nothing+like+this", "/?report=BUG-7", "/reports/BUG-7",
        "/delete?report=BUG-7", "/docs/datasnapshots", "/snapshots/\(first)/search?find=unread",
        "/search?find=nothing",
        "/snapshots/\(first)", "/snapshots/\(first)?show=details", "/snapshots/\(first)?show=comments",
        "/snapshots/\(second)?list=problems", "/snapshots/\(first)/diff",
        "/snapshots/\(first)/diff?with=x",
        "/snapshots/\(first)/diff?with=\(second)", "/snapshots/\(first)/history",
        "\(file)/tree.json", "\(file)/tree.json?at=/items/3", "\(file)/tree.json?at=/items/3/name",
        "\(file)/tree.json?view=table", "\(file)/tree.json?view=table&sort=id&order=descending",
        "\(file)/tree.json?view=formatted", "\(file)/tree.json?find=key:name",
        "\(file)/tree.json?find=nothing",
        "\(file)/log.txt", "\(file)/log.txt?view=text&find=two", "\(file)/log.txt?view=hex", "\(file)/bytes",
        "\(file)/picture.png", "\(file)/broken.json", "\(file)/empty",
        "/docs", "/docs/api", "/docs/reference", "/snapshots/00000000-0000-4000-8000-000000000000",
      ]
      let preference: [String: Any] = ["features": [["name": "prefers-color-scheme", "value": scheme]]]
      try await browser.command("Emulation.setEmulatedMedia", preference)
      try await browser.addScript(String(contentsOf: Axe.file, encoding: .utf8))
      func check(_ page: String) async throws {
        try await browser.open(url(page, on: server))
        #expect(try await browser.result(ofAsync: Axe.check) == "", "\(page)")
        #expect(try await fits(browser), "\(page)")
      }
      for page in open { try await check(page) }
      try await browser.type(admin, into: "#token")
      try await browser.follow("main form button")
      for page in pages { try await check(page) }
    }
  }
}
