import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// HTTP archives become snapshots, and snapshots HTTP archives.
@Suite struct ArchiveCommandTests {
  private static let canary = "canary-7f3a9c"
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.write(Data(Self.archive.utf8), to: "shop.har")
  }

  static let archive = """
    {"log":{"version":"1.2","creator":{"name":"Test","version":"1"},"_token":"\(canary)","pages":[{"id":"p"}],"entries":[
    {"pageref":"p","startedDateTime":"2026-03-01T10:00:01.000Z","time":500,"_n":1,
     "request":{"method":"GET","url":"https://example.com/cart?_=1","httpVersion":"h2","cookies":[],"headersSize":-1,
      "headers":[{"name":"Authorization","value":"Bearer \(canary)"}],"queryString":[{"name":"_","value":"1"}],"bodySize":0},
     "response":{"status":200,"statusText":"","httpVersion":"h2","cookies":[{"name":"session","value":"\(canary)"}],
      "headers":[{"name":"Content-Encoding","value":"br"}],"redirectURL":"","headersSize":-1,"bodySize":-1,
      "content":{"size":2,"mimeType":"text/plain","text":"second"}},"cache":{},"timings":{"send":0,"wait":1,"receive":2}},
    {"startedDateTime":"2026-03-01T10:00:01.200Z","time":1,"_n":2,"_webSocketMessages":[{"type":"send","data":"hi"}],
     "request":{"method":"GET","url":"https://example.com/cart?_=2","headers":[]},
     "response":{"status":200,"headers":[],"content":{"size":5,"mimeType":"application/json",
      "text":"{\\"password\\":\\"\(canary)\\",\\"n\\":1}"}}},
    {"startedDateTime":"2026-03-01T10:00:02.000Z","time":1,"_n":3,
     "request":{"method":"PUT","url":"https://example.com/photo","_content":{"text":"iVBORw0KGgoA/w==","encoding":"base64"}},
     "response":{"status":204,"headers":[]}},
    {"startedDateTime":"2026-03-01T10:00:03.000Z","time":1,"_n":4,
     "request":{"method":"GET","url":"https://example.com/logo.png?token=\(canary)"},
     "response":{"status":200,"content":{"mimeType":"image/png"}}},
    {"startedDateTime":"2026-03-01T10:00:04.000Z","time":1,"_n":5,
     "request":{"method":"GET","url":"https://example.com/file"},
     "response":{"status":200,"content":{"size":3,"mimeType":"text/plain","_file":"body.txt"}}}
    ]}}
    """

  private func manifest(of zip: String) throws -> Manifest {
    try SnapshotBundle.validate(zip: folder.file(zip), depth: .full)
  }

  @Test func `an archive is imported without secrets, exported, and imported as an equal one`() async throws {
    try folder.write(Data("abc".utf8), to: "body.txt")
    let first = try await Product.run(["import", folder.file("shop.har").path])
    try #require(first.status == 0, "\(first.errors)")
    #expect(!first.errors.contains(Self.canary) && first.errors.contains("GET https://example.com/logo.png"))
    let manifest = try manifest(of: "shop.zip")
    #expect(first.lines == [manifest.id.description])
    #expect(
      manifest.recordings.map { "\($0.identifier) \($0.call ?? 0)" }.sorted() == [
        "GET https://example.com/cart 1", "GET https://example.com/cart 2", "GET https://example.com/file 1",
        try #require(manifest.recordings.first { $0.identifier.hasPrefix("PUT") }).identifier + " 1",
      ])
    #expect(manifest.dropped.map(\.reason) == [.bodyMissing])
    #expect(manifest.redactions.contains("tokens"))

    // The entry that ended first is the first call.
    let calls = try await Product.run([
      "cat", folder.file("shop.zip").path, "GET https://example.com/cart", "--call", "2", "--raw",
    ])
    #expect(calls.text == "second")
    let unpacked = folder.file("unpacked")
    _ = try SnapshotBundle.unpack(zip: folder.file("shop.zip"), into: unpacked)
    let files = try #require(FileManager.default.enumerator(at: unpacked, includingPropertiesForKeys: nil))
    for case let file as URL in files where !file.hasDirectoryPath {
      let bytes = try Data(contentsOf: file)
      #expect(bytes.firstRange(of: Data(Self.canary.utf8)) == nil, "\(file.lastPathComponent)")
    }

    let zip = folder.file("shop.zip").path
    let export = try await Product.run(["export", zip, "--har", folder.file("again.har").path])
    try #require(export.status == 0, "\(export.errors)")
    let text = try String(contentsOf: folder.file("again.har"), encoding: .utf8)
    for kept in [
      "_webSocketMessages", "\"_file\":\"body.txt\"", "\"pages\":[{\"id\":\"p\",", "\"text\":\"abc\"",
      "iVBORw0KGgoA/w==",
    ] {
      #expect(text.contains(kept), "\(kept)")
    }
    #expect(!text.contains("_recording"))
    let json = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: [String: Any]]
    let entries = try #require(json?["log"]?["entries"] as? [[String: Any]])
    #expect(entries.map { $0["_n"] as? Int } == [1, 2, 3, 4, 5])

    let second = try await Product.run(["import", folder.file("again.har").path])
    try #require(second.status == 0, "\(second.errors)")
    let again = try self.manifest(of: "again.zip")
    #expect(again.recordings == manifest.recordings && again.dropped == manifest.dropped)
    let last = try await Product.run([
      "export", folder.file("again.zip").path, "--har", folder.file("last.har").path,
    ])
    #expect(last.status == 0)
    #expect(try String(contentsOf: folder.file("last.har"), encoding: .utf8) == text)
  }

  @Test func `an archive in a ZIP is imported with its files and its secrets, if that is wanted`()
    async throws
  {
    try folder.write(Data("abc".utf8), to: "body.txt")
    let packed = try await Tool.run(
      "python3",
      ["-m", "zipfile", "-c", "shop.har.zip", "shop.har", "body.txt"], folder: folder.url)
    try #require(packed.status == 0, "\(packed.errors)")
    let outcome = try await Product.run([
      "import", folder.file("shop.har.zip").path, "--no-redaction", "--output", folder.file("out.zip").path,
    ])
    try #require(outcome.status == 0, "\(outcome.errors)")
    let manifest = try manifest(of: "out.zip")
    #expect(manifest.recordings.count == 4 && manifest.redactions.isEmpty)
    let fields = manifest.recordings.flatMap { $0.exchange?.request.fields ?? [] }
    #expect(fields.contains { $0.value.contains(Self.canary) })
  }

  @Test func `what is no archive is refused in one sentence, and nothing is written`() async throws {
    let damaged = [
      ("none.har", "<html></html>", "not JSON"), ("list.har", "[]", "not an object"),
      ("cut.har", String(Self.archive.prefix(900)), "truncated"), ("empty.har", "", "truncated"),
    ]
    for (name, text, reason) in damaged {
      try folder.write(Data(text.utf8), to: name)
      let outcome = try await Product.run(["import", folder.file(name).path])
      #expect(outcome.status == 2 && outcome.text.isEmpty)
      #expect(
        outcome.errors.contains(reason) && outcome.errors.split(separator: "\n").count == 1,
        "\(outcome.errors)")
      #expect(
        !FileManager.default.fileExists(atPath: folder.file(name).deletingPathExtension().path + ".zip"))
    }
    let other = try await Product.run(["import", folder.file("missing.har").path])
    #expect(other.status == 2 && other.errors.contains("There is no file"))
  }

  @Test func `nothing is overwritten`() async throws {
    try folder.write(Data("mine".utf8), to: "shop.zip")
    let imported = try await Product.run(["import", folder.file("shop.har").path])
    #expect(imported.status == 2 && imported.errors.contains("exists already"))
    let exported = try await Product.run([
      "export", folder.file("shop.zip").path, "--har", folder.file("shop.har").path,
    ])
    #expect(exported.status == 2 && exported.errors.contains("exists already"))
    #expect(try Data(contentsOf: folder.file("shop.zip")) == Data("mine".utf8))
  }

  @Test func `a snapshot without exchanges has an empty archive`() async throws {
    try folder.write(Data("{}".utf8), to: "app/feed.json")
    let zip = folder.file("app.zip").path
    #expect(try await Product.run(["pack", folder.file("app").path, "--output", zip]).status == 0)
    let outcome = try await Product.run(["export", zip, "--har", folder.file("app.har").path])
    #expect(outcome.status == 0 && outcome.errors.contains("1 recording that is no HTTP exchange"))
    let text = try String(contentsOf: folder.file("app.har"), encoding: .utf8)
    #expect(text.contains("\"version\":\"1.2\"") && text.contains("\"creator\""))
  }

  @Test func `an archive in a form is attached without its secrets, and nothing else remains`() async throws {
    let storage = folder.file("storage")
    let server = try await TestServer(storage: storage)
    let target = server.url.appending(path: "v1/reports/BUG-1/snapshots").absoluteString
    func send(_ file: String) async throws -> (status: String, body: String) {
      let answer = try await Tool.run(
        "curl", ["-s", "-w", "\n%{http_code}", "-F", "snapshot=@\(folder.file(file).path)", target])
      return (answer.lines.last ?? "", answer.text)
    }
    let attached = try await send("shop.har")
    #expect(attached.status == "201" && attached.body.contains("\"shop.har\""), "\(attached.body)")
    try folder.write(Data("{\"log\":".utf8), to: "cut.HAR")
    let refused = try await send("cut.HAR")
    #expect(refused.status == "422" && refused.body.contains("cut.HAR is truncated"), "\(refused.body)")
    await server.program.stop()
    #expect(try FileManager.default.contentsOfDirectory(atPath: storage.path + "/archives") == [])
    let files = try #require(FileManager.default.enumerator(at: storage, includingPropertiesForKeys: nil))
    for case let file as URL in files where !file.hasDirectoryPath {
      let bytes = try Data(contentsOf: file)
      #expect(bytes.firstRange(of: Data(Self.canary.utf8)) == nil, "\(file.lastPathComponent)")
    }
  }

  @Test func `an archive is attached to a report`() async throws {
    let server = try await TestServer(storage: folder.file("storage"))
    let outcome = try await Product.run([
      "import", folder.file("shop.har").path, "--report", "BUG-1", "--server", server.url.absoluteString,
    ])
    try #require(outcome.status == 0, "\(outcome.errors)")
    let id = try #require(outcome.lines.first)
    let exported = try await Product.run([
      "export", id, "--har", folder.file("from-server.har").path, "--server", server.url.absoluteString,
    ])
    #expect(exported.status == 0, "\(exported.errors)")
    #expect(!FileManager.default.fileExists(atPath: folder.file("shop.zip").path))
    await server.program.stop()
  }
}
