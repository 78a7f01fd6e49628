import DataSnapshots
import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// Snapshots that are made as a bug report describes them.
struct BugReportTests {
  private let app: SampleApp
  private let report: ReportID

  init() throws {
    app = try SampleApp()
    report = try ReportID(validating: "BUG-1")
  }

  private func unpack(_ packed: SnapshotBundle.Packed, _ zip: URL) throws -> [String: String] {
    let folder = app.temporary.file("\(SnapshotID())")
    _ = try SnapshotBundle.unpack(zip: zip, into: folder)
    var files: [String: String] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    where path.contains("/") {
      files[path] = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
    }
    return files
  }

  @Test func `what goes along is listed, and what is excluded does not go along`() async throws {
    var changed = app
    changed.configuration.policies["h"] = .init(retention: .history(limit: 9))
    let mode = changed.launch()
    mode.state = .recording
    for (text, identifier) in [("12", "a"), ("345", "h"), ("6", "h"), ("secret", "b")] {
      _ = mode.process(text, identifier)
    }
    mode.attach(name: "log.txt", data: Data("log".utf8))
    mode.attach(name: "state.json", data: Data("{}".utf8))
    let contents = try await mode.contents()
    #expect(contents.map(\.id) == ["attachments/log.txt", "attachments/state.json", "a", "b", "h"])
    #expect(contents.map(\.isAttachment) == [true, true, false, false, false])
    #expect(contents.map(\.calls) == [1, 1, 1, 1, 2])
    #expect(contents.map(\.bytes) == [3, 2, 2, 6, 4])

    var bug = BugReport(report: report, note: "note", fields: ["f": "1"])
    bug.excluded = ["b", "h", "attachments/log.txt", "unknown"]
    let zip = app.temporary.file("a.zip")
    let packed = try await mode.makeSnapshot(for: bug, to: zip)
    let manifest = packed.manifest
    #expect(manifest.id == bug.id && manifest.report == report)
    #expect(manifest.note == "note" && manifest.fields == ["f": "1"])
    #expect(try unpack(packed, zip) == ["recordings/a": "12", "attachments/state.json": "{}"])
    let withheld: [Manifest.Dropped] = [
      .init(identifier: "attachments/log.txt", reason: .withheld, count: 1, bytes: 3),
      .init(identifier: "b", reason: .withheld, count: 1, bytes: 6),
      .init(identifier: "h", reason: .withheld, count: 2, bytes: 4),
    ]
    #expect(manifest.dropped == withheld)
    // Only this snapshot lacks it.
    #expect(try await mode.makeSnapshot(to: zip).manifest.dropped == [])
    #expect(app.events.all.isEmpty)
  }

  @Test func `attachments of one report are redacted, replace others, and are in no other snapshot`()
    async throws
  {
    var changed = app
    changed.configuration.redaction = .usualSecrets
    let mode = changed.launch()
    mode.attach(name: "log.txt", data: Data("recorded".utf8))
    var bug = BugReport(report: report)
    bug.attachments = ["log.txt": Data("password=hunter2".utf8), "Screen:1.png": Data("png".utf8)]
    let zip = app.temporary.file("a.zip")
    let packed = try await mode.makeSnapshot(for: bug, to: zip)
    let files = try unpack(packed, zip)
    #expect(files.count == 2 && files["attachments/log.txt"]?.contains("hunter2") == false)
    #expect(files.values.contains("png"))
    #expect(packed.manifest.redactions == SampleApp.names(of: .usualSecrets))
    let next = try await mode.makeSnapshot(to: zip)
    #expect(try unpack(next, zip) == ["attachments/log.txt": "recorded"])
    #expect(app.events.all.isEmpty)
  }

  @Test func `an attachment that can't be stored is reported, and the report is made without it`()
    async throws
  {
    var changed = app
    let breaks = RedactionRule.custom(named: "breaks") { _, _ in throw CancellationError() }
    changed.configuration.redaction = .usualSecrets + [breaks.only("attachments/broken")]
    changed.configuration.limits.recordingBytes = 10
    let mode = changed.launch()
    var bug = BugReport(report: report)
    bug.attachments = [
      "fits": Data("0123456789".utf8), "large": Data(count: 11), "a/b": Data(count: 1),
      "broken": Data(#"{"a":"#.utf8),
    ]
    let zip = app.temporary.file("a.zip")
    let packed = try await mode.makeSnapshot(for: bug, to: zip)
    #expect(try unpack(packed, zip).keys.sorted() == ["attachments/fits"])
    let expected: [Manifest.Dropped] = [
      .init(identifier: "attachments/a/b", reason: .unwritable, count: 1, bytes: 1),
      .init(identifier: "attachments/broken", reason: .notRedacted, count: 1, bytes: 5),
      .init(identifier: "attachments/large", reason: .tooLarge, count: 1, bytes: 11),
    ]
    #expect(packed.manifest.dropped == expected)
    #expect(app.events.kinds == [.recordingRefused, .redactionFailed, .recordingRefused])
  }
}
