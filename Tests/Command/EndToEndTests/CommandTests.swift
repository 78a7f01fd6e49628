import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// The command as a developer types it.
@Suite struct CommandTests {
  @Test func `upload prints the UUID alone, and fetch brings the same recordings back`() async throws {
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
      #expect(list.lines.count == 1)
      #expect(list.lines.first?.hasPrefix("\(id)") == true)
    }
    let json = try await Product.run(["list", "--json"], environment: environment)
    #expect(try SnapshotJSON.decode([SnapshotRecord].self, from: json.output).map(\.id) == [id])
  }

  @Test func `where there is nothing, a list as JSON is one line`() async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(storage: folder.file("storage"))
    let snapshots = try await Product.run(["list", "--json", "--server", server.url.absoluteString])
    #expect(snapshots.status == 0 && snapshots.text == "[]\n" && snapshots.errors.isEmpty)
    let tokens = try await Product.run(["token", "list", "--json", "--storage", folder.file("storage").path])
    #expect(tokens.status == 0 && tokens.text == "[]\n")
  }

  @Test func `a bundle that is packed twice has the same bytes, and other programs read it`() async throws {
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

  @Test func `damage is found, and named`() async throws {
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
  func `the exit status says what kind of failure it was`(arguments: [String], status: Int32) async throws {
    let folder = try TemporaryFolder()
    let outcome = try await Product.run(arguments, folder: folder.url)
    #expect(outcome.status == status, "\(outcome.errors)")
    #expect(outcome.errors.contains("Error: "))
    #expect(outcome.output.isEmpty)
  }

  @Test func `nothing that a snapshot holds steers the terminal`() async throws {
    let folder = try TemporaryFolder()
    try folder.write(Data(#"{"formatVersion":1,"id":"\u001b[31m"}"#.utf8), to: "snapshot/manifest.json")
    let outcome = try await Product.run(["verify", folder.file("snapshot").path])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("‘\\u{1B}[31m’ is not a UUID"))
    #expect(!outcome.errors.contains("\u{1B}"))
  }

  @Test func `a pasted link is followed to its own server, and gets no token of another`() async throws {
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
    // The token is refused as soon as anything wants to send it.
    let sent = try await Product.run(
      ["fetch", "\(id)", "--output", folder.file("b.zip").path], environment: environment)
    #expect(sent.status == 2, "\(sent.errors)")
    let both = try await Product.run(["fetch", link, "--server", mine.url.absoluteString])
    #expect(both.status == 64, "\(both.errors)")
  }

  @Test(arguments: [
    (["pack", "", "--output", "x.zip"], "has no name"), (["upload", "", "--report", "A"], "has no name"),
    (["verify", ""], "has no name"), (["inspect", ""], "has no name"),
    (["pack", "source", "--output", ""], "has no name"),
    (["pack", "source", "--output", "no/such/x.zip"], "There is no folder"),
    (["pack", "source", "--output", "source"], "is there already"),
    (["fetch", "00000000-0000-4000-8000-000000000000", "--into", "no/such"], "There is no folder"),
    (["verify", "--archive", "source"], "There is no file at source"),
    (["verify", "--archive", "missing"], "There is no file at missing"),
    (["verify", "--archive", ""], "There is no file at"),
  ])
  func `a path that can't be used is refused in words, before anything is done`(
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
  func `a report that can't be is refused with the reason`(arguments: [String]) async throws {
    let outcome = try await Product.run(arguments)
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains("A report id is made of"), "\(outcome.errors)")
  }

  @Test(arguments: [">&-", "> /dev/full"])
  func `a result that can't be written is a failure, and gets into no other file`(
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

  @Test func `the demo tells the story and leaves nothing behind`() async throws {
    let folder = try TemporaryFolder()
    let outcome = try await Product.run(["demo"], environment: ["TMPDIR": folder.path], folder: folder.url)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.text.contains("byte for byte"))
    #expect(outcome.text.contains("Podcasts"))
    #expect(outcome.text.contains("DEMO-1"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }
}
