import Foundation
@testable import SnapshotWeb
import TestSupport
import Testing

struct ActivityChartTests {
  private func page(_ counts: [Int]) throws -> HTMLPage {
    let days = counts.enumerated().map { number, count in
      ActivityDay(
        day: SamplePages.day.addingTimeInterval(86_400 * Double(number)), count: count,
        bytes: Int64(count) * 1000)
    }
    return try HTMLPage(
      try PageRenderer().render(HomePage(list: SnapshotList([]), days: days), in: PageFrame(account: .open)))
  }

  @Test func `a bar is as high as the day was busy`() throws {
    let bars = try page([4, 0, 2, 1]).all("rect").filter {
      $0.ancestors.last == "svg" && $0.attributes["width"] == "8"
    }
    #expect(bars.prefix(3).map { $0.attributes["height"] } == ["100", "50", "25"])
    #expect(bars.prefix(3).map { $0.attributes["x"] } == ["1", "21", "31"])
    #expect(bars.prefix(3).map { $0.attributes["y"] } == ["0", "50", "75"])
  }

  @Test func `the same is said in words`() throws {
    let page = try page([4, 0, 2, 1])
    let labels = page.all("svg").compactMap { $0.attributes["aria-label"] }
    #expect(
      labels == [
        "Snapshots uploaded per day from 21 Nov 2026 to 24 Nov 2026: 7 snapshots in total, at most 4 snapshots per day.",
        "Bytes received per day from 21 Nov 2026 to 24 Nov 2026: 7.0 kB in total, at most 4.0 kB per day.",
      ])
    #expect(page.all("time").prefix(3).map(\.text) == ["24 Nov 2026", "23 Nov 2026", "21 Nov 2026"])
  }

  @Test func `without days there is no chart, and more than thirty are cut`() throws {
    #expect(try page([]).all("figure").isEmpty)
    let bars = try page(Array(repeating: 1, count: 31)).all("rect").filter { $0.attributes["width"] == "8" }
    #expect(bars.count == 60)
  }

  @Test func `days on which nothing came have no bar`() throws {
    #expect(try page([0, 0]).all("rect").allSatisfy { $0.attributes["width"] != "8" })
  }
}
