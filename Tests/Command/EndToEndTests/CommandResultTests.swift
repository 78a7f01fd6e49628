import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// The results of commands, as text and as JSON.
@Suite struct CommandResultTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func json(_ outcome: Tool.Outcome) throws -> [String: Any] {
    try #require(outcome.status == 0, "\(outcome.errors)")
    return try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
  }

  @Test func `a single file becomes one recording under its name`() async throws {
    try folder.write(Data("{}".utf8), to: "feed.json")
    let pack = try await Product.run(
      ["pack", "feed.json", "--output", "x.zip", "--json"], folder: folder.url)
    let id = try #require(try json(pack)["id"] as? String)
    let manifest = try SnapshotBundle.validate(zip: folder.file("x.zip"), depth: .full)
    #expect(manifest.id.description == id)
    #expect(manifest.recordings.map(\.identifier) == ["feed.json"])

    let server = try await TestServer(storage: folder.file("storage"))
    let upload = try await Product.run(
      ["upload", "feed.json", "--report", "A", "--json", "--server", server.url.absoluteString],
      folder: folder.url)
    #expect(try json(upload)["report"] as? String == "A")
  }

  @Test func `verify accepts a UUID, and every result is available as JSON`() async throws {
    let server = try await TestServer(storage: folder.file("storage"))
    let environment = ["SNAPSHOT_SERVER": server.url.absoluteString]
    let (zip, id) = try await Sample.bundle(in: folder)
    _ = try await Product.run(["upload", zip.path, "--report", "A"], environment: environment)

    let verified = try await Product.run(["verify", "\(id)"], environment: environment)
    #expect(verified.status == 0 && verified.text.contains("all intact"), "\(verified.errors)")
    let verify = try json(try await Product.run(["verify", "\(id)", "--json"], environment: environment))
    #expect(verify["id"] as? String == "\(id)" && verify["recordings"] as? Int == 3)
    let archive = try json(try await Product.run(["verify", "--archive", "--json", zip.path]))
    #expect(archive["entries"] as? Int == 4)

    let fetch = try json(
      try await Product.run(
        ["fetch", "\(id)", "--output", "a.zip", "--json"], environment: environment, folder: folder.url))
    #expect(fetch["id"] as? String == "\(id)" && fetch["path"] as? String == "a.zip")
    #expect(fetch["sha256"] as? String == ContentDigest.of(try Data(contentsOf: zip)).description)
  }

  @Test func `a list has a header`() async throws {
    let server = try await TestServer(storage: folder.file("storage"))
    let target = ["--server", server.url.absoluteString]
    for (number, report) in ["A", "proj/issue/9"].enumerated() {
      let (zip, _) = try await Sample.bundle(in: folder, seed: number)
      _ = try await Product.run(["upload", zip.path, "--report", report] + target)
    }
    let lines = try await Product.run(["list"] + target).lines
    #expect(lines.count == 3)
    let titles = try #require(lines.first)
    #expect(
      titles.split(separator: " ").map(String.init) == ["UUID", "RECEIVED", "REPORT", "SIZE", "APPLICATION"])
    let column = try #require(titles.range(of: "SIZE")).lowerBound
    let width = titles.distance(from: titles.startIndex, to: column)
    for line in lines.dropFirst() {
      #expect(line.dropFirst(width - 1).first == " " && line.dropFirst(width).first != " ", "\(line)")
    }
  }
}
