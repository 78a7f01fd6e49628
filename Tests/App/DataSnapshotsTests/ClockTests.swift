import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// The time, time zone, locale and calendar that an app sees.
struct ClockTests {
  private var app: SampleApp
  private let clock = TestClock()

  init() throws {
    app = try SampleApp()
    app.configuration.clock = { [clock] in clock.time }
    app.configuration.policy.retention = .history(limit: 10)
    app.configuration.timeZone = try #require(TimeZone(identifier: "Pacific/Auckland"))
    app.configuration.locale = Locale(identifier: "de_AT")
    app.configuration.calendar = Calendar(identifier: .buddhist)
  }

  /// Records three calls a minute apart, and makes a snapshot an hour later.
  private func record() async throws -> (mode: SnapshotMode, zip: URL, manifest: Manifest) {
    let mode = app.launch()
    mode.state = .recording
    for (index, identifier) in ["feed", "weather", "feed"].enumerated() {
      clock.set(SampleApp.time.addingTimeInterval(Double(index) * 60))
      _ = mode.process("\(index)", identifier)
    }
    clock.set(SampleApp.time.addingTimeInterval(3600))
    let zip = app.temporary.file("recorded.zip")
    return (mode, zip, try await mode.makeSnapshot(to: zip).manifest)
  }

  @Test func `a manifest describes time zone, locale, calendar and span, and keeps them`() async throws {
    let manifest = try await record().manifest
    #expect(manifest.timeZone == "Pacific/Auckland")
    #expect(manifest.locale == "de_AT")
    #expect(manifest.calendar == "buddhist")
    #expect(manifest.span?.from == SampleApp.time)
    #expect(manifest.span?.to == SampleApp.time.addingTimeInterval(120))
    #expect(try Manifest(json: manifest.json()) == manifest)
    let text = String(decoding: try manifest.json(), as: UTF8.self)
    #expect(text.contains(#""timeZone" : "Pacific/Auckland""#))
    #expect(text.contains(#""from" : "2023-11-14T22:13:20.123Z""#))
  }

  @Test func `values of other types are ignored, and the span follows from the recordings`() async throws {
    var manifest = try await record().manifest
    for key in ["timeZone", "locale", "calendar", "span"] { manifest.unknown[key] = .integer(7) }
    #expect(manifest.timeZone == nil && manifest.locale == nil && manifest.calendar == nil)
    #expect(manifest.span?.to == SampleApp.time.addingTimeInterval(120))
    manifest.unknown["span"] = .object([
      "from": .string("2024-01-02T00:00:00Z"), "to": .string("2024-01-01T00:00:00Z"),
    ])
    #expect(manifest.span?.from == SampleApp.time)
    manifest.recordings = []
    #expect(manifest.span == nil)
    #expect(Manifest.Span(from: .distantFuture, to: .distantPast) == nil)
  }

  @Test func `while replaying, the time is that of the latest datum served`() async throws {
    let zip = try await record().zip
    let mode = app.launch()
    let real = SampleApp.time.addingTimeInterval(86_400)
    clock.set(real)
    #expect(mode.now == real)
    try await mode.activate(bundle: zip)
    #expect(mode.now == SampleApp.time)
    #expect(mode.process("live", "weather") == "1")
    #expect(mode.now == SampleApp.time.addingTimeInterval(60))
    // It was recorded before.
    #expect(mode.process("live", "feed") == "0")
    #expect(mode.now == SampleApp.time.addingTimeInterval(60))
    #expect(mode.process("live", "feed") == "2")
    #expect(mode.now == SampleApp.time.addingTimeInterval(120))
    mode.rewind()
    #expect(mode.now == SampleApp.time)
    mode.state = .recording
    #expect(mode.now == real)
  }

  @Test func `an app's own recordings have a time too, and without any it is the real one`() async throws {
    let mode = try await record().mode
    mode.state = .replaying
    #expect(mode.now == SampleApp.time)
    _ = mode.process("live", "weather")
    #expect(mode.now == SampleApp.time.addingTimeInterval(60))
    try await mode.clear()
    mode.rewind()
    #expect(mode.now == clock.time)
  }

  @Test func `zone, locale and calendar are the recording's while replaying`() async throws {
    let zip = try await record().zip
    var other = app
    other.configuration.timeZone = .gmt
    other.configuration.locale = Locale(identifier: "en_US")
    other.configuration.calendar = Calendar(identifier: .gregorian)
    let mode = other.launch()
    #expect(mode.timeZone == .gmt && mode.locale.identifier == "en_US")
    #expect(mode.calendar.identifier == .gregorian)
    try await mode.activate(bundle: zip)
    #expect(mode.timeZone.identifier == "Pacific/Auckland" && mode.locale.identifier == "de_AT")
    #expect(mode.calendar.identifier == .buddhist)
    #expect(mode.calendar.timeZone.identifier == "Pacific/Auckland")
    // An older snapshot says only the device's locale.
    try await mode.activate(bundle: app.bundle("old", ["feed": "0"]))
    #expect(mode.timeZone == .gmt && mode.locale.identifier == "de_AT")
    #expect(mode.calendar.identifier == .gregorian)
  }

  @Test func `the report says that the clock was not asked`() async throws {
    let zip = try await record().zip
    let mode = app.launch()
    try await mode.activate(bundle: zip)
    #expect(await mode.report().wasClockAsked == nil)
    _ = mode.process("live", "feed")
    let report = await mode.report()
    #expect(report.wasClockAsked == false && report.description.contains("The clock was not asked"))
    _ = mode.now
    let later = await mode.report()
    #expect(later.wasClockAsked == true && !later.description.contains("clock"))
  }
}

/// A clock that a test sets.
private final class TestClock: Sendable {
  private let value = Lock(SampleApp.time)

  var time: Date { value.withLock { $0 } }
  func set(_ time: Date) { value.withLock { $0 = time } }
}
