import DataSnapshots
import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// `snapshot test`, which writes a failing test from a snapshot.
@Suite struct TestCommandTests {
  private let folder: TemporaryFolder
  private var tests: URL { folder.file("AppTests") }

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(at: tests, withIntermediateDirectories: false)
  }

  /// Makes a bundle with an exchange, a secret and a hostile note.
  private func bundle(report: String? = "BUG-123") throws -> URL {
    let time = Date(timeIntervalSince1970: 1_700_000_000)
    let exchange = Manifest.Exchange(
      request: .init(method: "GET", url: "https://news.invalid/feed"), response: .init(status: 503),
      startedAt: time)
    let sources = try (1...3).map { (call: Int) in
      SnapshotBundle.Source(
        identifier: "GET https://news.invalid/feed",
        file: try folder.write(Data(#"{"token":"s3cr3t"}"#.utf8), to: "sources/\(call)"), recordedAt: time,
        call: call, exchange: exchange)
    }
    let others = try (1...30).map { number in
      SnapshotBundle.Source(
        identifier: "item/\(number)", file: try folder.write(Data(), to: "sources/item-\(number)"),
        recordedAt: time)
    }
    var manifest = Manifest(
      id: SnapshotID("6f0c1c56-2b1b-4a3e-9d5a-0c4f6f1f2a10") ?? SnapshotID(), createdAt: time,
      application: .init(identifier: "com.example.news", version: "3.1", build: "7"),
      device: .init(model: "iPhone17,1", system: "iOS", systemVersion: "26.0", locale: "de_AT"),
      report: report.flatMap { ReportID($0) },
      modules: [Module(name: "News", files: ["item/1", "item/99"])],
      note: "The total is wrong\n*/ } fatalError()\r\n\u{2028}import Evil")
    manifest.timeZone = "Europe/Vienna"
    let zip = folder.file("bundle.zip")
    _ = try SnapshotBundle.pack(sources + others, describedBy: manifest, to: zip)
    return zip
  }

  private func written() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: tests.path).sorted()
  }

  private func run(_ arguments: String...) async throws -> Tool.Outcome {
    try await Product.run(["test"] + arguments + ["--into", tests.path])
  }

  @Test func `fixture and test file are written, and the command that runs the test is printed`() async throws
  {
    let zip = try bundle()
    let outcome = try await run(zip.path)
    try #require(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.lines == [
        "\(tests.path)/Fixtures/BUG-123.snapshot.zip", "\(tests.path)/BUG-123Tests.swift",
        "swift test --filter BUG_123Tests",
      ])
    #expect(outcome.errors.contains("SnapshotReplay"))
    #expect(try written() == ["BUG-123Tests.swift", "Fixtures", "Fixtures/BUG-123.snapshot.zip"])
    let fixture = tests.appending(path: "Fixtures/BUG-123.snapshot.zip")
    #expect(try Data(contentsOf: fixture) == Data(contentsOf: zip))

    let text = try String(contentsOf: tests.appending(path: "BUG-123Tests.swift"), encoding: .utf8)
    for words in [
      "struct BUG_123Tests {", #"@Test("BUG-123", .replaying("BUG-123"))"#, "Issue.record(",
      "// com.example.news 3.1 (7) on iPhone17,1, iOS 26.0, de_AT, Europe/Vienna",
      "//   The total is wrong\n//   */ } fatalError()\n",
      "//   News: 1 of 2 recorded", "//   GET https://news.invalid/feed, 3 calls, 503, 503, 503\n",
      "//   … and 11 more",
    ] {
      #expect(text.contains(words), "\(words) in \(text)")
    }
    #expect(!text.split(separator: "\n").contains { $0.hasPrefix("import Evil") || $0.hasPrefix("*/") })
    let parsed = try await Tool.run(
      "swiftc", ["-frontend", "-parse", tests.appending(path: "BUG-123Tests.swift").path])
    #expect(parsed.status == 0, "\(parsed.errors)")
  }

  @Test func `nothing is overwritten, and nothing is half-written`() async throws {
    let zip = try bundle()
    #expect(try await run(zip.path, "--name", "Empty").status == 0)
    let before = try written()
    let again = try await run(zip.path, "--name", "Empty")
    #expect(again.status == 2 && again.errors.contains("exists already"), "\(again.errors)")
    try folder.write(Data("mine".utf8), to: "AppTests/TakenTests.swift")
    let taken = try await run(zip.path, "--name", "Taken")
    #expect(taken.status == 2 && taken.errors.contains("TakenTests.swift exists already"))
    #expect(try written() == (before + ["TakenTests.swift"]).sorted())
    #expect(try String(contentsOf: tests.appending(path: "TakenTests.swift"), encoding: .utf8) == "mine")
  }

  @Test func `the same snapshot gives the same bytes, also redacted`() async throws {
    let zip = try bundle(report: nil)
    var copies: [Data] = []
    for name in ["One", "Two"] {
      let outcome = try await run(zip.path, "--name", name, "--redact", "usualSecrets")
      try #require(outcome.status == 0, "\(outcome.errors)")
      copies.append(try Data(contentsOf: tests.appending(path: "Fixtures/\(name).snapshot.zip")))
    }
    #expect(copies[0] == copies[1])
    let manifest = try SnapshotBundle.unpack(
      zip: tests.appending(path: "Fixtures/One.snapshot.zip"), into: folder.file("unpacked"))
    #expect(manifest.id != SnapshotID("6f0c1c56-2b1b-4a3e-9d5a-0c4f6f1f2a10"))
    #expect(manifest.redactions.contains("tokens") && manifest.timeZone == "Europe/Vienna")
    for recording in manifest.recordings {
      let data = try Data(contentsOf: folder.file("unpacked/" + recording.path))
      #expect(data.firstRange(of: Data("s3cr3t".utf8)) == nil)
    }
    // Without a report, the name comes from the UUID.
    #expect(try await run(zip.path).lines.last == "swift test --filter Snapshot_6f0c1c56Tests")
  }

  @Test func `a snapshot on a server is named by its report`() async throws {
    let server = try await TestServer(storage: folder.file("storage"))
    let environment = ["SNAPSHOT_SERVER": server.url.absoluteString]
    let upload = try await Product.run(
      ["upload", bundle().path, "--report", "BUG-7"], environment: environment)
    try #require(upload.status == 0, "\(upload.errors)")
    let outcome = try await Product.run(
      ["test", "BUG-7", "--into", tests.path], environment: environment)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try written().contains("BUG-7Tests.swift"))
    let unknown = try await Product.run(
      ["test", "\(SnapshotID())", "--into", tests.path, "--name", "None"], environment: environment)
    #expect(unknown.status == 1 && unknown.errors.split(separator: "\n").count == 1, "\(unknown.errors)")
    #expect(try written().count == 3)
  }

  @Test func `bad input is refused in one sentence`() async throws {
    let zip = try bundle()
    var damaged = try Data(contentsOf: zip)
    damaged.removeLast(30)
    try folder.write(damaged, to: "damaged.zip")
    try folder.write(Data(#"{"formatVersion":3}"#.utf8), to: "newer/manifest.json")
    try folder.write(Data("x".utf8), to: "plain.txt")
    let cases: [([String], String)] = [
      ([zip.path, "--name", "../x"], "can't be the name of a test"),
      ([zip.path, "--name", String(repeating: "n", count: 81)], "can't be the name of a test"),
      ([folder.file("damaged.zip").path, "--name", "A"], "The zip is refused"),
      ([folder.file("newer").path, "--name", "A"], "format version 3"),
      ([folder.file("plain.txt").path, "--name", "A"], "is not a snapshot bundle"),
      ([zip.path, "--name", "A", "--redact", "nowhere.json"], "nowhere.json can't be read"),
    ]
    for (arguments, words) in cases {
      let outcome = try await Product.run(["test"] + arguments + ["--into", tests.path])
      #expect(outcome.status == 2 && outcome.errors.contains(words), "\(outcome.errors)")
      #expect(outcome.output.isEmpty)
    }
    let nowhere = try await Product.run(["test", zip.path, "--into", folder.file("nowhere").path])
    #expect(nowhere.status == 2 && nowhere.errors.contains("There is no folder"))
    #expect(try written().isEmpty)
    #expect(try await run(zip.path, "--name", String(repeating: "n", count: 80)).status == 0)
  }
}
