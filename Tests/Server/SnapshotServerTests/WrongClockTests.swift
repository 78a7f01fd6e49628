import Foundation
import Logging
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotService
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@testable import SnapshotServer

/// Servers that are started with a wrong clock.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct WrongClockTests {
  private let folder: TemporaryFolder
  private let report: ReportID
  private let bundle: ZippedSample

  init() throws {
    folder = try TemporaryFolder()
    report = try ReportID(validating: "BUG-1")
    bundle = try ZippedSample()
  }

  /// Runs `body` with a server whose clock is `ahead` of the right one.
  private func withServer(
    ahead: Double, _ body: (ServerApplication) async throws -> Void
  ) async throws {
    var settings = ServerSettings(port: 0, storage: folder.file("storage").path)
    settings.retention.rules.limits.age = TimeSpan("30d")
    let logger = Logger.quiet
    let storage = try await ServerStorage.open(settings, logger: logger)
    let application = ServerApplication(
      settings, storage: storage, now: { Date() + ahead }, logger: logger)
    await application.indexer.prepare(storeIsEmpty: storage.usage.bundles == 0)
    try await application.indexer.update()
    do { try await body(application) } catch {
      await application.close()
      throw error
    }
    await application.close()
  }

  private func attach(_ application: ServerApplication) async throws {
    let attachment = Attachment(report: report, id: SnapshotID())
    let record = try await application.storage.store.upload(bundle.bytes, as: attachment).record
    try await application.storage.catalog.insert(record)
  }

  @Test(arguments: [4380, -20_440] as [Double], [true, false])
  func `retention and expirations delete nothing, and abandoned uploads remain`(
    days: Double, hasMark: Bool
  ) async throws {
    let jump = days * 86_400
    try await withServer(ahead: 0) { application async throws in
      for _ in 0..<3 { try await attach(application) }
      _ = try await application.storage.store.createUpload(UploadTerms(.partial, dialect: "test"))
      if hasMark { #expect(await application.uploads.removeExpired() == 0) }
    }
    for _ in 0..<2 {
      try await withServer(ahead: jump) { application async throws in
        #expect(await application.uploads.removeExpired() == 0)
        await #expect(throws: ExpirationHeld.self) { try await application.maintenance.reaper.run() }
        #expect(application.maintenance.clockDoubt != nil)
        #expect(await application.storage.store.uploadSessions().count == 1)
        #expect(try await application.storage.store.allRecords().count == 3)
      }
    }
    try await withServer(ahead: 0) { application async throws in
      await #expect(throws: ExpirationHeld.self) { try await application.maintenance.reaper.run() }
      #expect(try await application.maintenance.reaper.run(isConfirmed: true) == Reaper.Outcome())
      #expect(application.maintenance.clockDoubt == nil)
      #expect(try await application.storage.store.allRecords().count == 3)
    }
  }
}

extension ServerStorage {
  fileprivate var usage: StoreUsage { counted?.usage ?? StoreUsage() }
}
