import DataSnapshots
import Foundation
import TestSupport
import Testing

/// Events about identifiers without a recording.
struct MissedReplayTests {
  private let app: SampleApp

  init() throws { app = try SampleApp() }

  private func miss(_ identifier: String, among recorded: [String]) -> [String] {
    let mode = app.launch()
    mode.state = .recording
    for name in recorded { _ = mode.process("x", name) }
    mode.state = .replaying
    _ = mode.process("live", identifier)
    return app.events.all.last?.nearest ?? []
  }

  @Test func `the nearest recorded identifiers are reported, and no others`() {
    let recorded = ["news/feed", "news/feeds", "News/Feed", "weather/today", "news/top", "n", ""]
    #expect(miss("news/fed", among: recorded) == ["News/Feed", "news/feed", "news/feeds"])
    #expect(app.events.kinds == [.recordingMissing])
    #expect("\(app.events.all[0])".contains("‘news/feed’"))
  }

  @Test(arguments: [
    ("account/today", ["news"], []), ("", ["ab", "abc"], ["ab"]), ("ab", [""], [""]),
    ("wetter", ["wetterx", "xwetter", "wtter", "wettre"], ["wetterx", "wtter", "xwetter"]),
    ("profile/1", ["profile/2"], ["profile/2"]), ("a", ["xyz1"], []),
    (
      String(repeating: "x", count: 5000), [String(repeating: "x", count: 4999)],
      [String(repeating: "x", count: 4999)]
    ),
  ])
  func `the nearest identifiers are those with the fewest changes`(
    identifier: String, recorded: [String], expected: [String]
  ) {
    #expect(miss(identifier, among: recorded) == expected)
  }

  @Test func `the report lists each missed identifier once since replaying started, up to a hundred`()
    async throws
  {
    let mode = app.launch()
    try await mode.activate(bundle: try app.bundle("one", ["news/feed": "theirs"]))
    for _ in 0..<3 { _ = mode.process("live", "news/fed") }
    for number in 0..<150 { _ = mode.process("live", "number \(number)") }
    let report = await mode.report()
    #expect(report.misses.count == 100)
    #expect(report.misses.first?.identifier == "news/fed")
    #expect(report.misses.first?.nearest == ["news/feed"])
    #expect(report.description.contains("\nNot found: news/fed (nearest: news/feed)\nNot found: number 0\n"))
    // Each call is still reported as an event.
    #expect(app.events.kinds.count == 153)
    mode.rewind()
    #expect(await mode.report().misses.isEmpty)
  }

  @Test func `a miss among many recordings is fast`() async throws {
    let recorded = (0..<500).map { "news/section/\($0)/" + String(repeating: "y", count: 180) }
    let mode = app.launch()
    try await mode.activate(
      bundle: try app.bundle("one", Dictionary(uniqueKeysWithValues: recorded.map { ($0, "") })))
    let time = ContinuousClock().measure { _ = mode.process("live", recorded[17].replacing("17", with: "q")) }
    #expect(app.events.all.last?.nearest.isEmpty == false)
    #expect(time < Duration.seconds(10).patient)
  }
}
