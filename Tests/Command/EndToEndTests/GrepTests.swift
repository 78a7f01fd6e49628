import Foundation
import TestSupport
import Testing

/// Searching snapshots, and printing their files.
@Suite struct GrepTests {
  private let folder: TemporaryFolder
  private let zip: URL

  init() async throws {
    folder = try TemporaryFolder()
    let media = (0..<20).map { "{\"width\":\($0 == 7 ? -1 : 1200)}" }.joined(separator: ",")
    try folder.write(
      Data("{\"media\":[\(media)],\"user\":{\"balance\":-99.90,\"name\":\"A\\u00e9\"}}".utf8),
      to: "app/feed.json")
    try folder.write(Data("started\nthe balance was negative\n".utf8), to: "app/log.txt")
    try folder.write(Data([0, 1, 2, 3]), to: "app/image.bin")
    zip = folder.file("app.zip")
    let outcome = try await Product.run(["pack", folder.file("app").path, "--output", zip.path])
    try #require(outcome.status == 0, "\(outcome.errors)")
  }

  private func grep(_ arguments: String...) async throws -> Tool.Outcome {
    try await Product.run(["grep"] + arguments, folder: folder.url)
  }

  @Test func `grep prints values by their paths, the rare ones first`() async throws {
    let outcome = try await grep("width", zip.path)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.lines == [
        "feed.json", "  .media[*].width  20", "    -1 × 1  /media/7/width", "    1200 × 19  /media/0/width",
      ])
    #expect(!outcome.text.contains("\u{1B}"))
    let line = try await grep("negative", "app.zip")
    #expect(line.lines == ["log.txt", "    line 2: the balance was negative × 1"])
  }

  @Test func `bundles, folders, files and snapshots of a server are searched`() async throws {
    let server = try await TestServer(storage: folder.file("storage"))
    let environment = ["SNAPSHOT_SERVER": server.url.absoluteString]
    let upload = try await Product.run(["upload", zip.path, "--report", "A"], environment: environment)
    let id = try #require(upload.lines.first)
    for source in [
      [zip.path], [folder.file("app").path], [folder.file("app/feed.json").path], [id], ["--report", "A"],
    ] {
      let outcome = try await Product.run(["grep", "width:<0"] + source, environment: environment)
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(outcome.lines.contains("    -1 × 1  /media/7/width"))
    }
    let several = try await Product.run(
      ["grep", "--json", "balance:-99.9", id, zip.path], environment: environment)
    let json = try #require(try JSONSerialization.jsonObject(with: several.output) as? [[String: Any]])
    #expect(json.count == 2)
    #expect(json.first?["identifier"] as? String == "feed.json")
    let group = try #require((json.first?["groups"] as? [[String: Any]])?.first)
    #expect(group["path"] as? String == ".user.balance")
    let value = try #require((group["values"] as? [[String: Any]])?.first)
    #expect(value["value"] as? String == "-99.90" && value["pointer"] as? String == "/user/balance")
  }

  @Test(
    arguments: [
      (["width:>5000", "app.zip"], 1), (["--json", "nothing", "app.zip"], 1),
      (["--", "-99.9", "app.zip"], 0),
      ([".a[", "app.zip"], 2), (["x", "missing"], 2), (["x", ""], 2), (["x"], 64), ([], 64),
      (["x", "--report", "A", "--server", "http://127.0.0.1:9"], 2),
    ] as [([String], Int32)])
  func `the exit status tells found, nothing and failed apart`(arguments: [String], status: Int32)
    async throws
  {
    let outcome = try await Product.run(["grep"] + arguments, folder: folder.url)
    #expect(outcome.status == status, "\(outcome.errors)")
    #expect(outcome.errors.contains("Error: ") == (status > 1))
    #expect(arguments.first != "--json" || outcome.text == "[]\n")
  }

  @Test(arguments: [
    (["log.txt"], "started\nthe balance was negative\n"),
    (["log.txt", "--raw"], "started\nthe balance was negative\n"),
    (["feed.json", "--path", ".user"], "{\n  \"balance\": -99.90,\n  \"name\": \"A\\u00e9\"\n}\n"),
    (["feed.json", "--path", "/user/balance"], "-99.90\n"),
    (["feed.json", "--path", ".user.name"], "\"A\\u00e9\"\n"),
    (["feed.json", "--path", ".user.name", "--raw"], "Aé\n"),
    (["feed.json", "--path", ".media[7]"], "{\n  \"width\": -1\n}\n"),
    (["image.bin", "--raw"], "\u{0}\u{1}\u{2}\u{3}"),
  ])
  func `cat prints a file, or one of its values`(arguments: [String], text: String) async throws {
    let outcome = try await Product.run(["cat", "app.zip"] + arguments, folder: folder.url)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.text == text)
  }

  @Test func `cat formats JSON, and keeps its bytes with --raw`() async throws {
    let whole = try await Product.run(["cat", zip.path, "feed.json"])
    #expect(whole.lines.first == "{")
    #expect(whole.lines.contains("      \"width\": -1"))
    let file = try Data(contentsOf: folder.file("app/feed.json"))
    #expect(try await Product.run(["cat", zip.path, "feed.json", "--raw"]).output == file)
    #expect(
      try JSONSerialization.jsonObject(with: whole.output) as? NSDictionary == JSONSerialization.jsonObject(
        with: file) as? NSDictionary)
  }

  @Test(arguments: [
    (["fed.json"], "did you mean ‘feed.json’?"), (["feed.json", "--path", ".none"], "no value at .none"),
    (["feed.json", "--path", "x"], "not a path"), (["log.txt", "--path", ".a"], "neither JSON"),
    (["feed.json", "--call", "7"], "no call 7"),
  ])
  func `cat names what is wrong`(arguments: [String], words: String) async throws {
    let outcome = try await Product.run(["cat", "app.zip"] + arguments, folder: folder.url)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains(words), "\(outcome.errors)")
    #expect(outcome.output.isEmpty)
  }
}
