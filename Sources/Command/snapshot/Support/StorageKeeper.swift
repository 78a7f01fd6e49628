import FileStore
import Foundation
import Logging
import SQLiteCatalog
import SnapshotAPI
import SnapshotFormat
import SnapshotStore

/// Looks after the storage in a folder, which it takes for itself.
struct StorageKeeper: Keeper {
  private let store: FileBundleStore
  private let catalog: SQLiteCatalog
  private let service: SnapshotService
  private let maintenance: Maintenance

  init(_ settings: ServerSettings) async throws {
    // What is worth knowing is the command's result.
    let logger = Logger(label: "snapshot") { _ in SwiftLogNoOpLogHandler() }
    store = try await FileBundleStore.open(.init(path: settings.storage), logger: logger)
    do {
      catalog = try await ServerApplication.openCatalog(settings.storage, logger: logger)
    } catch {
      await store.close()
      throw error
    }
    service = SnapshotService(store: store, catalog: catalog)
    maintenance = Maintenance(
      settings.retention, store: store, catalog: catalog, storage: settings.storage, logger: logger)
  }

  /// Gives the folder back.
  func close() async {
    await maintenance.stop()
    await store.close()
    await catalog.close()
  }

  func delete(_ id: SnapshotID) async throws { try await naming(id) { try await service.delete(id) } }

  func change(_ id: SnapshotID, isPinned: Bool?, end: SnapshotEnd?) async throws -> SnapshotRecord {
    var change = RecordChange(isPinned: isPinned)
    change.end = end.map { $0.time(from: Date()).map(RecordChange.End.at) ?? .never }
    return try await naming(id) { try await service.change(change, of: id) }
  }

  func plan(_ tell: (Expiration) -> Void) async throws -> Bool {
    let plan = try await maintenance.reaper.plan()
    plan.expirations.forEach(tell)
    return plan.needsConfirmation
  }

  func expire(isConfirmed: Bool, _ tell: (Expiration) -> Void) async throws -> Int {
    let outcome: Reaper.Outcome
    do {
      outcome = try await maintenance.reaper.run(isConfirmed: isConfirmed)
    } catch let held as ExpirationHeld {
      throw CommandFailure("\(held)")
    }
    outcome.expired.forEach(tell)
    return outcome.remaining
  }

  func scrub() async throws -> ScrubReport {
    try await maintenance.scrubber.run() ?? maintenance.scrubber.report
  }

  /// Says of which snapshot a refusal speaks.
  private func naming<Value>(_ id: SnapshotID, _ body: () async throws -> Value) async throws -> Value {
    do {
      return try await body()
    } catch let error as StoreError {
      throw CommandFailure("\(id): \(error)")
    }
  }
}
