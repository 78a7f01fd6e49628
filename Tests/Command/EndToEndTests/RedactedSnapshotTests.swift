import DataSnapshots
import Foundation
import RedactionTesting
import SnapshotClient
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// Secrets that an app redacts, on their whole way: through the app, the server, its pages and its logs.
@Suite struct RedactedSnapshotTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `no planted secret is in a file, a log or an answer of the server`() async throws {
    let planted = Canaries.some(every: 10)
    let server = try await TestServer(
      storage: folder.file("storage"), environment: ["SNAPSHOT_SERVER_LOG_LEVEL": "debug"])
    let id = try await report(planted, to: server)

    let listed = try await Curl([server.address("/v1/snapshots/\(id)/files")]).json["files"]
    let names = try #require(listed as? [[String: Any]]).compactMap { $0["path"] as? String }
    #expect(names.count > planted.count)
    let files = try names.map { name in
      try #require(
        name.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(.init(charactersIn: "/"))))
    }
    let pages =
      ["/", "/?text=anna", "/reports/BUG-1", "/snapshots/\(id)", "/snapshots/\(id)/history", "/metrics"]
      + ["", "/\(id)", "/\(id)/files"].map { "/v1/snapshots" + $0 }
      + files.flatMap { ["/v1/snapshots/\(id)/files/\($0)", "/snapshots/\(id)/files/\($0)"] }
    for page in pages {
      let answer = try await Curl(["--header", "Accept: text/html, */*", server.address(page)])
      #expect(answer.status == 200, "\(page)")
      #expect(!Canaries.reveals(answer.body, "Canary") && !answer.head.contains("Canary"), "\(page)")
    }
    await server.program.stop()
    #expect(try !server.program.errors.contains("Canary"))
    try expectNone()
  }

  /// Records the documents, and sends a report with a note, fields and an attachment that contain secrets too.
  private func report(_ planted: [Canaries.Planted], to server: TestServer) async throws -> SnapshotID {
    var configuration = SnapshotMode.Configuration()
    configuration.redaction = .usualSecrets
    let mode = SnapshotMode(folder: folder.file("app"), configuration: configuration)
    mode.state = .recording
    for (number, document) in planted.enumerated() {
      _ = mode.process(data: document.data, uniqueIdentifier: "documents/\(number)?token=\(document.canary)")
    }
    let canary = planted[0].canary
    mode.attach(name: "log.txt", data: Data("Authorization: Bearer \(canary)\n".utf8))
    let reporter = try BugReporter(
      queue: folder.file("queue"), client: try SnapshotAPIClient(server: server.url)
    ) { bug, zip in
      try await mode.makeSnapshot(for: bug, to: zip)
    }
    let id = try await reporter.attach(
      report: ReportID(validating: "BUG-1"), note: "My password=\(canary) does not work",
      fields: ["token": canary, "steps": "Open https://ann:\(canary)@example.com"])
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
    await reporter.queue.close()
    await mode.close()
    return id
  }

  /// Searches every file of the app, its queue, and the server, also in bundles.
  private func expectNone() throws {
    var count = 0
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      let file = folder.file(path)
      guard Folder.isRegularFile(file.path) else { continue }
      count += 1
      #expect(!path.contains("Canary"))
      if path.hasSuffix(".zip") {
        let unpacked = try TemporaryFolder()
        let inside = unpacked.file("bundle")
        _ = try SnapshotBundle.unpack(zip: file, into: inside)
        for name in try FileManager.default.subpathsOfDirectory(atPath: inside.path) {
          let entry = inside.appending(path: name)
          guard Folder.isRegularFile(entry.path) else { continue }
          #expect(!Canaries.reveals(try Data(contentsOf: entry), "Canary"), "\(path): \(name)")
        }
      }
      #expect(!Canaries.reveals(try Data(contentsOf: file), "Canary"), "\(path)")
    }
    #expect(count > 10)
  }
}
