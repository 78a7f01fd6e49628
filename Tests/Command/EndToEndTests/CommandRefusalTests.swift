import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// The errors of the command: one sentence with the cause and the remedy.
@Suite struct CommandRefusalTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: [
    (["fecth", "x"], "did you mean `snapshot fetch`?"),
    (["token", "lst"], "did you mean `snapshot token list`?"),
    (["help", "fecth"], "did you mean `snapshot fetch`?"),
    (["completely-different"], "`snapshot --help` lists"),
  ])
  func `an error for an unknown command suggests the nearest one`(arguments: [String], words: String)
    async throws
  {
    let outcome = try await Product.run(arguments, folder: folder.url)
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains(words), "\(outcome.errors)")
    #expect(outcome.errors.split(separator: "\n").count == 1)
  }

  @Test func `an error for a missing or malformed settings file names the file`() async throws {
    let missing = try await Product.run(["serve", "--config", "nowhere.yaml"], folder: folder.url)
    #expect(missing.status == 2)
    #expect(missing.errors.hasPrefix("Error: There is no settings file nowhere.yaml; "), "\(missing.errors)")
    try folder.write(Data("server: [".utf8), to: "broken.yaml")
    let broken = try await Product.run(["serve", "--config", "broken.yaml"], folder: folder.url)
    #expect(broken.status == 2)
    #expect(broken.errors.hasPrefix("Error: The settings file broken.yaml is not valid YAML: "))
  }

  @Test func `an error for a missing token names the option and the variable`() async throws {
    let storage = folder.file("storage")
    let token = try await Product.run(["token", "create", "--scope", "read", "--storage", storage.path])
    #expect(token.status == 0, "\(token.errors)")
    let server = try await TestServer(storage: storage)
    let list = try await Product.run(["list", "--server", server.url.absoluteString])
    #expect(list.status == 1)
    #expect(list.errors.contains("--token-file") && list.errors.contains("SNAPSHOT_TOKEN"), "\(list.errors)")
  }

  @Test(arguments: [
    ["--reports", "*"], ["--reports", "BUG-*"], ["--reports", "/x"], ["--reports", "a//"],
    ["--reports", "ü"],
    ["--application", "*"], ["--application", "com.example.*"],
  ])
  func `a limit that no report and no application meets is refused`(limit: [String]) async throws {
    let storage = folder.file("storage").path
    let token = try await Product.run(
      ["token", "create", "--scope", "read", "--storage", storage, limit[0], limit[1]])
    #expect(token.status == 2)
    #expect(
      token.errors.contains("‘\(limit[1])’") && token.errors.contains("without a limit"), "\(token.errors)")
    #expect(token.text.isEmpty)
  }

  @Test func `an error for a full disk names the setting for the reserved space`() async throws {
    let (zip, _) = try await Sample.bundle(in: folder)
    let server = try await TestServer(
      storage: folder.file("storage"), environment: ["SNAPSHOT_SERVER_RESERVED_BYTES": "\(Int64.max)"])
    let upload = try await Product.run(
      ["upload", zip.path, "--report", "A", "--server", server.url.absoluteString])
    #expect(upload.status == 1)
    #expect(upload.errors.contains("reservedBytes"), "\(upload.errors)")
  }

  @Test func `a bundle whose contents are corrupt is refused by the server, and not attached`() async throws {
    let (zip, id) = try await Sample.bundle(in: folder)
    var bytes = try Data(contentsOf: zip)
    // A byte in the data of the last entry, which ends where the directory begins.
    let directory = try #require(bytes.range(of: Data([0x50, 0x4B, 1, 2])))
    bytes[directory.lowerBound - 3] ^= 0xFF
    try bytes.write(to: zip)
    let server = try await TestServer(storage: folder.file("storage"))
    let address = ["--server", server.url.absoluteString]
    let upload = try await Product.run(["upload", zip.path, "--report", "A"] + address)
    #expect(upload.status == 2, "\(upload.errors)")
    let fetch = try await Product.run(["fetch", "\(id)"] + address, folder: folder.url)
    #expect(fetch.status == 1, "\(fetch.errors)")
  }

  @Test(arguments: [["list"], ["delete", "00000000-0000-4000-8000-000000000000"], ["scrub"]])
  func `another kind of server is recognised`(arguments: [String]) async throws {
    let other = try await RunningProgram("python3", ["-u", "-m", "http.server", "--bind", "127.0.0.1", "0"])
    let words = other.firstLine.split { "()".contains($0) }
    let address = String(try #require(words.dropFirst().first))
    let outcome = try await Product.run(arguments + ["--server", address])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("check the server's address"), "\(outcome.errors)")
  }

  @Test func `fetch replaces a file only with --force`() async throws {
    let server = try await TestServer(storage: folder.file("storage"))
    let environment = ["SNAPSHOT_SERVER": server.url.absoluteString]
    let (zip, id) = try await Sample.bundle(in: folder)
    _ = try await Product.run(["upload", zip.path, "--report", "A"], environment: environment)
    let mine = try folder.write(Data("mine".utf8), to: "\(id).zip")
    for arguments in [["fetch", "\(id)"], ["fetch", "\(id)", "--output", mine.path]] {
      let refused = try await Product.run(arguments, environment: environment, folder: folder.url)
      #expect(refused.status == 2)
      #expect(refused.errors.contains("--force"), "\(refused.errors)")
      #expect(try Data(contentsOf: mine) == Data("mine".utf8))
    }
    let forced = try await Product.run(
      ["fetch", "\(id)", "--force"], environment: environment, folder: folder.url)
    #expect(forced.status == 0, "\(forced.errors)")
    #expect(try Data(contentsOf: mine) == Data(contentsOf: zip))
  }

  @Test(arguments: [["pack", "source", "--output", "x.zip"], ["upload", "source", "--report", "A"]])
  func `a folder without a file is refused`(arguments: [String]) async throws {
    try FileManager.default.createDirectory(
      at: folder.file("source/empty"), withIntermediateDirectories: true)
    let outcome = try await Product.run(arguments, folder: folder.url)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("contains no files"), "\(outcome.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["source"])
  }

  @Test(arguments: ["verify", "inspect"])
  func `an error for a file that is not a bundle names the command to create one`(command: String)
    async throws
  {
    try folder.write(Data("x".utf8), to: "note.txt")
    let outcome = try await Product.run([command, "note.txt"], folder: folder.url)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("`snapshot pack`"), "\(outcome.errors)")
  }
}
