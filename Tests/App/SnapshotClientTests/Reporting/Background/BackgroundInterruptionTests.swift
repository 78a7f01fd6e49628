import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

@testable import SnapshotClient

/// The app is suspended or ended at each step of an upload, which still arrives once, without acknowledged bytes that are
/// sent again and without files that are left behind.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct BackgroundInterruptionTests {
  /// What happens to the app.
  enum Interruption: CaseIterable {
    /// It is suspended, and woken when the system has sent what it has.
    case suspended
    /// The system ends it, and launches it when it has sent what it has.
    case killed
    /// The system ends it, and it is launched while a piece is under way.
    case relaunchedEarly
    /// The user ends it, which cancels what the system sends, and launches it.
    case endedByUser
  }

  /// What happens to the first piece.
  enum Fault: CaseIterable {
    case none, cut, lostAnswer, conflict, expired, failed, unavailable, foreign

    func apply(to server: DraftServer) {
      switch self {
      case .none: break
      case .cut: server.fail("PATCH", .cut(afterBodyBytes: 3000))
      case .lostAnswer: server.fail("PATCH", .loseAnswer)
      case .conflict: server.fail("PATCH", .answer("409 Conflict", ["Upload-Offset: 0"]))
      case .expired: server.fail("PATCH", .answer("404 Not Found"))
      case .failed: server.fail("PATCH", .answer("500 Internal Server Error"))
      case .unavailable: server.fail("PATCH", .answer("503 Service Unavailable", ["Retry-After: 600"]))
      case .foreign: server.fail("PATCH", .answer("502 Bad Gateway", [], body: "<html>"))
      }
    }
  }

  @Test(arguments: Interruption.allCases, Fault.allCases)
  func `an upload that is interrupted at any step arrives once`(
    interruption: Interruption, fault: Fault
  ) async throws {
    var steps = 0
    while try await isInterrupted(before: steps + 1, by: interruption, fault) { steps += 1 }
    #expect(steps >= (fault == .foreign ? 9 : 10))
  }

  /// Uploads a bundle. Returns whether the app was interrupted.
  private func isInterrupted(
    before step: Int, by interruption: Interruption, _ fault: Fault
  ) async throws -> Bool {
    let context = "\(interruption) before step \(step), \(fault)"
    // The bundle has two pieces.
    let fixture = try BackgroundFixture(pieceBytes: 12 * 1024)
    let daemon = fixture.daemon
    fault.apply(to: fixture.server)
    let (app, reporter) = try fixture.launch { app in
      app.stop(before: step, isEnd: interruption != .suspended) {
        if interruption == .relaunchedEarly { daemon.hold() }
      }
    }
    let bundle = Lock(Data())
    let kept = BugReporter(queue: reporter.queue) { bug, zip in
      let packed = try await fixture.reporting.freezer(bug, zip)
      bundle.set(try Data(contentsOf: zip))
      return packed
    }
    let id = try await kept.attach(report: fixture.reporting.report)
    let isInterrupted = await waitForEnd(of: app, or: id, in: reporter.queue, fixture)
    var queue = reporter.queue
    if isInterrupted {
      if interruption == .suspended {
        await daemon.idle()
        daemon.hold()
        app.goOn()
        daemon.wakeApp()
        try await wakeUp(queue, id, fixture, context)
      } else {
        await queue.close()
        if interruption == .endedByUser { daemon.cancelAll() }
        if interruption == .killed {
          await daemon.idle()
          daemon.hold()
        }
        queue = try fixture.launch().reporter.queue
        if interruption == .killed { try await wakeUp(queue, id, fixture, context) }
        daemon.release()
      }
      #expect(await fixture.outcome(of: id, in: queue)?.state == .done, "\(context)")
    }
    await queue.close()
    try fixture.check(id, bundle.value, context)
    let received = fixture.server.received.reduce(0, +)
    switch fault {
    // The server has lost the upload, so that it gets all bytes again.
    case .expired: break
    // After a proxy's response to the first piece, the bundle is tried in one request.
    case .foreign: #expect([0, bundle.value.count].contains(received), "\(context)")
    default: #expect(received == bundle.value.count, "\(context)")
    }
    return isInterrupted
  }

  /// Waits until the app is interrupted or the upload has ended. Returns whether it is interrupted.
  private func waitForEnd(
    of app: AppProcess, or id: SnapshotID, in queue: UploadQueue, _ fixture: BackgroundFixture
  ) async -> Bool {
    await withTaskGroup { group in
      group.addTask {
        await app.isStopped.wait()
        return !Task.isCancelled
      }
      group.addTask {
        let outcome = await fixture.outcome(of: id, in: queue)
        return outcome == nil || app.wasStopped
      }
      let isInterrupted = await group.next() ?? false
      group.cancelAll()
      return isInterrupted
    }
  }

  /// Lets the app process the events for which it was woken, while the system keeps what it gets. Then its state is
  /// stored and it has nothing to do.
  private func wakeUp(
    _ queue: UploadQueue, _ id: SnapshotID, _ fixture: BackgroundFixture, _ context: String
  ) async throws {
    fixture.daemon.endEvents()
    await queue.handleBackgroundEvents()
    let note = try SnapshotJSON.decode(
      StoredQueueItem.self,
      from: Data(contentsOf: fixture.reporting.queue.appending(path: "items/\(id)/state.json")))
    let item = try #require(queue[id])
    switch item.state {
    case .uploading:
      // The time for which it waited can have come just now.
      let isDue = note.nextTry.map { $0 <= fixture.reporting.clock.now } ?? false
      #expect(isDue || fixture.daemon.names.count == 1, "\(context)")
    case .waiting: #expect(note.nextTry == item.nextTry, "\(context)")
    case .done: #expect(note.state == .done, "\(context)")
    case .failed, .removed: Issue.record("\(item), \(context)")
    }
    fixture.daemon.release()
  }
}
