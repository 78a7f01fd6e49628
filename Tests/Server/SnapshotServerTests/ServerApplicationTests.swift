import Foundation
import HTTPEngine
import HTTPTypes
import Logging
import SnapshotServer
import SystemIO
import TestSupport
import Testing

/// The server as `snapshot serve` starts it, in a folder.
@Suite(.timeLimit(.minutes(1 * Sanitizer.slowness))) struct ServerApplicationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private var settings: ServerSettings { ServerSettings(port: 0, storage: folder.file("storage").path) }

  private func open(_ settings: ServerSettings) async throws(ServerError) -> ServerApplication {
    try await .open(settings, version: "1.2.3", logger: Logger(label: "test") { _ in CapturedLog() })
  }

  /// Why a server can't be opened with these settings.
  private func failure(_ settings: ServerSettings) async -> ServerError? {
    do throws(ServerError) {
      await (try open(settings)).close()
      return nil
    } catch {
      return error
    }
  }

  @Test func `a server answers until it is closed, and then the next one can be opened`() async throws {
    for _ in 0..<2 {
      let application = try await open(settings)
      let ready = try await application.handler.respond(
        to: HTTPServerRequest(method: .get, path: "/readyz"))
      #expect(ready.status == .ok)
      let port = try await application.start().port
      let metrics = try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return try client.receiveResponse()
      }
      #expect(metrics.status == 200)
      #expect(metrics.text.contains(#"{version="1.2.3"} 1"#))
      await application.close()
    }
  }

  @Test func `two servers can't share a storage`() async throws {
    let application = try await open(settings)
    #expect(await failure(settings)?.isStorageInUse == true)
    await application.close()
    #expect(await failure(settings) == nil)
  }

  @Test func `a server that can't be opened gives its storage back`() async throws {
    let audit = folder.file("storage/audit.log")
    try FileManager.default.createDirectory(at: audit, withIntermediateDirectories: true)
    let error = await failure(settings)
    #expect(
      error?.description.hasPrefix("The audit log can't be written: ") == true, "\(String(describing: error))"
    )
    try FileManager.default.removeItem(at: audit)
    #expect(await failure(settings) == nil)
  }

  @Test func `beyond loopback a server needs a token, and nothing is made without one`() async throws {
    var settings = settings
    settings.host = "example.com"
    #expect(await failure(settings)?.description.contains("‘example.com’") == true)
    settings.host = "0.0.0.0"
    #expect(await failure(settings)?.description.hasPrefix("There is no token yet") == true)
    #expect(try !Folder.exists(settings.storage))
    settings.insecure = true
    #expect(await failure(settings) == nil)
  }
}
