import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// Tokens and links, used through the command.
@Suite struct AccessTests {
  private let folder: TemporaryFolder
  private let storage: URL

  init() throws {
    folder = try TemporaryFolder()
    storage = folder.file("storage")
  }

  /// Runs `snapshot token create`, and returns the token's id and a file with the token.
  private func token(_ arguments: String...) async throws -> (id: String, file: String, text: String) {
    let outcome = try await Product.run(
      ["token", "create", "--storage", storage.path]
        + arguments.flatMap { $0.split(separator: " ").map(String.init) })
    try #require(outcome.status == 0, "\(outcome.errors)")
    let text = try #require(outcome.lines.first)
    #expect(outcome.text == text + "\n")
    let id = String(text.split(separator: "_")[1])
    #expect(outcome.errors.contains(id) && !outcome.errors.contains(text))
    return (id, try folder.write(Data(outcome.output), to: "token-\(id)").path, text)
  }

  private func bearer(_ token: String) -> [String] { ["-H", "Authorization: Bearer \(token)"] }

  @Test func `a token is read from files and variables without what stands around it`() async throws {
    let server = try await TestServer(storage: storage)
    let text = try await token("--scope read").text
    let list = ["list", "--server", server.url.absoluteString]
    let wrapped = ["\(text)\r\n", "\u{FEFF}\(text)\n", "\"\(text)\"", " '\(text)'\r\n"]
    for (number, value) in wrapped.enumerated() {
      let file = try folder.write(Data(value.utf8), to: "wrapped-\(number)").path
      #expect(try await Product.run(list + ["--token-file", file]).status == 0, "\(number)")
      #expect(try await Product.run(list, environment: ["SNAPSHOT_TOKEN": value]).status == 0, "\(number)")
    }
    let utf16 = try #require("\u{FEFF}\(text)\r\n".data(using: .utf16LittleEndian))
    let file = try folder.write(utf16, to: "utf-16").path
    #expect(try await Product.run(list + ["--token-file", file]).status == 0)
    let bytes = try folder.write(Data([0xC3, 0x28]), to: "bytes").path
    let outcome = try await Product.run(list + ["--token-file", bytes])
    #expect(outcome.status == 2 && outcome.errors.contains("is not text in UTF-8"), "\(outcome.errors)")
    let address = ["SNAPSHOT_SERVER": "\"\(server.url.absoluteString)\"\n", "SNAPSHOT_TOKEN": text]
    #expect(try await Product.run(["list"], environment: address).status == 0)
  }

  @Test func `tokens control access from the first token to a link`() async throws {
    let server = try await TestServer(storage: storage)
    let (zip, _) = try await Sample.bundle(in: folder)
    #expect(try await Curl([server.address("/v1/snapshots")]).status == 200)
    #expect(try server.program.errors.contains("The store is open"))

    // The server is running, and must apply the new token immediately.
    let app = try await token("--scope attach --name app --reports BUG-")
    #expect(try await Curl([server.address("/v1/snapshots")]).status == 401)
    #expect(try await Curl([server.address("/healthz")]).status == 200)
    let upload = try await Product.run([
      "upload", zip.path, "--report", "BUG-7", "--server", server.url.absoluteString, "--token-file",
      app.file,
    ])
    try #require(upload.status == 0, "\(upload.errors)")
    let id = upload.lines[0]
    let client = ["--server", server.url.absoluteString]
    let refused = try await Product.run(
      ["fetch", id, "--output", folder.file("refused.zip").path, "--token-file", app.file] + client)
    #expect(refused.status != 0)
    #expect(!refused.errors.contains(app.text))
    #expect(!FileManager.default.fileExists(atPath: folder.file("refused.zip").path))
    let other = try await Product.run(
      ["upload", zip.path, "--report", "IOS-7", "--token-file", app.file] + client)
    #expect(other.status != 0)

    let developer = try await token("--scope read --expires 1h --rate 100/min")
    let environment = ["SNAPSHOT_TOKEN": developer.text]
    let fetched = try await Product.run(
      ["fetch", id, "--output", folder.file("fetched.zip").path] + client, environment: environment)
    #expect(fetched.status == 0)
    let link = try await Product.run(["link", id, "--expires", "1h"] + client, environment: environment)
    try #require(link.status == 0, "\(link.errors)")
    let download = try await Curl([link.lines[0]])
    #expect(download.status == 200)
    #expect(try download.body == Data(contentsOf: zip))
    #expect(try await Curl(["-r", "0-9", link.lines[0]]).status == 206)
    #expect(try await Curl([link.lines[0] + "A"]).status == 401)
    #expect(try await Curl([link.lines[0].replacing(".zip?", with: "?")]).status == 401)
    let byLink = try await Product.run(["fetch", link.lines[0], "--output", folder.file("linked.zip").path])
    #expect(byLink.status == 0, "\(byLink.errors)")
    #expect(try Data(contentsOf: folder.file("linked.zip")) == download.body)
    let json = try await Product.run(
      ["link", id, "--expires", "2d", "--json"] + client, environment: environment)
    let answer = try JSONSerialization.jsonObject(with: json.output) as? [String: String]
    #expect(answer?.keys.sorted() == ["expiresAt", "url"])

    let revoked = try await Product.run(["token", "revoke", developer.id, "--storage", storage.path])
    #expect(revoked.lines == [developer.id])
    #expect(try await Curl(bearer(developer.text) + [server.address("/v1/snapshots")]).status == 401)
    let list = try await Product.run(["token", "list", "--json", "--storage", storage.path])
    let known = try #require(try JSONSerialization.jsonObject(with: list.output) as? [[String: Any]])
    #expect(Set(known.compactMap { $0["id"] as? String }) == [app.id, developer.id])
    #expect(known.filter { $0["revokedAt"] != nil }.map { $0["id"] as? String } == [developer.id])
    #expect(try await Product.run(["token", "list", "--storage", storage.path]).lines.count == 2)

    #expect(await server.program.stop() == 0)
    let log = try server.program.errors
    #expect(log.contains("/v1/snapshots/\(id).zip"))
    for secret in [app.text, developer.text, "signature", "expires="] { #expect(!log.contains(secret)) }
    try expectNothingKept(of: [app.text, developer.text])
  }

  /// Expects that no file of the storage contains a token or its random part.
  private func expectNothingKept(of tokens: [String]) throws {
    let files = try #require(FileManager.default.enumerator(at: storage, includingPropertiesForKeys: nil))
    var count = 0
    for case let file as URL in files where file.isFileURL && !file.hasDirectoryPath {
      count += 1
      let bytes = try Data(contentsOf: file)
      for token in tokens {
        let random = try #require(token.split(separator: "_", maxSplits: 2).last)
        #expect(bytes.range(of: Data(random.utf8)) == nil, "\(file.path)")
      }
    }
    #expect(count >= 6)
  }

  @Test func `revoking a token ends a running upload`() async throws {
    let server = try await TestServer(storage: storage)
    let app = try await token("--scope attach")
    let port = try #require(server.url.port.flatMap { UInt16(exactly: $0) })
    let request =
      "POST /v1/reports/BUG-1/snapshots HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(app.text)\r\n"
      + "Content-Type: application/zip\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n\r\n"
    let client = try await RawHTTPClient.run {
      let client = try RawHTTPClient(port: port)
      try client.send(request)
      #expect(try client.receiveResponse().status == 100)
      try client.send(RawHTTPClient.filler)
      return client
    }
    #expect(try await Product.run(["token", "revoke", app.id, "--storage", storage.path]).status == 0)
    let isCut = try await RawHTTPClient.run {
      // The connection must be reset; a slow body would get status 408.
      do { return try client.receiveExactly(1).isEmpty } catch { return true }
    }
    #expect(isCut)
    #expect(await server.program.stop() == 0)
    #expect(try server.program.errors.contains("their token is no longer valid"))
  }

  @Test func `a server with lost tokens does not start and names the remedy`() async throws {
    let reader = try await token("--scope read")
    try FileManager.default.removeItem(at: storage.appending(path: "tokens"))
    let arguments = ["serve", "--port", "0", "--storage", storage.path]
    let refused = try await Product.run(arguments)
    #expect(refused.status == 2)
    #expect(refused.errors.contains("Restore \(storage.path)/tokens"))
    #expect(refused.errors.contains("snapshot token create"))
    let next = try await token("--scope read")
    let server = try await TestServer(storage: storage)
    #expect(try await Curl([server.address("/v1/snapshots")]).status == 401)
    #expect(try await Curl(bearer(reader.text) + [server.address("/v1/snapshots")]).status == 401)
    #expect(try await Curl(bearer(next.text) + [server.address("/v1/snapshots")]).status == 200)
    #expect(await server.program.stop() == 0)
  }

  @Test func `a server with a token may listen on other addresses than loopback`() async throws {
    let arguments = ["serve", "--host", "0.0.0.0", "--port", "0", "--storage", storage.path]
    let refused = try await Product.run(arguments)
    #expect(refused.status == 2)
    #expect(refused.errors.contains("snapshot token create"))
    let reader = try await token("--scope read")
    let program = try await RunningProgram(Product.path, arguments, folder: folder.url)
    let port = try #require(program.firstLine.split(separator: ":").last)
    let list = "http://127.0.0.1:\(port)/v1/snapshots"
    #expect(try await Curl([list]).status == 401)
    #expect(try await Curl(bearer(reader.text) + [list]).status == 200)
    #expect(await program.stop() == 0)
  }

  @Test func `the first start creates an admin token if requested, and prints it once`() async throws {
    let arguments = [
      "serve", "--host", "0.0.0.0", "--port", "0", "--storage", storage.path, "--create-admin-token",
    ]
    var secrets: [Substring] = []
    for _ in 1...2 {
      let program = try await RunningProgram(Product.path, arguments, folder: folder.url)
      let port = try #require(program.firstLine.split(separator: ":").last)
      secrets += try program.errors.split(whereSeparator: \.isWhitespace).filter { $0.hasPrefix("snapshot_") }
      let list = "http://127.0.0.1:\(port)/v1/snapshots"
      #expect(try await Curl([list]).status == 401)
      #expect(try await Curl(bearer(String(try #require(secrets.first))) + [list]).status == 200)
      #expect(await program.stop() == 0)
    }
    #expect(secrets.count == 1)
  }

  @Test(.enabled(if: geteuid() == 0, "only root may give a folder away"))
  func `a token that the server could not read is not created`() async throws {
    try FileManager.default.createDirectory(at: storage, withIntermediateDirectories: true)
    #expect(chown(storage.path, 4711, 4711) == 0)
    for arguments in [["create", "--scope", "read"], ["revoke", "0123456789ab"]] {
      let outcome = try await Product.run(["token"] + arguments + ["--storage", storage.path])
      #expect(outcome.status == 2)
      #expect(outcome.errors.contains("4711"))
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: storage.path).isEmpty)
  }

  @Test func `an expired token is refused`() async throws {
    let server = try await TestServer(storage: storage)
    let reader = try await token("--scope read --expires 1s")
    var statuses: [Int] = []
    for _ in 0..<200 where statuses.last != 401 {
      statuses.append(try await Curl(bearer(reader.text) + [server.address("/v1/snapshots")]).status)
    }
    #expect(Set(statuses).isSubset(of: [200, 401]))
    #expect(statuses.last == 401)
    await server.program.stop()
  }

  @Test func `a token's rate limit is enforced`() async throws {
    let server = try await TestServer(
      storage: storage, environment: ["SNAPSHOT_SERVER_REQUESTS_PER_TOKEN": "2/h"])
    let reader = try await token("--scope read")
    let ask = bearer(reader.text) + [server.address("/v1/snapshots")]
    #expect(try await Curl(ask).status == 200)
    #expect(try await Curl(ask).status == 200)
    let refused = try await Curl(ask)
    #expect(refused.status == 429)
    let seconds = try #require(refused.field("Retry-After").flatMap(Int.init))
    #expect((1700...1800).contains(seconds))
    #expect(refused.field("RateLimit-Policy") == "\"token\";q=2;w=3600")
    #expect(refused.field("RateLimit")?.hasPrefix("\"token\";r=0;t=") == true)
    await server.program.stop()
  }

  @Test(
    arguments: [
      (["create"], 64), (["create", "--scope", "write"], 64),
      (["create", "--scope", "read", "--rate", "1"], 64),
      (["create", "--scope", "read", "--expires", "1"], 64),
      (["create", "--scope", "read", "--name", ""], 2),
      (["create", "--scope", "read", "--reports", ""], 2), (["revoke"], 64), (["revoke", "0123456789ab"], 2),
      (["revoke", "../x"], 2),
    ] as [([String], Int32)])
  func `an invalid option of a new token is refused with the reason`(arguments: [String], status: Int32)
    async throws
  {
    let outcome = try await Product.run(["token"] + arguments + ["--storage", storage.path])
    #expect(outcome.status == status)
    #expect(outcome.output.isEmpty)
    #expect(!outcome.errors.isEmpty)
  }

  @Test func `a page of another site cannot change a store without tokens`() async throws {
    let server = try await TestServer(storage: storage)
    let (zip, _) = try await Sample.bundle(in: folder)
    let form = ["-F", "snapshot=@\(zip.path)", server.address("/v1/reports/BUG-1/snapshots")]
    #expect(try await Curl(["-H", "Origin: https://example.com"] + form).status == 403)
    #expect(try await Curl(["-H", "Origin: null"] + form).status == 403)
    #expect(try await Curl(["-H", "Host: example.com"] + form).status == 421)
    #expect(try await Curl(["-H", "Origin: \(server.url.absoluteString)"] + form).status == 201)
    await server.program.stop()
  }
}
