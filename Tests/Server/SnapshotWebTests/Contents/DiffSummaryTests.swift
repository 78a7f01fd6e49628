import SnapshotDiff
import SnapshotFormat
@testable import SnapshotWeb
import SystemIO
import Testing

@Suite struct DiffSummaryTests {
  private static let modules = [
    Module(name: "B", files: ["b"]), Module(name: "A", files: ["a", "b", "gone"]),
  ]

  private func words(_ entry: DiffSummary.Entry) -> String {
    let module = entry.module.map { "\($0) " } ?? ""
    switch entry.kind {
    case .added(let recording): return "\(module)+\(recording.identifier)"
    case .removed(let recording): return "\(module)-\(recording.identifier)"
    case .changed(let difference): return "\(module)~\(difference.second.identifier)"
    }
  }

  @Test func `what differs is told module by module`() throws {
    let first = try SampleBundle([("a", "1"), ("b", "{\"x\":1}"), ("gone", ""), ("same", "s"), ("z", "1")])
    let second = try SampleBundle([("a", "2"), ("b", "{\"x\":2}"), ("new", ""), ("same", "s"), ("z", "2")])
    let diff = try DiffSummary(first.bundle, second.bundle, modules: Self.modules)
    #expect(diff.recordings.map(words) == ["B ~b", "A ~a", "A -gone", "+new", "~z"])
    #expect(diff.counts == .init(added: 1, removed: 1, changed: 3, alike: 1, files: 0))
    #expect(diff.next == nil)
    #expect(!diff.isEmpty)
    #expect(try DiffSummary(first.bundle, first.bundle, modules: []).isEmpty)
  }

  @Test func `of very many differences the first are told, and all are counted`() throws {
    func sample(_ range: Range<Int>, _ text: String) throws -> SampleBundle {
      // In no order, as a manifest may be.
      try SampleBundle(range.map { ("n/\(1000 + $0 * 7919 % 1000)", text) })
    }
    let (first, second) = (try sample(0..<800, "1"), try sample(200..<1000, "2"))
    let diff = try DiffSummary(first.bundle, second.bundle, modules: [])
    #expect(diff.counts == .init(added: 200, removed: 200, changed: 600, alike: 0, files: 0))
    #expect(diff.recordings.count == PageLimits.rows)
    #expect(diff.next != nil)
    let all = try SnapshotComparison(first.bundle, second.bundle)
    let identifiers =
      all.changed.map { "~\($0.second.identifier)" } + all.removed.map { "-\($0.identifier)" }
      + all.added.map { "+\($0.identifier)" }
    let sorted = identifiers.sorted { $0.dropFirst() < $1.dropFirst() }
    #expect(diff.recordings.map(words) == Array(sorted.prefix(PageLimits.rows)))
    var pages = 1
    var found = diff.recordings.map(words)
    var selection = ComparisonSelection()
    selection.recordingsAfter = diff.next
    while selection.recordingsAfter != nil, pages < 100 {
      let page = try DiffSummary(first.bundle, second.bundle, modules: [], selection: selection)
      found += page.recordings.map(words)
      selection.recordingsAfter = page.next
      pages += 1
    }
    #expect(found == sorted && pages == 20)
  }

  @Test func `what is too large is told as changed, and not compared`() throws {
    let text = "[" + String(repeating: "1,", count: 100)
    let first = try SampleBundle([("a", text + "1]")])
    let second = try SampleBundle([("a", text + "2]")])
    var limits = ComparisonLimits.list
    limits.recordingBytes = text.utf8.count + 1
    let diff = try DiffSummary(first.bundle, second.bundle, modules: [], limits: limits)
    guard case .changed(let difference)? = diff.recordings.first?.kind else {
      Issue.record("\(diff)")
      return
    }
    #expect(difference.detail == .beyondLimits)
    let item = try DiffItem(
      .recording(.init(identifier: "a")), first.bundle, second.bundle, filter: .init(), limits: limits)
    #expect(item.detail == .beyondLimits)
  }

  @Test func `a large recording is compared in the list, after the small ones`() throws {
    let text = "[\"\(String(repeating: "x", count: 3 << 20))\",1,"
    let first = try SampleBundle([("a", text + "1]"), ("b", "1")])
    let second = try SampleBundle([("a", text + "2]"), ("b", "2")])
    func compared(_ limits: ComparisonLimits) throws -> [Bool] {
      try DiffSummary(first.bundle, second.bundle, modules: [], limits: limits).recordings.map { entry in
        guard case .changed(let difference) = entry.kind else { return false }
        return difference.detail != .beyondLimits
      }
    }
    #expect(try compared(.list) == [true, true])
    var limits = ComparisonLimits.list
    limits.totalBytes = Int64(2 * (text.utf8.count + 2) + 1)
    #expect(try compared(limits) == [false, true])
    limits.totalBytes += 1
    #expect(try compared(limits) == [true, true])
    #expect(try DiffSummary.size(of: .init(), first.bundle, second.bundle) == limits.totalBytes)
  }

  @Test func `of a text, the lines around a change are shown`() throws {
    func text(_ changed: [Int: String]) -> String {
      (1...20).map { changed[$0] ?? "line \($0)" }.joined(separator: "\n")
    }
    let first = try SampleBundle([("a", text([:]))])
    let second = try SampleBundle([("a", text([2: "second", 15: "one\ntwo"]))])
    let item = try DiffItem(.recording(.init(identifier: "a")), first.bundle, second.bundle, filter: .init())
    let words = item.lines.map { row in
      (row.followsGap ? "… " : "") + (row.isEqual ? "=" : "\(row.first?.number ?? 0)>")
        + "\(row.second?.number ?? 0)"
    }
    #expect(
      words == ["=1", "2>2", "=3", "=4", "=5", "… =12", "=13", "=14", "15>15", "0>16", "=17", "=18", "=19"])
  }

  @Test func `two images are shown together`() throws {
    func png(_ width: UInt8) -> [UInt8] {
      [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10, 0, 0, 0, 13] + Array("IHDR".utf8)
        + [0, 0, 0, width, 0, 0, 0, 9, 8, 6, 0, 0, 0, 0, 0, 0, 0]
    }
    let first = try SampleBundle(files: [("attachments/a.png", png(7))])
    let second = try SampleBundle(files: [("attachments/a.png", png(8))])
    let item = try DiffItem(.file("attachments/a.png"), first.bundle, second.bundle, filter: .init())
    #expect(item.images?.first.width == 7 && item.images?.second.width == 8)
  }

  @Test func `when the time is up, the rest is told as changed`() throws {
    let first = try SampleBundle((0..<5).map { ("\($0)", "1") })
    let second = try SampleBundle((0..<5).map { ("\($0)", "2") })
    var limits = ComparisonLimits.list
    limits.duration = .milliseconds(400)
    let details = try DiffSummary(
      first.bundle, second.bundle, modules: [], limits: limits, clock: TickingClock()
    ).recordings.map { entry in
      guard case .changed(let difference) = entry.kind else { return false }
      return difference.detail != .beyondLimits
    }
    #expect(details == [true, true, true, false, false])
  }
}

/// A clock on which 100 milliseconds pass from one look to the next.
private final class TickingClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private let looks = Lock(0)

  var now: Instant {
    Instant(
      offset: looks.withLock { looks in
        looks += 1
        return .milliseconds(100 * looks)
      })
  }

  let minimumResolution = Duration.milliseconds(1)

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {}
}
