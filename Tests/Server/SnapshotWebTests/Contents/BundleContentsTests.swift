import SnapshotFormat
@testable import SnapshotWeb
import Testing

@Suite struct BundleContentsTests {
  private static let modules = [
    Module(name: "News", files: ["n/0", "n/1", "missing", "n/1"]), Module(name: "Empty", files: []),
  ]

  private func sample() throws -> SampleBundle {
    try SampleBundle(
      (0..<120).map { ("n/\($0)", [UInt8](repeating: 0x61, count: $0)) },
      files: [("attachments/log.txt", [1, 2, 3]), ("attachments/fake.png", [1]), ("app-data/x", [])],
      modules: Self.modules)
  }

  private func contents(_ selection: SnapshotPage.Selection = .init()) throws -> BundleContents {
    try BundleContents(sample().bundle, modules: Self.modules, selection: selection)
  }

  @Test func `all is counted, and one page is shown`() throws {
    let contents = try contents()
    #expect(contents.formatVersion == 1)
    #expect(contents.redactions == ["e-mail"])
    #expect(contents.recordingCount == 120)
    #expect(contents.recordingBytes == 119 * 60)
    #expect(contents.largestRecording == 119)
    #expect(contents.recordings.rows.map(\.identifier) == (0..<50).map { "n/\($0)" })
    #expect(contents.recordings.total == 120)
    #expect(contents.moduleCount == 2)
    #expect(
      contents.modules == [
        ModuleSummary(name: "News", wanted: 3, missing: 1, missingIdentifiers: ["missing"]),
        ModuleSummary(name: "Empty", wanted: 0, missing: 0, missingIdentifiers: []),
      ])
    #expect(contents.attachments.rows.map(\.path) == ["attachments/log.txt", "attachments/fake.png"])
    #expect(contents.attachments.total == 2)
    #expect(contents.files.rows == [FileEntry(path: "app-data/x", size: 0, isImage: false)])
  }

  @Test(arguments: [
    (0, 0..<50), (49, 49..<99), (100, 100..<120), (119, 119..<120), (120, 120..<120), (500, 120..<120),
  ])
  func `pages begin where they are asked to`(start: Int, rows: Range<Int>) throws {
    var selection = SnapshotPage.Selection()
    selection.recordings = start
    let page = try contents(selection).recordings
    #expect(page.rows.map(\.identifier) == rows.map { "n/\($0)" })
    #expect(page.start == min(start, 120))
    selection.recordings = -start
    #expect(try contents(selection).recordings.start == 0)
  }

  @Test(arguments: [("News", ["n/0", "n/1"]), ("Empty", []), ("none", [])])
  func `one module's recordings are shown`(module: String, identifiers: [String]) throws {
    let page = try contents(.init(module: module)).recordings
    #expect(page.rows.map(\.identifier) == identifiers)
    #expect(page.total == identifiers.count)
  }

  @Test(arguments: [0, 50, 51])
  func `what was dropped is counted, and its reason is beside the missing identifier`(count: Int) throws {
    let dropped = (0..<count).map { number in
      Manifest.Dropped(
        identifier: number == 0 ? "missing" : "d/\(number)", reason: .waiting, count: 1, bytes: 60_000_000)
    }
    let sample = try SampleBundle(modules: Self.modules, dropped: dropped)
    let contents = try BundleContents(sample.bundle, modules: Self.modules, selection: .init())
    #expect(contents.dropped.total == count)
    #expect(contents.dropped.rows == Array(dropped.prefix(50)))
    let reasons = count == 0 ? [:] : ["missing": "dropped: 60 MB, too much waited for the disk"]
    #expect(contents.modules.map(\.reasons) == [reasons, [:]])
  }

  @Test func `pictures are what browsers show as such`() throws {
    let png: [UInt8] =
      [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
      + [0, 0, 0, 1, 0, 0, 0, 1]
    let sample = try SampleBundle(
      [(identifier: String, bytes: [UInt8])](),
      files: [("attachments/a.png", png), ("attachments/b.txt", png), ("attachments/c.PNG", png)])
    let contents = try BundleContents(sample.bundle, modules: [], selection: .init())
    #expect(contents.attachments.rows.map(\.isImage) == [true, false, true])
  }
}
