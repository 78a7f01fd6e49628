import Foundation
import SnapshotClient
import SnapshotFormat
import TestSupport
import Testing

/// Uploads that continue after the command or the server has ended.
@Suite struct ResumableUploadTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Creates a folder whose bundle has about four megabytes.
  private func makeSource() throws -> URL {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<500_000).flatMap { _ in
      withUnsafeBytes(of: generator.next()) { Array($0) }
    }
    try folder.write(Data(bytes), to: "source/recorded.bin")
    return folder.file("source")
  }

  private func port(of server: TestServer) throws -> UInt16 {
    UInt16(try #require(server.url.port))
  }

  @Test(.timeLimit(.minutes(5 * Sanitizer.slowness)))
  func `below the path of its public URL, a server is uploaded to, linked to and read`() async throws {
    let source = try makeSource()
    let server = try await TestServer(
      storage: folder.file("storage"),
      environment: ["SNAPSHOT_SERVER_PUBLIC_URL": "https://tools.example/snapshots"])
    let proxy = try CuttingProxy(to: port(of: server), .onceAfterSending(2_000_000))
    let address = proxy.url.absoluteString + (proxy.url.path.hasSuffix("/") ? "snapshots" : "/snapshots")
    let uploaded = try await Product.run(
      ["upload", source.path, "--report", "BUG-1", "--resume", "--server", address])
    #expect(uploaded.status == 0, "\(uploaded.errors)")
    let listed = try await Product.run(["list", "--json", "--server", address])
    let id = try #require(listed.text.firstMatch(of: /[0-9a-f]{8}-[0-9a-f-]{27}/)?.0)
    // The second address is that of the server itself, without the proxy.
    for address in [address, server.address("")] {
      let link = try await Product.run(["link", String(id), "--expires", "1h", "--server", address])
      #expect(link.status == 0, "\(link.errors)")
      let url = try #require(link.lines.first { $0.hasPrefix("http") })
      #expect(url.hasPrefix("https://tools.example/snapshots/v1/snapshots/\(id).zip?"))
      let target = url.dropFirst("https://tools.example".count)
      #expect(try await Curl([server.address(String(target))]).status == 200)
    }
    let page = try await Curl(["-H", "Accept: text/html", server.address("/snapshots/snapshots/\(id)")])
    #expect(page.status == 200)
    #expect(String(decoding: page.body, as: UTF8.self).contains("href=\"/snapshots/docs\""))
  }

  @Test(.timeLimit(.minutes(5 * Sanitizer.slowness)))
  func `an upload continues after both ends were killed, with only the missing bytes`() async throws {
    let source = try makeSource()
    let storage = folder.file("storage")
    let first = try await TestServer(storage: storage)
    let proxy = try CuttingProxy(to: port(of: first), .eachAfterSending(70_000))
    let upload = [
      "upload", source.path, "--report", "BUG-1", "--resume", "--server", proxy.url.absoluteString,
    ]
    let command = try await RunningProgram(
      "sh", ["-c", "echo begins; exec \"$@\"", "sh", Product.path] + upload)
    while proxy.count < 2 {
      try Task.checkCancellation()
      await Task.yield()
    }
    #expect(await command.stop(SIGKILL) != 0)
    await first.program.stop(SIGKILL)
    let zip = folder.file("source.upload/bundle.zip")
    let bundle = try Data(contentsOf: zip)
    #expect(FileManager.default.fileExists(atPath: folder.file("source.upload/upload.json").path))

    let second = try await TestServer(storage: storage)
    let sent = proxy.sentBytes
    proxy.change(to: try port(of: second), .never)
    let outcome = try await Product.run(upload)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let id = try #require(SnapshotID(outcome.lines.first ?? ""))
    #expect(proxy.sentBytes - sent < bundle.count)
    let fetched = try await Curl([second.address("/v1/snapshots/\(id).zip")])
    #expect(fetched.status == 200)
    #expect(fetched.body == bundle)
    #expect(!FileManager.default.fileExists(atPath: folder.file("source.upload").path))
    let left = try FileManager.default.subpathsOfDirectory(atPath: storage.appending(path: "uploads").path)
    #expect(!left.contains { $0.hasSuffix("zip") }, "\(left)")
  }

  @Test(.timeLimit(.minutes(5 * Sanitizer.slowness)))
  func `an upload that the server lost starts again with a message`() async throws {
    let source = try makeSource()
    let first = try await TestServer(storage: folder.file("storage"))
    let proxy = try CuttingProxy(to: port(of: first), .eachAfterSending(70_000))
    let upload = [
      "upload", source.path, "--report", "BUG-1", "--resume", "--server", proxy.url.absoluteString,
    ]
    let command = try await RunningProgram(
      "sh", ["-c", "echo begins; exec \"$@\"", "sh", Product.path] + upload)
    while proxy.count < 2 {
      try Task.checkCancellation()
      await Task.yield()
    }
    #expect(await command.stop(SIGKILL) != 0)
    #expect(FileManager.default.fileExists(atPath: folder.file("source.upload/upload.json").path))
    let second = try await TestServer(storage: folder.file("another-storage"))
    proxy.change(to: try port(of: second), .never)
    let outcome = try await Product.run(upload)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.errors.contains("The upload starts again from the first byte: the server has no such upload"))
    #expect(!FileManager.default.fileExists(atPath: folder.file("source.upload").path))
  }

  @Test func `a bundle packed for an upload that could not begin is sent later`() async throws {
    let source = try makeSource()
    let closed = try ScriptedServer.unusedPort()
    let upload = ["upload", source.path, "--report", "BUG-1", "--resume", "--server"]
    let failed = try await Product.run(upload + ["http://127.0.0.1:\(closed)"])
    #expect(failed.status == 1)
    let bundle = try Data(contentsOf: folder.file("source.upload/bundle.zip"))
    try folder.write(Data("later".utf8), to: "source/later.txt")
    let server = try await TestServer(storage: folder.file("storage"))
    let outcome = try await Product.run(upload + [server.url.absoluteString])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.contains("Continuing with the bundle packed earlier"))
    let id = try #require(outcome.lines.first)
    #expect(try await Curl([server.address("/v1/snapshots/\(id).zip")]).body == bundle)
    #expect(!FileManager.default.fileExists(atPath: folder.file("source.upload").path))
  }

  @Test func `an upload in pieces arrives, and a maximum size of zero is refused`() async throws {
    let source = try makeSource()
    let server = try await TestServer(storage: folder.file("storage"))
    let outcome = try await Product.run([
      "upload", source.path, "--report", "BUG-1", "--maximum-request-body", "300000", "--server",
      server.url.absoluteString,
    ])
    #expect(outcome.status == 0, "\(outcome.errors)")
    let refused = try await Product.run([
      "upload", source.path, "--report", "BUG-1", "--maximum-request-body", "0",
    ])
    #expect(refused.status == 64)
  }

  /// Every 97th position, or every position if the environment variable is set.
  private static func positions(upTo end: Int) -> [Int] {
    let step = ProcessInfo.processInfo.environment["CUT_EVERYWHERE"] == nil ? 97 : 1
    return Array(stride(from: 0, to: end, by: step))
  }

  @Test func `wherever a connection breaks, the server receives the bundle exactly once`() async throws {
    let (zip, _) = try await Sample.bundle(in: folder, count: 1)
    let bundle = try Data(contentsOf: zip)
    // The response to the creation of some uploads is lost, so that no client continues them.
    let server = try await TestServer(
      storage: folder.file("storage"),
      environment: [
        "SNAPSHOT_SERVER_UPLOADS_OPEN": "10000", "SNAPSHOT_SERVER_UPLOADS_OPEN_PER_TOKEN": "10000",
      ])
    var configuration = SnapshotAPIClient.Configuration()
    configuration.resumption.threshold = 1
    configuration.environment.sleep = { _ in }
    let cuts =
      Self.positions(upTo: bundle.count + 1200).map(CuttingProxy.Cut.onceAfterSending)
      + Self.positions(upTo: 4000).map(CuttingProxy.Cut.onceAfterReceiving)
      + Self.positions(upTo: bundle.count).map { CuttingProxy.Cut.eachAfterSending(800 + $0) }
    for cut in cuts {
      let proxy = try CuttingProxy(to: port(of: server), cut)
      let (report, id) = (try ReportID(validating: "CUT"), SnapshotID())
      do {
        let record = try await SnapshotAPIClient(server: proxy.url, configuration: configuration)
          .attach(zip, to: report, as: id)
        #expect(record.id == id && record.sha256 == .of(bundle), "\(cut)")
      } catch {
        Issue.record("\(cut): \(error)")
      }
    }
    let count = try await Curl([server.address("/v1/reports/CUT/snapshots?limit=1000")]).json["snapshots"]
    #expect((count as? [Any])?.count == min(cuts.count, 1000))
  }

  @Test func `a source that cannot be uploaded leaves no state`() async throws {
    let outcome = try await Product.run(["upload", folder.file("missing").path, "--report", "B", "--resume"])
    #expect(outcome.status == 2)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }
}
