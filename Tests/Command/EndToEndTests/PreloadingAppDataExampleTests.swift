import DataSnapshots
import Foundation
import SnapshotClient
import SnapshotFormat
import TestSupport
import Testing

/// The lines of the article, compiled and run.
@Suite struct PreloadingAppDataExampleTests {
  private static let article = "Sources/App/DataSnapshots/DataSnapshots.docc/PreloadingAppData.md"

  private func bundle() throws -> AppDataFixture {
    try AppDataFixture(["Documents/notes.json": "[1, 2, 3]", "Library/state": "half-finished"])
  }

  @Test func `the example for preloading works`() throws {
    let files = try bundle()
    let (fixture, container) = (files.bundle, files.container)

    // example: PreloadingAppData begin
    let whenTested: PreloadCondition = .debugBuild && (.fastlaneSnapshot || .argument("-preload"))
    let outcome = try AppData.preload(fixture, into: container, when: whenTested)
    print(outcome)  // App data preloaded: 2 created, 0 replaced, 0 unchanged; 22 bytes written.
    // example: PreloadingAppData end

    #expect(outcome == .skipped(unless: whenTested.description))
    #expect(try files.paths().isEmpty)
    try AppData.preload(
      fixture, into: container, when: whenTested,
      launch: .init(arguments: ["app", "-preload"], isDebugBuild: true))
    #expect(try files.text("Library/state") == "half-finished")
    try DocumentedExample.check(article: Self.article, code: #filePath, marker: "PreloadingAppData")
  }

  @Test func `the example for bug reports works`() async throws {
    let files = try bundle()
    let server = try await TestServer(storage: files.folder.file("storage"))
    let client = try SnapshotAPIClient(server: server.url)
    let (fixture, container) = (files.bundle, files.container)
    let (zip, download) = (files.folder.file("a.zip"), files.folder.file("b.zip"))

    // example: BugReport begin
    let packed = try AppData.makeSnapshot(of: fixture, report: ReportID(validating: "BUG-123"), to: zip)
    try await client.attach(zip, to: ReportID(validating: "BUG-123"), as: packed.manifest.id)

    try await client.fetch(packed.manifest.id, to: download)
    let report = try AppData(contentsOf: download).copy(into: container)
    print(report.paths(.replaced), report.paths(.created))
    // example: BugReport end

    #expect(report.paths(.created) == ["Documents/notes.json", "Library/state"])
    #expect(try files.text("Documents/notes.json") == "[1, 2, 3]")
    try DocumentedExample.check(article: Self.article, code: #filePath, marker: "BugReport")
  }
}
