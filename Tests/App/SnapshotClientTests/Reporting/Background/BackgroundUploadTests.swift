import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

@testable import SnapshotClient

/// A queue whose pieces the system sends in the background.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct BackgroundUploadTests {
  private let fixture: BackgroundFixture

  init() throws { fixture = try BackgroundFixture() }

  @Test func `the system sends the pieces, and the app everything else`() async throws {
    let (app, reporter) = try fixture.launch()
    fixture.daemon.hold()
    let id = try await reporter.attach(report: fixture.reporting.report)
    let bundle = try fixture.bundle(of: id)
    #expect(bundle.count > 2 * 8192 && bundle.count < 3 * 8192)
    fixture.daemon.release()
    let item = try #require(await reporter.queue.outcome(of: id))
    #expect(item.state == .done && item.failures == 0)
    #expect(fixture.server.methods == ["PUT", "PATCH", "PATCH", "PATCH"])
    #expect(fixture.server.received == [8192, 8192, bundle.count - 2 * 8192])
    #expect(
      app.steps == ["PUT", "PUT answered"]
        + Array(repeating: ["start", "started", "outcome"], count: 3).joined()
        + ["saveState", "removeBundle"])
    try fixture.check(id, bundle)
  }

  @Test func `a bundle of the size of a piece is sent as a whole, without a copy`() async throws {
    let fixture = try BackgroundFixture(pieceBytes: BackgroundUploads(IdleBackground()).pieceBytes)
    fixture.daemon.hold()
    let (_, reporter) = try fixture.launch()
    let id = try await reporter.attach(report: fixture.reporting.report)
    let bundle = try fixture.bundle(of: id)
    await fixture.daemon.busy()
    let files = ["bundle.zip", "piece"].map {
      fixture.reporting.queue.appending(path: "items/\(id)/\($0)").path
    }
    #expect(try Folder.stamp(files[0]) == Folder.stamp(files[1]))
    fixture.daemon.release()
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
    #expect(fixture.server.received == [bundle.count])
    try fixture.check(id, bundle)
  }

  @Test func `a relaunched app waits for the piece that is under way, and asks the server nothing`()
    async throws
  {
    fixture.daemon.hold()
    let (first, reporter) = try fixture.launch { app in app.stop(before: 4, isEnd: true) {} }
    let id = try await reporter.attach(report: fixture.reporting.report)
    let bundle = try fixture.bundle(of: id)
    await first.isStopped.wait()
    await reporter.queue.close()
    let (_, again) = try fixture.launch()
    try await again.queue.upload(id) { $0.state == .uploading }
    fixture.daemon.release()
    #expect(await again.queue.outcome(of: id)?.state == .done)
    #expect(fixture.server.methods == ["PUT", "PATCH", "PATCH", "PATCH"])
    try fixture.check(id, bundle)
  }

  @Test func `an app that was launched for its events returns when the next piece is under way`() async throws
  {
    fixture.daemon.hold()
    let (first, reporter) = try fixture.launch { app in app.stop(before: 4, isEnd: true) {} }
    let id = try await reporter.attach(report: fixture.reporting.report)
    let bundle = try fixture.bundle(of: id)
    await first.isStopped.wait()
    await reporter.queue.close()
    fixture.daemon.release()
    await fixture.daemon.idle()
    for count in 2...3 {
      // The system launches the app after each piece.
      fixture.daemon.hold()
      let (app, reporter) = try fixture.launch()
      fixture.daemon.endEvents()
      await reporter.queue.handleBackgroundEvents()
      #expect(fixture.daemon.names.count == 1)
      #expect(fixture.server.received.count == count - 1)
      app.end()
      await reporter.queue.close()
      fixture.daemon.release()
      await fixture.daemon.idle()
    }
    let (_, last) = try fixture.launch()
    fixture.daemon.endEvents()
    await last.queue.handleBackgroundEvents()
    #expect(last.queue[id]?.state == .done)
    #expect(!fixture.server.methods.contains("HEAD"))
    #expect(fixture.server.received == [8192, 8192, bundle.count - 2 * 8192])
    try fixture.check(id, bundle)
  }

  @Test func `a wake-up ends after 20 s even if the server does not answer`() async throws {
    let (app, reporter) = try fixture.launch { app in app.stop(before: 1, isEnd: false) {} }
    try await reporter.attach(report: fixture.reporting.report)
    await app.isStopped.wait()
    async let end: Void = reporter.queue.handleBackgroundEvents()
    app.exchanges.endEvents()
    await fixture.reporting.clock.reach(fixture.reporting.clock.now.addingTimeInterval(20))
    await end
    await reporter.queue.close()
  }

  @Test func `without uploads a wake-up ends when its events have ended`() async throws {
    let (app, reporter) = try fixture.launch()
    app.exchanges.endEvents()
    await reporter.queue.handleBackgroundEvents()
    await reporter.queue.close()
    let direct = try fixture.reporting.reporter(UploadTransport())
    await direct.queue.handleBackgroundEvents()
  }

  @Test func `a removed upload is no longer sent, and leaves no files`() async throws {
    fixture.daemon.hold()
    let (_, reporter) = try fixture.launch()
    let id = try await reporter.attach(report: fixture.reporting.report)
    await fixture.daemon.busy()
    try await reporter.queue.remove(id)
    #expect(fixture.daemon.names.isEmpty)
    #expect(try fixture.reporting.files() == [])
    await reporter.queue.close()
  }

  @Test func `what the system sends of unknown uploads is cancelled at the next launch`() async throws {
    fixture.daemon.hold()
    let (first, reporter) = try fixture.launch { app in app.stop(before: 4, isEnd: true) {} }
    let id = try await reporter.attach(report: fixture.reporting.report)
    await first.isStopped.wait()
    await reporter.queue.close()
    try Folder.removeTree(fixture.reporting.queue.path)
    let (_, again) = try fixture.launch()
    // It is known what the system sends before the first upload starts.
    let other = try await again.attach(report: fixture.reporting.report)
    try await again.queue.upload(other) { $0.state == .uploading }
    #expect(!fixture.daemon.names.contains { $0.hasPrefix("\(id)") })
    await again.queue.close()
  }

  @Test func `a network that is not permitted any more ends what the system sends`() async throws {
    let isWiFi = Lock(true)
    fixture.daemon.hold()
    let (_, reporter) = try fixture.launch({ _ in }) { $0.network = .onlyWiFi { isWiFi.value } }
    let id = try await reporter.attach(report: fixture.reporting.report)
    let bundle = try fixture.bundle(of: id)
    await fixture.daemon.busy()
    isWiFi.set(false)
    reporter.queue.networkChanged()
    try await reporter.queue.upload(id, waitingFor: .network)
    await fixture.daemon.idle()
    isWiFi.set(true)
    fixture.daemon.release()
    reporter.queue.networkChanged()
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
    try fixture.check(id, bundle)
  }

  @Test func `a server without resumable uploads gets the bundle from the app`() async throws {
    let fixture = try BackgroundFixture { $0.offers = false }
    let (app, reporter) = try fixture.launch()
    let id = try await reporter.attach(report: fixture.reporting.report)
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
    #expect(!app.steps.contains("start"))
    #expect(fixture.server.attached.count == 1)
  }

  @Test func `a piece that is too large for a proxy is halved`() async throws {
    let fixture = try BackgroundFixture(pieceBytes: 64 << 20) { $0.longestBody = 100_000 }
    try fixture.reporting.folder.write(makeBytes(300_000), to: "recorded")
    let (_, reporter) = try fixture.launch()
    let id = try await reporter.attach(report: fixture.reporting.report)
    let item = try #require(await reporter.queue.outcome(of: id))
    #expect(item.state == .done && item.failures == 0)
    let received = fixture.server.received
    #expect(received.allSatisfy { $0 <= 100_000 } && received.reduce(0, +) == Int(item.size))
    #expect(try fixture.reporting.files() == ["items/\(id)/state.json"])
  }

  @Test func `while an upload waits, no piece is on the disk`() async throws {
    fixture.server.fail("PATCH", .answer("500 Internal Server Error"))
    let (_, reporter) = try fixture.launch()
    let id = try await reporter.attach(report: fixture.reporting.report)
    try await reporter.queue.upload(id, waitingFor: .time)
    #expect(
      try fixture.reporting.files()
        == ["bundle.zip", "state.json", "upload.json"].map { "items/\(id)/\($0)" })
    await reporter.queue.close()
  }

  @Test func `what arrives too late of an earlier piece is dropped`() async throws {
    fixture.daemon.hold()
    let (app, reporter) = try fixture.launch()
    let id = try await reporter.attach(report: fixture.reporting.report)
    await fixture.daemon.busy()
    app.exchanges.end("\(id) 0-1 /v1/uploads/1", .failure(.timedOut))
    fixture.daemon.release()
    #expect(await reporter.queue.outcome(of: id)?.failures == 0)
    #expect(app.exchanges.names.isEmpty)
  }

  @Test func `a damaged bundle is not sent any further by the system`() async throws {
    fixture.daemon.hold()
    let (first, reporter) = try fixture.launch { app in app.stop(before: 4, isEnd: true) {} }
    let id = try await reporter.attach(report: fixture.reporting.report)
    await first.isStopped.wait()
    await reporter.queue.close()
    try fixture.reporting.folder.write(Data("damaged".utf8), to: "queue/items/\(id)/bundle.zip")
    let (_, again) = try fixture.launch()
    #expect(await again.queue.outcome(of: id)?.lastFailure?.code == .bundleDamaged)
    #expect(fixture.daemon.names.isEmpty)
    await again.queue.close()
  }

  @Test func `a launch removes what remained of an upload that is done`() async throws {
    let (_, reporter) = try fixture.launch()
    let id = try await reporter.attach(report: fixture.reporting.report)
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
    await reporter.queue.close()
    for name in ["bundle.zip", "upload.json", "piece"] {
      try fixture.reporting.folder.write(Data([1]), to: "queue/items/\(id)/\(name)")
    }
    let (_, again) = try fixture.launch()
    #expect(again.queue[id]?.state == .done)
    #expect(try fixture.reporting.files() == ["items/\(id)/state.json"])
    await again.queue.close()
  }

  @Test func `progress counts the bytes that the system has sent`() async throws {
    fixture.daemon.hold()
    let (app, reporter) = try fixture.launch()
    let id = try await reporter.attach(report: fixture.reporting.report)
    await fixture.daemon.busy()
    let name = try #require(fixture.daemon.names.first)
    for count in [1000, 8192] as [Int64] {
      // The system has the piece before the queue waits for its end.
      try await eventually {
        app.exchanges.sent(count, of: name)
        return reporter.queue[id]?.sent == count
      }
    }
    app.exchanges.sent(9000, of: name)
    #expect(reporter.queue[id]?.sent == 8192)
    #expect(reporter.queue[id]?.kept == 0)
    await reporter.queue.close()
  }

  @Test func `pieces halve with each failure in succession, six times at most`() {
    var background = BackgroundUploads(IdleBackground())
    #expect(background.pieceBytes == 64 << 20)
    #expect(
      [0, 1, 2, 6, 7, 1000, -1].map { background.pieceBytes(afterFailures: $0) >> 20 } == [
        64, 32, 16, 1, 1, 1, 64,
      ])
    background.pieceBytes = 1
    #expect(background.pieceBytes(afterFailures: 1) == 1)
  }

  @Test(arguments: [
    "", "x", "UUID", "UUID 0-1", "UUID 1-1 /u", "UUID 2-1 /u", "UUID -1-2 /u", "UUID 0-x /u", "UUID 0- /u",
    "UUID 0-1-2 /u", "UUID 0-9223372036854775808 /u", "x 0-1 /u",
  ])
  func `a name that is no piece is recognized`(text: String) {
    #expect(BackgroundPiece(text.replacing("UUID", with: "\(SnapshotID())")) == nil)
  }

  @Test(arguments: ["/v1/uploads/1", "/u?a=b c"], [0..<1, 5..<Int64.max])
  func `the name of a piece describes it`(location: String, range: Range<Int64>) throws {
    let piece = BackgroundPiece(of: SnapshotID(), range, at: location)
    #expect(BackgroundPiece(piece.description) == piece)
    #expect(piece.step(of: location, size: range.upperBound) == .append(location, range))
    #expect(piece.step(of: location, size: range.upperBound - 1) == nil)
    #expect(piece.step(of: nil, size: range.upperBound) == nil && piece.step(of: "/", size: .max) == nil)
  }
}
