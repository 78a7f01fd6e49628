import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// Redacted copies of snapshots, and lists of what may be secret.
@Suite struct RedactCommandTests {
  private static let canary = "canary-7f3a9c"
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    let secret = Self.canary
    try folder.write(
      Data(
        "{\"user\":{\"name\":\"Anna\",\"password\":\"\(secret)\"},\"items\":[{\"token\":\"\(secret)\"}]}".utf8
      ),
      to: "app/profile.json")
    try folder.write(Data("started\nAuthorization: Bearer \(secret)\nended\n".utf8), to: "app/log.txt")
    try folder.write(Data("user=anna&password=\(secret)&page=2".utf8), to: "app/form")
    try folder.write(Data("{\"diagnosis\":\"\(secret)\"}".utf8), to: "app/health.json")
    try folder.write(Data("plain".utf8), to: "app/feed?token=\(secret)")
    try folder.write(Data("other".utf8), to: "app/feed?token=\(secret)2")
    try folder.write(Data([0, 1, 2, 3] + Array(secret.utf8)), to: "app/cache.bin")
    try folder.write(Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 1]), to: "app/photo.png")
    try folder.write(
      Data(
        """
        {"rules": ["usualSecrets", {"name": "health", "keys": ["diagnosis"]},
          {"name": "streets", "path": "user.addresses[*].street"}]}
        """.utf8), to: "rules.json")
  }

  /// Packs the recordings into a bundle with a note and a field.
  private func pack() async throws -> URL {
    let zip = folder.file("app.zip")
    let outcome = try await Product.run([
      "pack", folder.file("app").path, "--output", zip.path, "--note",
      "My password is password=\(Self.canary)",
      "--field", "token=\(Self.canary)",
    ])
    try #require(outcome.status == 0, "\(outcome.errors)")
    return zip
  }

  @Test func `a redacted copy contains no secret, is valid, and the places are printed`() async throws {
    let zip = try await pack()
    let before = try Data(contentsOf: zip)
    let copy = folder.file("copy.zip")
    let outcome = try await Product.run([
      "redact", zip.path, "--rules", folder.file("rules.json").path, "--output", copy.path,
    ])
    try #require(outcome.status == 0, "\(outcome.errors)")
    #expect(!outcome.text.contains(Self.canary) && !outcome.errors.contains(Self.canary))
    for line in [
      "profile.json", "  .user.password", "  .items[0].token", "  line 2", "  .diagnosis", "  note",
    ] {
      #expect(outcome.lines.contains(line), "\(line) in \(outcome.text)")
    }
    #expect(outcome.errors.contains("The path of the rule ‘streets’ matched nothing."))
    #expect(try Data(contentsOf: zip) == before)

    #expect(try await Product.run(["verify", copy.path]).status == 0)
    let unpacked = folder.file("unpacked")
    let manifest = try SnapshotBundle.unpack(zip: copy, into: unpacked)
    let original = try SnapshotBundle.validate(zip: zip, depth: .structure)
    #expect(manifest.id != original.id)
    #expect(manifest.redactions.contains("health") && manifest.redactions.contains("tokens"))
    #expect(manifest.dropped.map(\.identifier) == ["cache.bin"])
    #expect(manifest.recordings.count == original.recordings.count - 1)
    #expect(Set(manifest.recordings.map(\.identifier)).count == manifest.recordings.count)
    let files = try #require(FileManager.default.enumerator(at: unpacked, includingPropertiesForKeys: nil))
    var count = 0
    for case let file as URL in files where !file.hasDirectoryPath {
      #expect(!file.path.contains(Self.canary))
      let bytes = try Data(contentsOf: file)
      #expect(bytes.firstRange(of: Data(Self.canary.utf8)) == nil, "\(file.lastPathComponent)")
      count += 1
    }
    #expect(count == manifest.recordings.count + 1)
    let photo = try #require(manifest.recordings.first { $0.identifier == "photo.png" })
    #expect(original.recordings.contains { $0.sha256 == photo.sha256 })
  }

  @Test func `nothing is left to redact in a copy, and its words can be kept`() async throws {
    let zip = try await pack()
    let (copy, kept) = (folder.file("copy.zip"), folder.file("kept.zip"))
    #expect(try await Product.run(["redact", zip.path, "--output", copy.path]).status == 0)
    let again = try await Product.run(["secrets", copy.path])
    #expect(again.status == 0, "\(again.text)")
    #expect(again.output.isEmpty)
    #expect(
      try await Product.run(["redact", zip.path, "--keep-words", "--output", kept.path]).status == 0)
    let manifest = try SnapshotBundle.validate(zip: kept, depth: .structure)
    #expect(manifest.note?.contains(Self.canary) == true)
  }

  @Test func `secrets lists the places in a bundle and in a folder, and its exit status is 1`() async throws {
    for source in [try await pack(), folder.file("app")] {
      let outcome = try await Product.run(["secrets", source.path])
      #expect(outcome.status == 1, "\(outcome.errors)")
      #expect(outcome.lines.contains("  .user.password"))
      #expect(!outcome.text.contains(Self.canary))
      let json = try await Product.run(["secrets", "--json", source.path])
      #expect(json.status == 1)
      let found = try #require(try JSONSerialization.jsonObject(with: json.output) as? [[String: Any]])
      let profile = try #require(found.first { $0["file"] as? String == "profile.json" })
      #expect(profile["count"] as? Int == 2)
      #expect(profile["places"] as? [String] == [".user.password", ".items[0].token"])
    }
    try folder.write(Data("nothing".utf8), to: "clean/a")
    let clean = try await Product.run(["secrets", folder.file("clean").path])
    #expect(clean.status == 0)
    #expect(clean.output.isEmpty)
  }

  @Test func `a snapshot on a server is redacted, and the copy attached`() async throws {
    let server = try await TestServer(storage: folder.file("storage"))
    let environment = ["SNAPSHOT_SERVER": server.url.absoluteString]
    let zip = try await pack()
    let upload = try await Product.run(["upload", zip.path, "--report", "A"], environment: environment)
    let id = try #require(upload.lines.first)
    let copy = folder.file("copy.zip")
    let outcome = try await Product.run(
      ["redact", id, "--json", "--output", copy.path], environment: environment)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let result = try #require(try JSONSerialization.jsonObject(with: outcome.output) as? [String: Any])
    let other = try await Product.run(["upload", copy.path, "--report", "A"], environment: environment)
    #expect(other.lines.first == result["id"] as? String)
    #expect(other.lines.first != id)
  }

  @Test(arguments: [
    ("{\"rules\": [\"usual\"]}", "there is no preset ‘usual’"),
    ("{\"rules\": [{\"name\": \"x\", \"keys\": [\"a\"], \"path\": \"b\"}]}", "needs one of"),
    ("{\"rules\": [{\"name\": \"x\", \"path\": \"[\"}]}", "is not a path"),
    ("{\"rules\": [{\"name\": \"x\", \"matching\": \"(\"}]}", "is not a regular expression"),
    ("{\"rules\": [{\"keys\": [\"a\"]}]}", "rules"), ("{\"rule\": []}", "unknown member ‘rule’"),
    ("{\"rules\": [], \"unknownBinaries\": \"no\"}", "‘unknownBinaries’ is ‘no’"), ("{", "not valid JSON"),
  ])
  func `rules that cannot be used are named in a sentence`(rules: String, words: String) async throws {
    try folder.write(Data(rules.utf8), to: "wrong.json")
    let outcome = try await Product.run([
      "secrets", folder.file("app").path, "--rules", folder.file("wrong.json").path,
    ])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains(words), "\(outcome.errors)")
    #expect(outcome.errors.split(separator: "\n").count == 1)
    #expect(outcome.output.isEmpty)
  }

  @Test func `a server that requires rules refuses a bundle, and accepts its redacted copy`() async throws {
    let server = try await TestServer(
      storage: folder.file("storage"),
      environment: ["SNAPSHOT_SERVER_REDACTION_REQUIRED": "usualSecrets, health"])
    let environment = ["SNAPSHOT_SERVER": server.url.absoluteString]
    let zip = try await pack()
    let refused = try await Product.run(["upload", zip.path, "--report", "A"], environment: environment)
    #expect(refused.status == 2)
    #expect(
      refused.errors.contains("requires the redaction rules authorization, cookies, tokens"),
      "\(refused.errors)")
    let copy = folder.file("copy.zip")
    let redacted = try await Product.run([
      "redact", zip.path, "--rules", folder.file("rules.json").path, "--output", copy.path,
    ])
    #expect(redacted.status == 0)
    let accepted = try await Product.run(["upload", copy.path, "--report", "A"], environment: environment)
    #expect(accepted.status == 0, "\(accepted.errors)")
  }
}
