import AccessControl
import FileStore
import Foundation
import Observability
import S3Store
import SnapshotAPI
import SnapshotStore

/// The optional abilities of a store. By default, it has none.
struct StoreAbilities: Sendable {
  /// The number and size of the stored bundles; `nil` if that is not known without reading every record.
  var usage: (@Sendable () -> StoreUsage)?
  /// Changes the most bytes that all bundles may have together; `nil` if the store has no quota.
  var setQuota: (@Sendable (Int64?) -> Void)?
  /// The number of operations that wait in each queue of the store, for the metrics.
  var waiting: @Sendable () -> [String: Int] = { [:] }
  /// Stores the progress of the regular verification; with `nil`, each pass starts with the first bundle.
  var scrubProgress: (any ScrubProgressStore)?
  /// Stores the mark of the clock by which is deleted; with `nil`, it is lost when the server ends.
  var clockMarks: (any ClockMarkStore)?
  /// Deletes what no bundle and no upload needs at a time; `nil` if there never is anything.
  var sweep: (@Sendable (_ now: Date) async throws -> Void)?
  /// Returns a URL with which a client reads a bundle itself, for a short time; `nil` if the server sends all bundles.
  var bundleURL: SnapshotService.BundleURL?
  /// Selects the server that maintains the store.
  var maintenanceLock: any MaintenanceLock = SoleServer()
  /// The catalogue for the changes of requests, which fail soon if its database does not answer; `nil` if there is only
  /// one.
  var promptCatalog: (any Catalog)?
  /// Finds the changes that the catalogue lacks because a server ended; `nil` if one server uses the store.
  var journal: ChangeJournal?
  /// The sessions of the web pages on all servers; `nil` if there is one.
  var sessions: (any SharedSessions)?
  /// The quotas of uploads on all servers; `nil` if there is one.
  var quotas: (any SharedQuotas)?
  /// The audit lines of all servers; `nil` if there is one.
  var audit: (any SharedAudit)?
  /// Keeps this server in agreement with the others that use the store, until the task is cancelled; `nil` if there are
  /// none.
  var watch: (@Sendable () async -> Void)?
  /// Closes the store.
  /// - Returns: its seal, by which the next server recognizes that nothing was changed; `nil` if it has none, or was not
  ///   left in good order.
  var close: @Sendable () async -> Int64? = { nil }
}

extension StoreAbilities {
  /// How long a client may take to follow a redirect.
  private static let urlLifetime = Duration.seconds(60)

  /// The abilities of a store in a folder.
  init(_ store: FileBundleStore, folder: String) {
    usage = { store.usage }
    setQuota = { store.quota = $0 }
    waiting = { store.waiting }
    scrubProgress = ScrubProgressFile(folder + "/scrubbed")
    clockMarks = ClockMarkFile(in: folder)
    close = { await store.close() }
  }

  /// The abilities of a store that several servers share. Its size is counted by the catalogue, and a quota of one server
  /// would not bind the others.
  init(_ store: S3BundleStore, lock: any MaintenanceLock, downloads: DownloadSource) {
    if downloads == .redirect {
      bundleURL = { id throws(StoreError) in try await store.url(of: id, lifetime: Self.urlLifetime) }
    }
    sweep = { _ = try await store.sweep(at: $0) }
    maintenanceLock = lock
    journal = store.journal
    scrubProgress = store.scrubProgress
    clockMarks = store.clockMarks
    close = {
      await store.close()
      return nil
    }
  }
}
