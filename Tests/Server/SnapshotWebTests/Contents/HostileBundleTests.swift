import Foundation
import SnapshotDiff
import SnapshotFormat
@testable import SnapshotWeb
import Testing

/// Bundles made to break out of a page, or to make it larger than a page may be.
@Suite struct HostileBundleTests {
  private static let markup = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>\u{202E}\u{0}\u{7F}"
  private static let pageLength = 60 << 10

  private let renderer: PageRenderer
  private let frame = PageFrame(account: .open)

  init() throws { renderer = try PageRenderer() }

  private func record(_ modules: [Module]) throws -> SnapshotRecord {
    let manifest = Manifest(
      id: SnapshotID(), createdAt: Date(timeIntervalSince1970: 0),
      application: .init(identifier: Self.markup, version: Self.markup, build: Self.markup),
      device: .init(model: Self.markup, system: Self.markup, systemVersion: Self.markup, locale: Self.markup),
      modules: modules)
    return SnapshotRecord(
      id: manifest.id, report: try ReportID(validating: "BUG-1"), size: 1, sha256: .of([UInt8]()),
      receivedAt: manifest.createdAt, verified: .intact, manifest: manifest)
  }

  private func check(_ page: [UInt8], length: Int = pageLength) {
    #expect(page.count <= length, "\(page.count) bytes")
    let html = String(decoding: page, as: UTF8.self)
    for trace in ["<script>", "<img src=x", "\u{202E}", "\u{0}", "\u{7F}"] {
      #expect(!html.unicodeScalars.contains(trace.unicodeScalars), "\(trace.debugDescription)")
    }
  }

  private var recordings: [(identifier: String, bytes: [UInt8])] {
    (0..<300).map { number in
      let name =
        Self.markup + String(repeating: number % 2 == 0 ? "<" : "\u{202E}", count: 20_000 / (1 + number))
      return ("\(number)" + name, Array("{\"\(number)\":\"<script>\"}".utf8))
    }
  }

  @Test func `names full of markup and longer than a page are shown within it`() throws {
    let modules = (0..<60).map { Module(name: Self.markup + "\($0)", files: ["a" + Self.markup, "\($0)"]) }
    let sample = try SampleBundle(
      recordings,
      files: (0..<80).map { ("attachments/<script>\($0)\(String(repeating: "&", count: 200)).txt", [1]) },
      modules: modules)
    for module in [nil, modules[0].name, Self.markup] {
      let contents = ExaminedContents(try BundleContents(sample.bundle, modules: modules))
      try contents.examine(sample.bundle) { $0() }
      for selected in [SnapshotPage.Selected.nothing, .panel(.details)] {
        check(
          renderer.render(
            SnapshotPage(
              record: try record(modules),
              contents: .success(ContentsList(contents, ListSelection(module: module), modules: modules)),
              selected: selected, origin: "https://snapshots.example.com"), in: frame), length: 120_000)
      }
    }
  }

  @Test(arguments: [
    "{\"\(String(repeating: "<script>", count: 9000))\":[\"<img src=x onerror=alert(1)>\"]}",
    "[" + String(repeating: "{\"a\":\"<&'\u{202E}\",\"b\":[1,{\"c\":[]}]},", count: 20_000) + "0]",
    String(repeating: "[", count: 100_000), String(repeating: "<script>\u{202E}\u{7F}\n", count: 50_000),
    "\u{0}\u{1}<script>" + String(repeating: "<'&\"", count: 50_000),
    String(repeating: "{\"a\":", count: 500),
    "\"" + String(repeating: "\\u003cscript\\u003e<script>", count: 50_000) + "\"",
  ])
  func `contents full of markup and larger than a page are shown within it`(text: String) throws {
    let path = "attachments/<script>.json"
    let sample = try SampleBundle(
      [(identifier: String, bytes: [UInt8])](), files: [(path, Array(text.utf8))])
    for view in [nil] + FileSelection.View.allCases.map(Optional.some) {
      var selection = FileSelection()
      selection.view = view
      for find in ["", "a", "script"] {
        selection.find = find
        let page = PreviewPage(
          record: try record([]), path: path, size: Int64(text.utf8.count), selection: selection,
          preview: try sample.preview(path, selection))
        check(renderer.render(page, in: frame), length: 500_000)
      }
    }
  }

  @Test func `differences full of markup and larger than a page are shown within it`() throws {
    func sample(_ value: String) throws -> SampleBundle {
      let text =
        "{"
        + (0..<100).map {
          "\"\($0)<script>\(String(repeating: "<", count: 300))\":\"\(value)\($0)<img src=x>\""
        }
        .joined(separator: ",") + "}"
      return try SampleBundle(
        recordings.map { ($0.identifier, Array(text.utf8)) },
        files: (0..<100).map { ("attachments/<script>\($0)\(value)", Array(value.utf8)) },
        modules: [Module(name: Self.markup + value, files: [Self.markup + value])])
    }
    let (first, second) = (try sample("1"), try sample("2"))
    let records = (try record([]), try record([]))
    let differences = try DiffSummary(first.bundle, second.bundle, modules: [])
    #expect(differences.counts.changed == 300)
    #expect(differences.facts.count == 2)
    var page = DiffPage(first: records.0, second: records.1, content: .list(differences))
    check(renderer.render(page, in: frame), length: 500_000)
    for item in [
      DiffSelection.Item.recording(.init(identifier: recordings[0].identifier)),
      .file("attachments/<script>01"),
    ] {
      page.selection.item = item
      page.content = .item(try DiffItem(item, first.bundle, second.bundle, filter: ComparisonFilter()))
      check(renderer.render(page, in: frame), length: 500_000)
    }
  }
}
