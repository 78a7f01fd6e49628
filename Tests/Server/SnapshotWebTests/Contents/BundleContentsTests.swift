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

  private func contents() throws -> BundleContents {
    try BundleContents(sample().bundle, modules: Self.modules)
  }

  private func list(_ selection: ListSelection = ListSelection()) throws -> ContentsList {
    ContentsList(ExaminedContents(try contents()), selection, modules: Self.modules)
  }

  @Test func `everything in a bundle is listed`() throws {
    let contents = try contents()
    #expect(contents.formatVersion == 1)
    #expect(contents.redactions == ["e-mail"])
    #expect(contents.recordings.map(\.identifier) == (0..<120).map { "n/\($0)" })
    #expect(contents.recordingBytes == 119 * 60)
    #expect(contents.moduleCount == 2)
    #expect(
      contents.modules == [
        ModuleSummary(name: "News", wanted: 3, missing: 1, missingIdentifiers: ["missing"]),
        ModuleSummary(name: "Empty", wanted: 0, missing: 0, missingIdentifiers: []),
      ])
    #expect(contents.attachments.map(\.path) == ["attachments/log.txt", "attachments/fake.png"])
    #expect(contents.files == [FileEntry(path: "app-data/x", size: 0, isImage: false)])
  }

  @Test(arguments: [
    (0, 0..<100), (19, 19..<119), (100, 100..<120), (119, 119..<120), (120, 120..<120), (500, 120..<120),
  ])
  func `pages begin where they are asked to`(start: Int, rows: Range<Int>) throws {
    let page = try list(ListSelection(recordings: start)).page
    #expect(page.rows == Array(rows))
    #expect(page.start == min(start, 120))
  }

  @Test(arguments: [
    (nil, 0), ("recordings/n%2f99", 0), ("recordings/n%2f100", 100), ("attachments/log.txt", 0),
  ])
  func `the page shows the part with the selected recording`(current: String?, start: Int) throws {
    var list = try list()
    list.current = current
    #expect(list.page.start == start)
  }

  @Test(arguments: [("News", ["n/0", "n/1"]), ("Empty", []), ("none", [])])
  func `one module's recordings are shown`(module: String, identifiers: [String]) throws {
    let list = try list(ListSelection(module: module))
    #expect(list.page.rows.map { list.contents.recordings[$0].identifier } == identifiers)
    #expect(list.page.total == identifiers.count)
  }

  @Test func `small recordings are examined at once, and the others later, each once`() throws {
    let sample = try SampleBundle([
      ("small", Array("{,".utf8)), ("large", Array("{\"a\":1}".utf8)), ("empty", []),
    ])
    let examined = ExaminedContents(try BundleContents(sample.bundle, modules: []))
    var later: [@Sendable () -> Void] = []
    try examined.examine(sample.bundle, atOnce: 6) { later.append($0) }
    #expect(
      examined.states == [
        ContentState(.json, problem: .invalidJSON(line: 1, column: 2)), nil,
        ContentState(.empty, problem: .empty),
      ])
    #expect(ContentsList(examined).problemCount == 2 && !ContentsList(examined).isComplete)
    try examined.examine(sample.bundle, atOnce: 0) { later.append($0) }
    #expect(later.count == 1)
    later.first?()
    #expect(examined.states[1] == ContentState(.json))
    try examined.examine(sample.bundle) { later.append($0) }
    #expect(later.count == 1)
  }

  @Test func `a recording with a problem is shown first, or else one that differs`() throws {
    func list(_ last: String) throws -> ContentsList {
      let sample = try SampleBundle(["a", "b", "c"].map { ($0, Array(($0 == "c" ? last : "{}").utf8)) })
      let examined = ExaminedContents(try BundleContents(sample.bundle, modules: []))
      try examined.examine(sample.bundle) { $0() }
      return ContentsList(examined)
    }
    var broken = try list("{,")
    broken.differences = ["recordings/b": .changed(1)]
    #expect(broken.first == "recordings/c")
    var good = try list("{}")
    #expect(good.first == "recordings/a")
    good.differences = ["recordings/a": .same, "recordings/b": .changed(nil), "recordings/c": .added]
    #expect(good.first == "recordings/b")
  }

  @Test(arguments: [0, 50, 51])
  func `what was dropped is kept, and its reason is beside the missing identifier`(count: Int) throws {
    let dropped = (0..<count).map { number in
      Manifest.Dropped(
        identifier: number == 0 ? "missing" : "d/\(number)", reason: .waiting, count: 1, bytes: 60_000_000)
    }
    let sample = try SampleBundle(modules: Self.modules, dropped: dropped)
    let contents = try BundleContents(sample.bundle, modules: Self.modules)
    #expect(contents.dropped == dropped)
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
    let contents = try BundleContents(sample.bundle, modules: [])
    #expect(contents.attachments.map(\.isImage) == [true, false, true])
  }
}
