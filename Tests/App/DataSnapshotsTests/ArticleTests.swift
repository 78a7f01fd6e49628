import DataSnapshots
import Foundation
import SnapshotFormat
import TestSupport
import Testing

// example: World begin
/// Everything that the app gets from outside. Tests and previews use another value.
struct World: Sendable {
  var snapshots: SnapshotMode
  var fetch: @Sendable (String) async throws -> Data

  /// The one line where data enters the app.
  func data(for path: String) async throws -> Data {
    try await snapshots.process(path) { try await fetch(path) }
  }
}

enum Current {
  @TaskLocal static var world: World?
}
// example: World end

/// Runs the article's examples as they are printed.
struct ArticleTests {
  private static let article = "Sources/App/DataSnapshots/DataSnapshots.docc/DataSnapshots.md"

  @Test func `the article's lines work`() async throws {
    let folder = try TemporaryFolder()
    let (storage, zip) = (folder.file("app"), folder.file("a.zip"))
    let screenshot = Data([0x89, 0x50, 0x4E, 0x47, 1, 2, 3])
    let server = World(snapshots: SnapshotMode(folder: folder.file("other"))) { path in
      Data(#"{"path":"\#(path)","email":"anna@example.com","diagnosis":"flu"}"#.utf8)
    }

    // example: Setup begin
    var configuration = SnapshotMode.Configuration()
    configuration.redaction = .usualSecrets
    configuration.redaction.append(.jsonKeys(["diagnosis"], named: "health"))
    configuration.redaction.append(try .matching(#"\bAT\d{18}\b"#, named: "iban"))
    configuration.policies["news/*"] = .init(retention: .history(limit: 20))
    configuration.limits.totalBytes = 100 << 20
    configuration.onEvent = { event in print(event) }

    let snapshots = SnapshotMode(folder: storage, configuration: configuration)
    snapshots.register(module: "News", files: ["news/feed", "news/weather"])
    // example: Setup end

    try await Current.$world.withValue(World(snapshots: snapshots, fetch: server.fetch)) {
      let world = try #require(Current.world)
      // example: Recording begin
      snapshots.state = .recording
      let feed = try await world.data(for: "news/feed")
      snapshots.attach(name: "screenshot.png", data: screenshot)

      let report = await snapshots.report()
      print(report)  // News is not complete: news/weather is missing
      let packed = try await snapshots.makeSnapshot(report: ReportID(validating: "BUG-123"), to: zip)
      // example: Recording end
      #expect(String(decoding: feed, as: UTF8.self).contains("anna@example.com"))
      #expect(report.modules.map(\.missing) == [["news/weather"]])
      #expect(packed.manifest.redactions.contains("health"))

      // example: Replaying begin
      try await snapshots.activate(bundle: zip)
      let seen = try await world.data(for: "news/feed")  // what the user saw; nothing is fetched
      let attached = snapshots.activeAttachments["screenshot.png"]
      // example: Replaying end
      #expect(
        String(decoding: seen, as: UTF8.self).withUniformPlaceholders
          == #"{"path":"news/feed","email":"[redacted]","diagnosis":"[redacted]"}"#)
      #expect(try Data(contentsOf: #require(attached)) == screenshot)
    }
  }

  @Test(arguments: ["World", "Setup", "Recording", "Replaying"])
  func `the article contains exactly these lines`(marker: String) throws {
    try DocumentedExample.check(article: Self.article, code: #filePath, marker: marker)
  }
}
