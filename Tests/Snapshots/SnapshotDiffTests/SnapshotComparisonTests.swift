import Foundation
import SnapshotDiff
import SnapshotFormat
import SystemIO
import TestSupport
import Testing
import ZipArchive

/// A snapshot on disk, as a folder and as a zip.
private struct Sample {
  let temporary: TemporaryFolder
  let folder: OpenSnapshot
  let zip: OpenSnapshot

  init(
    _ recordings: [String: String], files: [String: String] = [:], bytes: [String: [UInt8]] = [:],
    alter: (inout Manifest) -> Void = { _ in }
  ) throws {
    temporary = try TemporaryFolder()
    var manifest = Manifest(
      id: SnapshotID(), createdAt: Date(),
      application: .init(identifier: "com.example.news", version: "3.1", build: "7"),
      device: .init(model: "iPhone17,1", system: "iOS", systemVersion: "26.0", locale: "de_AT"))
    let all = recordings.mapValues { Array($0.utf8) }.merging(bytes) { $1 }
    for (identifier, bytes) in all.sorted(by: { $0.key < $1.key }) {
      let path = "recordings/\(RecordingName(identifier))"
      try temporary.write(Data(bytes), to: "snapshot/" + path)
      manifest.recordings.append(
        .init(
          identifier: identifier, path: path, size: Int64(bytes.count), sha256: .of(bytes), recordedAt: Date()
        ))
    }
    for (name, text) in files { try temporary.write(Data(text.utf8), to: "snapshot/" + name) }
    alter(&manifest)
    try temporary.write(manifest.json(), to: "snapshot/manifest.json")
    let zip = temporary.file("snapshot.zip")
    _ = try SnapshotBundle.pack(folder: temporary.file("snapshot"), to: zip)
    folder = try OpenSnapshot(folder: temporary.file("snapshot"))
    self.zip = try OpenSnapshot(zip: zip)
  }
}

@Suite struct SnapshotComparisonTests {
  @Test func `property lists are compared by their values`() throws {
    func list(_ number: Int) -> String {
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0"><dict><key>a</key><integer>\(number)</integer><key>b</key><true/></dict></plist>
      """
    }
    let comparison = try SnapshotComparison(
      Sample(["a": list(1), "b": "<plist>1"]).zip, Sample(["a": list(2), "b": "<plist>2"]).zip)
    guard case .json(let changes) = comparison.changed.first?.detail,
      case .text = comparison.changed.last?.detail
    else {
      Issue.record("\(comparison.changed)")
      return
    }
    #expect(changes.rows.map { "\($0.place) \($0.first ?? "") \($0.second ?? "")" } == [".a 1 2"])
  }

  @Test func `only one recording is compared if it is selected`() throws {
    let first = try Sample(["a": "1", "b": "1", "c": "1"], files: ["attachments/x": "1"])
    let second = try Sample(["a": "2", "b": "1", "d": "1"], files: ["attachments/x": "2"]) {
      $0.application.version = "9"
    }
    func counts(_ identifier: String) throws -> [Int] {
      var selection = ComparisonSelection()
      selection.identifier = identifier
      let comparison = try SnapshotComparison(first.zip, second.zip, selection: selection)
      let counts = comparison.counts
      return [
        counts.changed, counts.removed, counts.added, counts.files, comparison.alike, comparison.facts.count,
      ]
    }
    #expect(try counts("a") == [1, 0, 0, 0, 0, 0])
    #expect(try counts("b") == [0, 0, 0, 0, 1, 0])
    #expect(try counts("c") == [0, 1, 0, 0, 0, 0])
    #expect(try counts("d") == [0, 0, 1, 0, 0, 0])
    #expect(try counts("e") == [0, 0, 0, 0, 0, 0])
  }

  @Test func `recordings are added, removed, changed or equal`() throws {
    let first = try Sample(["a": "1", "b": "{\"x\":1}", "c": "same", "d": "line 1\nline 2\nline 3"])
    let second = try Sample([
      "z": "1", "b": "{\"x\":2}", "c": "same", "d": "line 1\nline two\nline 3\nline 4",
    ])
    for (one, other) in [
      (first.folder, second.folder), (first.zip, second.folder), (first.folder, second.zip),
      (first.zip, second.zip),
    ] {
      let comparison = try SnapshotComparison(one, other)
      #expect(!comparison.isEmpty)
      #expect(comparison.facts.isEmpty)
      #expect(comparison.files.isEmpty)
      #expect(comparison.alike == 1)
      #expect(comparison.removed.map(\.identifier) == ["a"])
      #expect(comparison.added.map(\.identifier) == ["z"])
      #expect(comparison.changed.map(\.second.identifier) == ["b", "d"])
      guard case .json(let changes) = comparison.changed[0].detail,
        case .text(let lines) = comparison.changed[1].detail
      else {
        Issue.record("\(comparison.changed)")
        continue
      }
      #expect(changes.rows.map { "\($0.place) \($0.first ?? "") \($0.second ?? "")" } == [".x 1 2"])
      #expect(lines.rows.map(\.place) == [2, 4])
      #expect(lines.rows.map(\.second) == ["line two", "line 4"])
      #expect(lines.rows.map(\.first) == ["line 2", nil])
    }
  }

  /// If an identifier is too long, no recordings of the first snapshot are kept, and its manifest is read again.
  @Test(arguments: [1024, 1025])
  func `the first differences are reported wherever they are in the manifests`(longest: Int) throws {
    let same = [String(repeating: "a", count: longest): ""]
    let recordings = Dictionary(uniqueKeysWithValues: (0..<200).map { ("both \($0)", "\($0)") })
    let gone = Dictionary(uniqueKeysWithValues: (0..<100).map { ("gone \($0)", "") })
    let new = Dictionary(uniqueKeysWithValues: (0..<100).map { ("new \($0)", "") })
    var limits = ComparisonLimits()
    limits.listed = 3
    let orders: [(inout Manifest) -> Void] = [
      { $0.recordings.sort { $0.identifier < $1.identifier } },
      { $0.recordings.sort { $0.identifier > $1.identifier } },
      { $0.recordings.shuffle() },
    ]
    for order in orders {
      let first = try Sample(recordings.merging(gone) { $1 }.merging(same) { $1 }, alter: order)
      let others = recordings.mapValues { "other \($0)" }.merging(same) { $1 }
      let second = try Sample(others.merging(new) { $1 }, alter: order)
      let comparison = try SnapshotComparison(first.zip, second.zip, limits: limits)
      #expect(comparison.changed.map(\.first.identifier) == ["both 0", "both 1", "both 10"])
      #expect(comparison.removed.map(\.identifier) == ["gone 0", "gone 1", "gone 10"])
      #expect(comparison.added.map(\.identifier) == ["new 0", "new 1", "new 10"])
      let counts = comparison.counts
      #expect((counts.changed, counts.removed, counts.added) == (200, 100, 100) && comparison.alike == 1)
      // If no recordings were removed, the rest of the manifest is not read again.
      let other = try Sample(others, alter: order)
      let own = try Sample(recordings.merging(same) { $1 }, alter: order)
      let changed = try SnapshotComparison(own.zip, other.folder, limits: limits)
      #expect(changed.changed.map(\.second.identifier) == ["both 0", "both 1", "both 10"])
      #expect(changed.counts.changed == 200 && changed.alike == 1 && changed.removed.isEmpty)
    }
  }

  @Test func `a snapshot has no differences to itself, in any form`() throws {
    let sample = try Sample(
      ["a": "1", "b": ""], files: ["attachments/log.txt": "log", "app-data/Library/x": "y"])
    #expect(try SnapshotComparison(sample.zip, sample.folder).isEmpty)
    #expect(try SnapshotComparison(sample.folder, sample.zip).isEmpty)
    let again = try Sample(
      ["a": "1", "b": ""], files: ["attachments/log.txt": "log", "app-data/Library/x": "y"])
    #expect(try SnapshotComparison(sample.zip, again.zip).isEmpty)
  }

  @Test func `calls with the same identifier are distinguished`() throws {
    func alter(_ calls: ClosedRange<Int>) -> (inout Manifest) -> Void {
      { manifest in
        for (index, call) in zip(manifest.recordings.indices, calls) {
          manifest.recordings[index].identifier = "feed"
          manifest.recordings[index].call = call
        }
      }
    }
    let first = try Sample(["1": "one", "2": "two"], alter: alter(1...2))
    let second = try Sample(["2": "two", "3": "three"], alter: alter(2...3))
    let comparison = try SnapshotComparison(first.zip, second.zip)
    #expect(comparison.removed.map(\.call) == [1])
    #expect(comparison.added.map(\.call) == [3])
    #expect(comparison.alike == 1)
  }

  @Test func `descriptions are compared, but not the identifiers and creation times`() throws {
    let first = try Sample(["a": "1"]) { manifest in
      manifest.modules = [Module(name: "News", files: ["a", "b"]), Module(name: "Old", files: [])]
      manifest.redactions = ["x", "y"]
    }
    let second = try Sample(["a": "1"]) { manifest in
      manifest.application.version = "3.2"
      manifest.device.systemVersion = "26.1"
      manifest.modules = [Module(name: "News", files: ["b", "c"])]
      manifest.redactions = ["y", "x"]
      manifest.createdAt = Date(timeIntervalSince1970: 0)
    }
    let facts = try SnapshotComparison(first.zip, second.zip).facts
    #expect(facts.map(\.place) == [.version, .system, .module("News"), .module("Old")])
    #expect(facts.map(\.first) == ["3.1", "iOS 26.0", "a, b", ""])
    #expect(facts.map(\.second) == ["3.2", "iOS 26.1", "b, c", nil])
  }

  @Test func `other files are compared by their contents`() throws {
    let first = try Sample(
      [:], files: ["attachments/a": "same", "attachments/b": "1", "app-data/c": "12", "app-data/d": ""])
    let second = try Sample(
      [:], files: ["attachments/a": "same", "attachments/b": "2", "app-data/c": "1", "app-data/e": ""])
    for (one, other) in [(first.zip, second.zip), (first.folder, second.zip), (first.folder, second.folder)] {
      let files = try SnapshotComparison(one, other).files
      #expect(files.map(\.place) == ["app-data/c", "app-data/d", "app-data/e", "attachments/b"])
      #expect(files.map(\.kind) == [.changed, .removed, .added, .changed])
      #expect(files.map(\.first) == ["2", "0", nil, "1"])
    }
  }

  @Test func `binary contents are reported with the offset of the first difference`() throws {
    let first = try Sample([:], bytes: ["a": [1, 2, 0xFF, 4], "b": Array("text".utf8), "c": [0]])
    let second = try Sample([:], bytes: ["a": [1, 2, 0xFE, 4], "b": [0x74, 0xFF], "c": [0, 0]])
    let changed = try SnapshotComparison(first.zip, second.zip).changed
    #expect(
      changed.map(\.detail) == [
        .bytes(firstDifference: 2), .bytes(firstDifference: 1), .bytes(firstDifference: 1),
      ])
  }

  @Test func `recordings beyond the limits are not compared and are reported as such`() throws {
    var limits = ComparisonLimits()
    limits.recordingBytes = 100
    let deep = String(repeating: "[", count: 20) + String(repeating: "]", count: 20)
    let first = try Sample(["a": String(repeating: "x", count: 100), "b": "1", "c": deep])
    let second = try Sample(["a": String(repeating: "x", count: 101), "b": "2", "c": "[\(deep)]"])
    func details() throws -> [RecordingDifference.Detail] {
      try SnapshotComparison(first.zip, second.zip, limits: limits).changed.map(\.detail)
    }
    #expect(try details()[0] == .beyondLimits)
    limits.recordingBytes = 101
    #expect(try details()[0] != .beyondLimits)
    #expect(try details()[2] != .beyondLimits)
    limits.depth = 20
    #expect(try details()[2] == .beyondLimits)
    // The smallest are compared first.
    limits.totalBytes = 284
    #expect(try details().map { $0 == .beyondLimits } == [true, false, true])
    limits.totalBytes = 285
    #expect(try details().map { $0 == .beyondLimits } == [false, false, true])
    limits.totalChanges = 1
    #expect(try details().map { $0 == .beyondLimits } == [true, false, true])
  }

  @Test func `a damaged recording is an error`() throws {
    let first = try Sample(["a": "one"])
    let second = try Sample(["a": "two"])
    try first.temporary.write(Data("xxx".utf8), to: "snapshot/recordings/a")
    #expect(throws: BundleError.self) { try SnapshotComparison(first.folder, second.folder) }
  }

  @Test func `the comparison is encoded as JSON`() throws {
    let first = try Sample(["a": "{\"x\":1}", "b": "1"], files: ["attachments/l": "1"])
    let second = try Sample(["a": "{\"x\":2}"]) { $0.application.version = "4" }
    let comparison = try SnapshotComparison(first.zip, second.zip)
    let json = try JSONSerialization.jsonObject(with: SnapshotJSON.encode(comparison)) as? [String: Any]
    #expect(json?["differs"] as? Bool == true)
    #expect((json?["removed"] as? [[String: Any]])?.first?["identifier"] as? String == "b")
    let changed = try #require((json?["changed"] as? [[String: Any]])?.first)
    #expect(changed["identifier"] as? String == "a")
    #expect(changed["compared"] as? String == "json")
    let change = try #require((changed["changes"] as? [[String: Any]])?.first)
    #expect(change as? [String: String] == ["kind": "changed", "path": ".x", "first": "1", "second": "2"])
    let fact = (json?["facts"] as? [[String: String]])?.first
    #expect(fact == ["kind": "changed", "fact": "version", "first": "3.1", "second": "4"])
    let file = (json?["files"] as? [[String: String]])?.first
    #expect(file == ["kind": "removed", "name": "attachments/l", "first": "1"])
  }

  // MARK: - Selections

  @Test func `each difference is on exactly one page, in order`() throws {
    let texts = (0..<40).map { "n\($0 * 7919 % 1000)" }
    let first = try Sample(
      Dictionary(uniqueKeysWithValues: texts.prefix(30).map { ($0, "1") }),
      files: Dictionary(uniqueKeysWithValues: (0..<9).map { ("attachments/\($0)", "1") }))
    let second = try Sample(Dictionary(uniqueKeysWithValues: texts.suffix(30).map { ($0, "2") }))
    var limits = ComparisonLimits()
    limits.listed = 4
    let all = try SnapshotComparison(first.zip, second.zip)
    for kinds in [Set(ChangeKind.allCases), [.changed], [.removed], [.added]] {
      var selection = ComparisonSelection()
      selection.kinds = kinds
      var found: [String] = []
      for _ in 0..<20 {
        let page = try SnapshotComparison(first.zip, second.folder, limits: limits, selection: selection)
        #expect(page.counts == all.counts)
        let places =
          (page.changed.map { ComparisonSelection.Place($0.second) }
          + (page.removed + page.added).map { ComparisonSelection.Place($0) }).sorted().prefix(4)
        found += places.map(\.identifier)
        guard let last = places.last else { break }
        selection.recordingsAfter = last
      }
      let expected =
        (kinds.contains(.changed) ? all.changed.map(\.second.identifier) : [])
        + (kinds.contains(.removed) ? all.removed.map(\.identifier) : [])
        + (kinds.contains(.added) ? all.added.map(\.identifier) : [])
      #expect(found == expected.sorted())
    }
    var selection = ComparisonSelection()
    selection.filesAfter = "attachments/6"
    #expect(
      try SnapshotComparison(first.zip, second.zip, selection: selection).files.map(\.place)
        == ["attachments/7", "attachments/8"])
  }

  @Test func `a recording that differs only in omitted values is not counted as changed`() throws {
    let first = try Sample(["a": "{\"x\":1,\"at\":1}", "b": "{\"at\":1}"])
    let second = try Sample(["a": "{\"x\":2,\"at\":2}", "b": "{\"at\":2}"])
    var selection = ComparisonSelection(filter: try ComparisonFilter("at"))
    let comparison = try SnapshotComparison(first.zip, second.zip, selection: selection)
    #expect(comparison.counts.changed == 1 && comparison.counts.omitted == 1 && !comparison.isEmpty)
    #expect(comparison.changed.map { $0.detail == .omitted } == [false, true])
    selection.filter = try ComparisonFilter("at, x")
    #expect(try SnapshotComparison(first.zip, second.zip, selection: selection).isEmpty)
  }
}
