import Foundation
import Logging
import SnapshotAPI
import SnapshotClient
import SnapshotFormat
import SnapshotServer
import SnapshotService
import SnapshotStore

/// Maintains a storage folder, which it locks.
struct StorageMaintainer: Maintainer {
  private let storage: ServerStorage
  private let service: SnapshotService
  private let maintenance: Maintenance

  init(_ settings: ServerSettings) async throws(ServerError) {
    // The command prints its results itself.
    let logger = Logger(label: "snapshot") { _ in SwiftLogNoOpLogHandler() }
    storage = try await ServerStorage.open(settings, logger: logger)
    service = SnapshotService(store: storage.store, catalog: storage.catalog)
    maintenance = Maintenance(
      settings.retention, storage: storage, catalog: storage.catalog,
      clock: DeletionClock(of: storage, now: { Date() }, logger: logger), logger: logger)
  }

  /// Unlocks the folder.
  func close() async {
    await maintenance.stop()
    await storage.close()
  }

  func page(
    _ filter: SnapshotFilter, limit: Int, after cursor: String?
  ) async throws -> (records: [SnapshotRecord], next: String?) {
    do {
      guard try await storage.catalog.state().extent == .everything else { throw CatalogError.incomplete }
      let page = try await service.page(
        CatalogQuery(filter), PageRequest(limit: limit, cursor: cursor.flatMap(Cursor.init)))
      return (page.records, page.next?.description)
    } catch CatalogError.incomplete {
      throw CommandFailure(
        "The catalogue of the storage folder is not complete, so a search would miss snapshots. Run `snapshot reindex`."
      )
    } catch let error as CatalogError {
      throw CommandFailure("\(error)")
    }
  }

  func delete(_ id: SnapshotID) async throws { try await naming(id) { try await service.delete(id) } }

  func change(
    _ id: SnapshotID, isPinned: Bool?, isGood: Bool?, end: SnapshotEnd?
  ) async throws -> SnapshotRecord {
    var change = RecordChange(isPinned: isPinned, isGood: isGood)
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

  /// Adds the id of the snapshot to the error.
  private func naming<Value>(_ id: SnapshotID, _ body: () async throws -> Value) async throws -> Value {
    do {
      return try await body()
    } catch let error as StoreError {
      throw CommandFailure("\(id): \(error)")
    }
  }
}

extension CatalogQuery {
  /// Creates the query that a server makes of the filter.
  init(_ filter: SnapshotFilter) {
    self.init(report: filter.report)
    application = filter.application
    if filter.minimumVersion != nil || filter.maximumVersion != nil {
      versions = VersionRange(from: filter.minimumVersion, through: filter.maximumVersion)
    }
    module = filter.module
    identifier = filter.identifier
    device = filter.device
    after = filter.after
    before = filter.before
    text = filter.text
  }
}
