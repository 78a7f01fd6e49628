import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

@testable import SnapshotClient

/// A server, the system's daemon and the folder of an app for one test.
struct BackgroundFixture {
  let reporting: ReportingFixture
  let server: DraftServer
  let daemon = TransferDaemon()
  private let pieceBytes: Int64

  /// - Parameter pieceBytes: the maximum size of a piece. A bundle has about 20,500 bytes.
  init(pieceBytes: Int64 = 8 * 1024, _ change: (inout DraftServer.Manner) -> Void = { _ in }) throws {
    self.pieceBytes = pieceBytes
    reporting = try ReportingFixture()
    server = try DraftServer(change)
  }

  /// Launches the app.
  func launch(
    _ prepare: (AppProcess) -> Void = { _ in }, _ change: (inout UploadQueue.Configuration) -> Void = { _ in }
  ) throws -> (app: AppProcess, reporter: BugReporter) {
    let app = AppProcess(daemon)
    prepare(app)
    let configuration = reporting.configuration {
      $0.background = app.background(pieceBytes: pieceBytes)
      change(&$0)
    }
    let queue = try UploadQueue(
      folder: app.folder(at: reporting.queue.path), app.client(of: server.url), configuration)
    return (app, BugReporter(queue: queue, freeze: reporting.freezer))
  }

  func bundle(of id: SnapshotID) throws -> Data {
    try Data(contentsOf: reporting.queue.appending(path: "items/\(id)/bundle.zip"))
  }

  /// Lets the time pass for which the upload of `id` waits, until it has ended.
  func outcome(of id: SnapshotID, in queue: UploadQueue) async -> QueuedUpload? {
    for await item in queue.updates() where item.id == id {
      if item.state.isFinal { return item }
      if item.state == .waiting(.time), let due = item.nextTry, due > reporting.clock.now {
        // In a task of its own, because a clock whose task is cancelled does not wait for sleepers any more.
        await Task { await reporting.clock.reach(due) }.value
      }
    }
    return nil
  }

  /// Checks that the server has the bundle once, and the app only the outcome.
  func check(_ id: SnapshotID, _ bundle: Data, _ context: String = "") throws {
    let attached = server.attached
    #expect(attached.count == 1 && attached["/v1/reports/BUG-1/snapshots/\(id)"] == bundle, "\(context)")
    #expect(try reporting.files() == ["items/\(id)/state.json"], "\(context)")
    #expect(daemon.names.isEmpty, "\(context)")
  }
}
