import DataSnapshots
import Foundation
import SnapshotFormat
import TestSupport
import Testing

struct ModuleReportTests {
  private let app: SampleApp

  init() throws { app = try SampleApp() }

  @Test func `a new app has nothing to report`() async {
    let report = await app.launch().report()
    #expect(report.modules.isEmpty && report.unassigned.isEmpty && report.recordingCount == 0)
    #expect(report.description == "State: disabled. Recordings: 0.")
  }

  @Test func `modules are complete or incomplete, and other identifiers are in no module`() async {
    let mode = app.launch()
    mode.register(module: "News", files: ["news/feed", "news/top"])
    mode.register(module: "Weather", files: ["weather/today", "weather/week", "news/top"])
    mode.register(module: "Empty", files: [])
    mode.state = .recording
    for identifier in ["news/top", "news/feed", "debug/ping", "Account"] { _ = mode.process("x", identifier) }
    let report = await mode.report()
    #expect(report.modules.map(\.name) == ["News", "Weather", "Empty"])
    #expect(report.modules.map(\.isComplete) == [true, false, true])
    #expect(report.modules[0].present == ["news/feed", "news/top"])
    #expect(report.modules[1].present == ["news/top"])
    #expect(report.modules[1].missing == ["weather/today", "weather/week"])
    #expect(report.unassigned == ["Account", "debug/ping"])
    #expect(
      report.description == """
        State: recording. Recordings: 4.

        Module   Recorded  Missing
        News     2 of 2    nothing
        Weather  1 of 3    weather/today, weather/week
        Empty    0 of 0    nothing

        In no module: Account, debug/ping
        """)
  }

  @Test func `a module that is registered again gets the new identifiers`() async {
    let mode = app.launch()
    mode.register(module: "News", files: ["old"])
    mode.register(module: "News", files: ["new"])
    #expect(await mode.report().modules.map(\.missing) == [["new"]])
  }

  @Test func `while a snapshot is replayed, the report describes the snapshot`() async throws {
    let mode = app.launch()
    mode.register(module: "News", files: ["a"])
    mode.state = .recording
    _ = mode.process("mine", "b")
    let manifest = try await mode.activate(bundle: try app.bundle("one", ["a": "theirs"]))
    let report = await mode.report()
    #expect(report.snapshot == manifest.id)
    #expect(report.modules.first?.isComplete == true)
    #expect(report.unassigned.isEmpty)
    #expect(report.description.contains("Snapshot: \(manifest.id)."))
    mode.state = .recording
    #expect(await mode.report().unassigned == ["b"])
  }

  @Test func `an unknown file among the recordings is ignored and reported`() async throws {
    try app.temporary.write(Data(), to: "storage/recordings/Stray File")
    try app.temporary.write(Data("x".utf8), to: "storage/recordings/fine")
    let mode = app.launch()
    #expect(await mode.report().unassigned == ["fine"])
    #expect(app.events.kinds == [.leftover])
  }
}
