import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// The commands of a developer.
@Suite struct CommandTests {
  @Test func `upload prints only the UUID, and fetch returns the same recordings`() async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(storage: folder.file("storage"))
    let environment = ["SNAPSHOT_SERVER": server.url.absoluteString]
    try folder.write(Data("{\"a\":1}".utf8), to: "source/feed.json")
    try folder.write(Data([0, 255, 10]), to: "source/nested/größe ☃.bin")

    let upload = try await Product.run(
      ["upload", folder.file("source").path, "--report", "proj/issue/9"], environment: environment)
    #expect(upload.status == 0, "\(upload.errors)")
    #expect(upload.lines.count == 1)
    let id = try #require(SnapshotID(upload.lines[0]))

    let fetch = try await Product.run(
      ["fetch", "\(id)", "--into", folder.file("fetched").path], environment: environment)
    #expect(fetch.status == 0, "\(fetch.errors)")
    #expect(!fetch.errors.contains("\u{1B}"))
    let manifest = try SnapshotBundle.validate(folder: folder.file("fetched"))
    #expect(Set(manifest.recordings.map(\.identifier)) == ["feed.json", "nested/größe ☃.bin"])
    let feed = try #require(manifest.recordings.first { $0.identifier == "feed.json" })
    #expect(try Data(contentsOf: folder.file("fetched/\(feed.path)")) == Data("{\"a\":1}".utf8))

    let url = server.address("/v1/snapshots/\(id).zip")
    let output = folder.file("again.zip").path
    let byURL = try await Product.run(["fetch", url, "--output", output])
    #expect(byURL.status == 0, "\(byURL.errors)")
    #expect(byURL.lines == [output])

    let verify = try await Product.run(["verify", output])
    #expect(verify.status == 0)
    #expect(verify.text.contains("\(id)"))
    #expect(try await Product.run(["verify", "--archive", output]).status == 0)

    let inspect = try await Product.run(["inspect", "\(id)"], environment: environment)
    #expect(inspect.status == 0)
    #expect(inspect.text.contains("größe ☃.bin"))

    for arguments in [["list", "--report", "proj/issue/9"], ["list"]] {
      let list = try await Product.run(arguments, environment: environment)
      #expect(list.status == 0)
      #expect(list.lines.count == 2)
      #expect(list.lines.last?.hasPrefix("\(id)") == true)
    }
    let json = try await Product.run(["list", "--json"], environment: environment)
    #expect(try SnapshotJSON.decode([SnapshotRecord].self, from: json.output).map(\.id) == [id])
  }

  @Test func `an empty list is one line of JSON`() async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(storage: folder.file("storage"))
    let snapshots = try await Product.run(["list", "--json", "--server", server.url.absoluteString])
    #expect(snapshots.status == 0 && snapshots.text == "[]\n" && snapshots.errors.isEmpty)
    let tokens = try await Product.run(["token", "list", "--json", "--storage", folder.file("storage").path])
    #expect(tokens.status == 0 && tokens.text == "[]\n")
  }

  @Test func `packing is deterministic, and other programs can read the bundle`() async throws {
    let folder = try TemporaryFolder()
    let (zip, id) = try await Sample.bundle(in: folder, count: 10)
    let unpacked = folder.file("unpacked")
    let unzip = try await Tool.run("unzip", ["-q", zip.path, "-d", unpacked.path])
    #expect(unzip.status == 0, "\(unzip.errors)")
    let again = folder.file("again.zip")
    #expect(try await Product.run(["pack", unpacked.path, "--output", again.path]).lines == ["\(id)"])
    #expect(try Data(contentsOf: again) == Data(contentsOf: zip))
    let script = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); sys.exit(z.testzip() is not None)"
    #expect(try await Tool.run("python3", ["-c", script, zip.path]).status == 0)
    #expect(try await Tool.run("bsdtar", ["-tf", zip.path]).lines.contains("manifest.json"))
  }

  @Test func `packing takes a note and fields for every kind of source`() async throws {
    let folder = try TemporaryFolder()
    let (zip, id) = try await Sample.bundle(in: folder)
    let unpacked = folder.file("unpacked")
    #expect(try await Tool.run("unzip", ["-q", zip.path, "-d", unpacked.path]).status == 0)
    try folder.write(Data("{}".utf8), to: "plain/file.json")
    let app = try AppDataFixture(["Documents/notes.json": "[1]"])
    let words = ["--note", "It was negative", "--field", "a=b=c"]
    for (index, source) in ["unpacked", "plain", "plain/file.json", app.bundle.path].enumerated() {
      let packed = try await Product.run(
        ["pack", source, "--output", "\(index).zip", "--json"] + words, folder: folder.url)
      #expect(packed.status == 0, "\(packed.errors)")
      let manifest = try Manifest(json: packed.output)
      #expect(manifest.note == "It was negative" && manifest.fields["a"] == "b=c")
      #expect(index != 0 || manifest.id == id)
      let inspect = try await Product.run(["inspect", "\(index).zip"], folder: folder.url)
      #expect(inspect.lines.first == "  It was negative")
    }
    let twice = ["--field", "a=1", "--field", "a=2"]
    let refused = try await Product.run(["pack", "plain", "--output", "x.zip"] + twice, folder: folder.url)
    #expect(refused.status == 64)
    #expect(!FileManager.default.fileExists(atPath: folder.file("x.zip").path))
  }

  @Test func `a note can't imitate the record, and no text controls a terminal`() async throws {
    let folder = try TemporaryFolder()
    try folder.write(Data("{}".utf8), to: "plain/file.json")
    let ends = ["\n", "\r\n", "\r", "\u{0B}", "\u{0C}", "\u{85}", "\u{2028}", "\u{2029}"]
    let note = "Words" + ends.map { $0 + "Report       FAKE-1" }.joined() + "\u{9B}31m\u{202E}\u{E0041}😀"
    let field = "Report       FAKE-2=" + ends.joined(separator: "Report       FAKE-3")
    let packed = try await Product.run(
      ["pack", "plain", "--output", "a.zip", "--note", note, "--field", field], folder: folder.url)
    #expect(packed.status == 0, "\(packed.errors)")
    let inspect = try await Product.run(["inspect", "a.zip"], folder: folder.url)
    let shown = inspect.text.split(whereSeparator: \.isNewline)
    #expect(shown.filter { $0.contains("FAKE") }.count == 2 * ends.count)
    #expect(shown.filter { $0.contains("FAKE") }.allSatisfy { $0.hasPrefix("  ") })
    let json = try await Product.run(["inspect", "a.zip", "--json"], folder: folder.url)
    let unseen: Set<Unicode.GeneralCategory> = [.control, .format, .lineSeparator, .paragraphSeparator]
    for text in [inspect.text, json.text] {
      #expect(!text.unicodeScalars.contains { $0 != "\n" && unseen.contains($0.properties.generalCategory) })
      #expect(text.contains("😀"))
    }
    #expect(json.text.contains(#"\u009b31m\u202e\udb40\udc41😀"#))
    #expect(try Manifest(json: json.output).note == note)
  }

  @Test func `help names where all limits of a bundle are`() async throws {
    let help = try await Product.run(["help", "pack"])
    #expect(help.text.contains("/docs/bundlelimits"))
    let storage = try TemporaryFolder()
    let server = try await TestServer(storage: storage.file("storage"))
    let page = try await Tool.run(
      "curl", ["--silent", "--fail", server.url.appending(path: "docs/bundlelimits").absoluteString])
    #expect(page.text.contains("Limits of a bundle"))
  }

  @Test func `verify refuses a damaged bundle`() async throws {
    let folder = try TemporaryFolder()
    let (zip, _) = try await Sample.bundle(in: folder)
    var bytes = try Data(contentsOf: zip)
    bytes[bytes.count / 2] ^= 0x40
    let damaged = try folder.write(bytes, to: "damaged.zip")
    for arguments in [["verify", damaged.path], ["verify", "--archive", damaged.path]] {
      let outcome = try await Product.run(arguments)
      #expect(outcome.status == 2)
      #expect(outcome.errors.hasPrefix("Error: "))
      #expect(outcome.output.isEmpty)
    }
  }

  @Test(
    arguments: [
      (["upload"], 64), (["upload", "x", "--report", "a b"], 64), (["fetch", "nonsense"], 2),
      (["fetch", "00000000-0000-4000-8000-000000000000", "--into", "a", "--output", "b"], 64),
      (["pack", "missing", "--output", "x.zip"], 2), (["verify", "missing"], 2), (["inspect", "missing"], 2),
      (["list", "--server", "http://127.0.0.1:9"], 1), (["nonsense"], 64),
    ] as [([String], Int32)])
  func `the exit status distinguishes kinds of failure`(arguments: [String], status: Int32) async throws {
    let folder = try TemporaryFolder()
    let outcome = try await Product.run(arguments, folder: folder.url)
    #expect(outcome.status == status, "\(outcome.errors)")
    #expect(outcome.errors.contains("Error: "))
    #expect(outcome.output.isEmpty)
  }

  @Test func `control characters of a snapshot never reach the terminal`() async throws {
    let folder = try TemporaryFolder()
    try folder.write(Data(#"{"formatVersion":1,"id":"\u001b[31m"}"#.utf8), to: "snapshot/manifest.json")
    let outcome = try await Product.run(["verify", folder.file("snapshot").path])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("‘\\u{1B}[31m’ is not a UUID"))
    #expect(!outcome.errors.contains("\u{1B}"))
  }

  @Test func `a link leads to its own server, which receives no token of another one`() async throws {
    let folder = try TemporaryFolder()
    let (mine, other) = (
      try await TestServer(storage: folder.file("mine")), try await TestServer(storage: folder.file("other"))
    )
    let (zip, id) = try await Sample.bundle(in: folder)
    let upload = try await Product.run(
      ["upload", zip.path, "--report", "B", "--server", other.url.absoluteString])
    #expect(upload.lines == ["\(id)"])
    let environment = ["SNAPSHOT_SERVER": mine.url.absoluteString, "SNAPSHOT_TOKEN": "not\nfor others"]
    let link = other.address("/v1/snapshots/\(id).zip")
    let fetch = try await Product.run(
      ["fetch", link, "--output", folder.file("a.zip").path], environment: environment)
    #expect(fetch.status == 0, "\(fetch.errors)")
    // The client refuses this token as soon as it would be sent.
    let sent = try await Product.run(
      ["fetch", "\(id)", "--output", folder.file("b.zip").path], environment: environment)
    #expect(sent.status == 2, "\(sent.errors)")
    let both = try await Product.run(
      ["fetch", link, "--server", mine.url.absoluteString], folder: folder.url)
    #expect(both.status == 1 && both.errors.contains("not found"), "\(both.errors)")
  }

  @Test(arguments: [
    (["pack", "", "--output", "x.zip"], "has no name"), (["upload", "", "--report", "A"], "has no name"),
    (["verify", ""], "has no name"), (["inspect", ""], "has no name"),
    (["pack", "source", "--output", ""], "has no name"),
    (["pack", "source", "--output", "no/such/x.zip"], "There is no folder"),
    (["pack", "source", "--output", "source"], "exists already"),
    (["fetch", "00000000-0000-4000-8000-000000000000", "--into", "no/such"], "There is no folder"),
    (["verify", "--archive", "source"], "There is no file at source"),
    (["verify", "--archive", "missing"], "There is no file at missing"),
    (["verify", "--archive", ""], "There is no file at"),
  ])
  func `an unusable path is refused with the reason before anything happens`(
    arguments: [String], words: String
  ) async throws {
    let folder = try TemporaryFolder()
    try folder.write(Data("x".utf8), to: "source/a")
    let outcome = try await Product.run(arguments, folder: folder.url)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains(words), "\(outcome.errors)")
    #expect(outcome.output.isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["source"])
  }

  @Test(arguments: [["upload", "x", "--report", "a b"], ["list", "--report", "a b"]])
  func `an invalid report id is refused with the reason`(arguments: [String]) async throws {
    let outcome = try await Product.run(arguments)
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains("A report id is made of"), "\(outcome.errors)")
  }

  @Test(arguments: [">&-", "> /dev/full"])
  func `a result that cannot be written is a failure, and goes to no other file`(
    redirection: String
  ) async throws {
    let folder = try TemporaryFolder()
    try folder.write(Data("x".utf8), to: "source/a")
    let script = "exec \"$0\" pack source --output x.zip \(redirection)"
    let outcome = try await Tool.run("bash", ["-c", script, Product.path], folder: folder.url)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("could not be written to stdout"), "\(outcome.errors)")
    #expect(try await Product.run(["verify", folder.file("x.zip").path]).status == 0)
  }

  @Test func `the demo shows its steps and removes its files`() async throws {
    let folder = try TemporaryFolder()
    let outcome = try await Product.run(["demo"], environment: ["TMPDIR": folder.path], folder: folder.url)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.text.contains("byte for byte"))
    #expect(outcome.text.contains("Podcasts"))
    #expect(outcome.text.contains("DEMO-1"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test func `a note goes with every kind of source, and is shown first`() async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(storage: folder.file("storage"))
    let environment = ["SNAPSHOT_SERVER": server.url.absoluteString]
    let (zip, id) = try await Sample.bundle(in: folder)
    let unpacked = folder.file("unpacked")
    try folder.write(Data("{}".utf8), to: "file.json")
    try folder.write(Data("{}".utf8), to: "plain/file.json")
    #expect(try await Tool.run("unzip", ["-q", zip.path, "-d", unpacked.path]).status == 0)
    let words = [
      "--report", "BUG-1", "--note", "It was\nnegative", "--field", "severity=high", "--field", "a=b=c",
    ]
    let metadata = ["note": "It was\nnegative", "severity": "high", "a": "b=c"]
    for (index, source) in [
      folder.file("file.json").path, folder.file("plain").path, unpacked.path, zip.path,
    ].enumerated() {
      let own = index == 3 ? ["--id", "\(SnapshotID())"] : []
      let upload = try await Product.run(
        ["upload", source, "--json"] + words + own, environment: environment)
      #expect(upload.status == 0, "\(upload.errors)")
      let record = try SnapshotJSON.decode(SnapshotRecord.self, from: upload.output)
      #expect(record.metadata == metadata)
      if index == 3 {
        #expect(record.manifestID == id)
        #expect(try record.sha256 == .of(Data(contentsOf: zip)))
      } else {
        let inspect = try await Product.run(["inspect", "\(record.id)"], environment: environment)
        #expect(inspect.lines.prefix(2) == ["  It was", "  negative"])
      }
    }
    let refused = try await Product.run(["upload", zip.path, "--resume"] + words, environment: environment)
    #expect(refused.status == 64)
    #expect(refused.errors.contains("--resume can't be used with --note"))
    for wrong in [["--field", "x"], ["--field", "note=x"], ["--field", "a=1", "--field", "a=2"]] {
      let outcome = try await Product.run(
        ["upload", zip.path, "--report", "B"] + wrong, environment: environment)
      #expect(outcome.status == 64)
    }
  }
}
