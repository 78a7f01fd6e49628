import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// Inspecting and comparing snapshots.
@Suite struct LookingTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Packs the files `texts` into a bundle.
  private func pack(_ name: String, _ texts: [String: String]) async throws -> URL {
    for (file, text) in texts { try folder.write(Data(text.utf8), to: "\(name)/\(file)") }
    let zip = folder.file("\(name).zip")
    let outcome = try await Product.run(["pack", folder.file(name).path, "--output", zip.path])
    try #require(outcome.status == 0, "\(outcome.errors)")
    return zip
  }

  // MARK: diff

  @Test func `diff prints the differences, and its exit status is 1`() async throws {
    let first = try await pack(
      "first", ["feed.json": "{\"items\":[{\"id\":1,\"title\":\"a\"}]}", "old": "1", "same": "same"])
    let second = try await pack(
      "second", ["feed.json": "{\"items\":[{\"title\":\"b\",\"id\":1}]}", "new": "1", "same": "same"])
    let outcome = try await Product.run(["diff", first.path, second.path])
    #expect(outcome.status == 1, "\(outcome.errors)")
    #expect(outcome.errors.isEmpty)
    #expect(outcome.lines.contains("- old  1 B"))
    #expect(outcome.lines.contains("+ new  1 B"))
    #expect(outcome.lines.contains("~ feed.json  32 B → 32 B"))
    #expect(outcome.lines.contains("    ~ .items[0].title  \"a\" → \"b\""))
    #expect(outcome.lines.last == "Recordings: 1 changed, 1 removed, 1 added, 1 identical")
    #expect(!outcome.text.contains("\u{1B}"))
    for line in outcome.lines { #expect(line.count <= 80, "\(line)") }

    let same = try await Product.run(["diff", first.path, first.path])
    #expect(same.status == 0)
    #expect(same.lines.last == "No differences. Recordings: 3 identical.")
  }

  @Test func `diff summarizes each recording in a line, and compares a single one`() async throws {
    let first = try await pack(
      "first",
      ["user": #"{"updatedAt":1,"balance":{"amount":12.5}}"#, "log": "a\nb", "old": "1", "same": "1"])
    let second = try await pack(
      "second",
      ["user": #"{"updatedAt":2,"balance":{"amount":-12.5}}"#, "log": "a\nc", "new": "1", "same": "1"])
    let paths = [first.path, second.path]
    let summary = try await Product.run(["diff", "--summary"] + paths)
    #expect(summary.status == 1, "\(summary.errors)")
    #expect(
      summary.lines == [
        "~ log  1 change: line 2 b → c", "+ new", "- old",
        "~ user  2 changes: .balance.amount 12.5 → -12.5, .updatedAt 1 → 2",
      ])
    let json = try await Product.run(["diff", "--summary", "--json", "--recording", "user"] + paths)
    #expect(json.status == 1)
    let object = try JSONSerialization.jsonObject(with: json.output) as? NSDictionary
    #expect(
      object == [
        "differs": true, "files": 0, "alike": 0,
        "recordings": [
          [
            "identifier": "user", "kind": "changed", "compared": "json", "count": 2,
            "changes": [
              ["path": ".balance.amount", "first": "12.5", "second": "-12.5"],
              ["path": ".updatedAt", "first": "1", "second": "2"],
            ],
          ] as NSDictionary
        ],
      ] as NSDictionary)
    let one = try await Product.run(["diff", "--recording", "log"] + paths)
    #expect(one.lines.last == "Recordings: 1 changed, 0 identical")
    #expect(try await Product.run(["diff", "--recording", "same", "--summary"] + paths).status == 0)
    let none = try await Product.run(["diff", "--recording", "none"] + paths)
    #expect(none.status == 2 && none.errors.contains("Neither snapshot has a recording ‘none’."))
  }

  @Test func `diff accepts UUIDs, bundles and folders, and prints JSON`() async throws {
    let server = try await TestServer(storage: folder.file("storage"))
    let environment = ["SNAPSHOT_SERVER": server.url.absoluteString]
    let first = try await pack("first", ["feed.json": "[1,2]"])
    let second = try await pack("second", ["feed.json": "[1,3]"])
    let upload = try await Product.run(["upload", first.path, "--report", "A"], environment: environment)
    let id = try #require(upload.lines.first)
    let unpacked = folder.file("unpacked")
    #expect(
      try await Product.run(["fetch", id, "--into", unpacked.path], environment: environment).status == 0)

    for same in [first.path, unpacked.path, id, server.address("/v1/snapshots/\(id).zip")] {
      let outcome = try await Product.run(["diff", id, same], environment: environment)
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
    let outcome = try await Product.run(["diff", "--json", id, second.path], environment: environment)
    #expect(outcome.status == 1)
    let json = try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
    let changed = try #require((json["changed"] as? [[String: Any]])?.first)
    let change = (changed["changes"] as? [[String: String]])?.first
    #expect(change == ["kind": "changed", "path": ".[1]", "first": "2", "second": "3"])
  }

  @Test(
    arguments: [
      (["missing", "missing"], 2), (["source", "source"], 2), (["source"], 64), ([], 64),
      (["source", "source", "source"], 64), (["", ""], 2),
      (["00000000-0000-4000-8000-000000000000", "source", "--server", "http://127.0.0.1:9"], 2),
    ] as [([String], Int32)])
  func `the exit status of diff distinguishes failures from differences`(arguments: [String], status: Int32)
    async throws
  {
    try folder.write(Data("x".utf8), to: "source/a")
    let outcome = try await Product.run(["diff"] + arguments, folder: folder.url)
    #expect(outcome.status == status, "\(outcome.errors)")
    #expect(outcome.errors.contains("Error: "))
    #expect(outcome.output.isEmpty)
  }

  @Test func `a difference that cannot be written is a failure`() async throws {
    let first = try await pack("first", ["a": "1"])
    let second = try await pack("second", ["a": "2"])
    let script = "exec \"$0\" diff \"$1\" \"$2\" > /dev/full"
    let outcome = try await Tool.run("bash", ["-c", script, Product.path, first.path, second.path])
    #expect(outcome.status == 2)
  }

  @Test func `control characters and line breaks of a snapshot are escaped`() async throws {
    let escape = "\u{1B}[31m\u{202E}\u{7}"
    let first = try await pack(
      "first", ["a\(escape)": "1", "b": "{\"x\(escape)\":\"\(escape)\\u001b\"}", "c": escape])
    let second = try await pack("second", ["d\(escape)": "1", "b": "{}", "c": "\n\(escape)"])
    for arguments in [["diff", first.path, second.path], ["inspect", first.path]] {
      let outcome = try await Product.run(arguments)
      for scalar in outcome.text.unicodeScalars where scalar != "\n" {
        #expect(![.control, .format].contains(scalar.properties.generalCategory), "\(outcome.text)")
      }
    }
  }

  @Test func `long values are shortened to 80 columns`() async throws {
    let text = String(repeating: "long ", count: 100)
    let first = try await pack("first", ["a": "{\"text\":\"\(text)\",\"x\":[\"\(text)\"]}"])
    let second = try await pack("second", ["a": "{\"text\":\"\(text)!\"}"])
    let outcome = try await Product.run(["diff", first.path, second.path])
    #expect(outcome.status == 1)
    #expect(outcome.lines.contains("    ~ .text"))
    #expect(outcome.lines.contains { $0.hasSuffix("!\"") })
    for line in outcome.lines { #expect(line.count <= 80, "\(line)") }
  }

  // MARK: inspect

  @Test func `inspect shows modules, recordings and other files`() async throws {
    let zip = try await pack(
      "first", ["feed": String(repeating: "x", count: 2000), "profile": "1", "other": "2"])
    let unpacked = folder.file("unpacked")
    let manifest = try SnapshotBundle.unpack(zip: zip, into: unpacked)
    try folder.write(Data("log".utf8), to: "unpacked/attachments/log.txt")
    try folder.write(Data("db".utf8), to: "unpacked/app-data/Documents/db")
    var altered = manifest
    let other = altered.recordings.firstIndex { $0.identifier == "other" }
    altered.recordings[try #require(other)].exchange = .init(
      request: .init(method: "GET", url: "https://example.com/other"), response: .init(status: 404),
      startedAt: manifest.createdAt, responseAfter: 4, duration: 5)
    altered.modules = [
      Module(name: "News", files: ["feed", "profile"]),
      Module(name: "Podcasts", files: ["feed"] + (1...20).map { "podcasts/\($0)" }),
    ]
    altered.dropped = [
      .init(identifier: "podcasts/20", reason: .waiting, count: 1, bytes: 60_000_000),
      .init(identifier: "podcasts/19", reason: .diskFull, count: 2, bytes: 1000),
      .init(identifier: nil, reason: .waiting, count: 7, bytes: 500_000),
    ]
    try folder.write(altered.json(), to: "unpacked/manifest.json")
    let outcome = try await Product.run(["inspect", unpacked.path])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.lines.first == "Snapshot     \(manifest.id)")
    #expect(outcome.lines.contains("Modules      2, 1 complete"))
    #expect(outcome.lines.contains("     2.0 kB  News      complete"))
    #expect(outcome.lines.contains("     2.0 kB  Podcasts  1 of 21, missing:"))
    #expect(outcome.text.contains("podcasts/20 (dropped)"))
    let place = try #require(outcome.lines.firstIndex(of: "Dropped      3, 60.5 MB"))
    #expect(
      outcome.lines[(place + 1)...].prefix(4) == [
        "    60.5 MB  too much waited for the disk:", "               podcasts/20, others (7 calls)",
        "     1.0 kB  the disk was full:", "               podcasts/19 (2 calls)",
      ])
    #expect(outcome.lines.contains("             1 identifier in no module"))
    #expect(outcome.lines.contains("Recordings   3, 2.0 kB"))
    #expect(outcome.lines.contains("     2.0 kB  ██████████  feed"))
    #expect(outcome.lines.contains("        1 B  █           profile"))
    #expect(outcome.lines.contains("        1 B  █           other → 404, 5 ms"))
    #expect(outcome.lines.contains("Attachments  1, 3 B"))
    #expect(outcome.lines.contains("App data     1, 2 B"))
    for line in outcome.lines { #expect(line.count <= 80, "\(line)") }
    let json = try await Product.run(["inspect", "--json", unpacked.path])
    #expect(try Manifest(json: json.output).modules == altered.modules)
    #expect(try Manifest(json: json.output).dropped == altered.dropped)
  }

  // MARK: single files

  @Test func `curl downloads a file of a bundle, compressed or not, whole or in part`() async throws {
    let server = try await TestServer(storage: folder.file("storage"))
    let text = (0..<200_000).map { "line \($0 &* 7919 % 65_537)\n" }.joined()
    let zip = try await pack("first", ["news/feed.txt": text, "b.bin": "\u{1}\u{2}"])
    let upload = try await Product.run(
      ["upload", zip.path, "--report", "A"], environment: ["SNAPSHOT_SERVER": server.url.absoluteString])
    let id = try #require(upload.lines.first)
    let list = try await Curl([server.address("/v1/snapshots/\(id)/files")])
    let files = try #require(try list.json["files"] as? [[String: Any]])
    let href = try #require(files.compactMap { $0["href"] as? String }.first { $0.hasSuffix("feed.txt") })
    let address = server.address(href)

    let compressed = try await Curl(["--compressed", address])
    #expect(compressed.field("Content-Encoding") == "gzip")
    #expect(compressed.body == Data(text.utf8))
    let raw = try await Curl(["-H", "Accept-Encoding: gzip", address])
    #expect(raw.body.count < text.utf8.count / 2)
    #expect(raw.field("Content-Length") == "\(raw.body.count)")
    let identity = try await Curl([address])
    #expect(identity.field("Content-Encoding") == nil)
    #expect(identity.field("Content-Type") == "text/plain; charset=utf-8")
    #expect(identity.body == Data(text.utf8))
    let part = try await Curl(["-r", "1000000-1000099", "--compressed", address])
    #expect(part.status == 206)
    #expect(part.body == Data(text.utf8.dropFirst(1_000_000).prefix(100)))
    let head = try await Curl(["-I", address])
    #expect(head.field("Content-Length") == "\(text.utf8.count)")
    let again = try await Curl(["-H", "If-None-Match: \(identity.field("ETag") ?? "")", address])
    #expect(again.status == 304)
  }
}
