import FileStore
import Foundation
package import Logging
import SQLiteCatalog
import SnapshotFormat
package import SnapshotStore

/// The stores of a server: bundles, uploads, and their catalogue.
///
/// They are either opened together in the folder of the settings, or passed in.
package struct ServerStorage: Sendable {
  /// The store of bundles, and of uploads until they are complete.
  package let store: any BundleStore & UploadStore
  /// The index over the records of the bundles. It can be rebuilt from them at any time.
  package let catalog: any Catalog
  /// The number and size of the stored bundles; `nil` if that is not known without reading every record.
  let usage: (@Sendable () -> StoreUsage)?
  /// The number of operations that wait in each queue of the stores, for the metrics.
  let waiting: @Sendable () -> [String: Int]
  /// The records whose checksums were verified after their uploads were answered. Ends with ``closeStores()``.
  let verifications: AsyncStream<SnapshotRecord>
  /// The file for the progress of the regular verification; with `nil`, each pass starts with the first bundle.
  let scrubProgress: String?
  /// A folder for files that no one needs after the server ends.
  let temporaryFolder: String
  /// Whether the catalogue contained the records of the store when both were closed, and neither was changed since.
  let isReconciled: @Sendable () async throws(CatalogError) -> Bool
  /// Changes the most bytes that all bundles may have together; `nil` means no limit.
  let setQuota: @Sendable (Int64?) -> Void
  private let endStores: @Sendable () async -> Int64?
  private let endCatalog: @Sendable (Int64?) async -> Void

  /// A store and a catalogue that the caller has opened and closes.
  package init(_ store: any BundleStore & UploadStore, catalog: any Catalog) {
    self.store = store
    self.catalog = catalog
    usage = nil
    isReconciled = { false }
    waiting = { [:] }
    setQuota = { _ in }
    verifications = AsyncStream { $0.finish() }
    scrubProgress = nil
    temporaryFolder = FileManager.default.temporaryDirectory.path
    endStores = { nil }
    endCatalog = { _ in }
  }

  /// Opens the folder of the settings, and locks it against other processes.
  /// - Parameters:
  ///   - repairs: whether to read the whole store, even if it was closed in good order.
  ///   - onFlush: called with the duration of every flush, on a thread of the store.
  package static func open(
    _ settings: ServerSettings, repairs: Bool = false,
    onFlush: @escaping @Sendable (Duration) -> Void = { _ in }, logger: Logger
  ) async throws(ServerError) -> ServerStorage {
    let (verifications, verified) = AsyncStream<SnapshotRecord>.makeStream()
    var configuration = FileBundleStore.Configuration(
      path: settings.storage,
      validator: UploadValidator(
        policy: settings.validation, inflatedBytes: settings.maximumInflatedBytes),
      reserve: settings.reservedBytes, quota: settings.retention.quotaBytes,
      sharesFlushes: settings.sharesFlushes, onVerification: { verified.yield($0) })
    configuration.onFlush = onFlush
    configuration.repairs = repairs
    configuration.uploads = settings.uploads.limits
    configuration.uploads.length = settings.maximumBundleBytes
    let store: FileBundleStore
    do throws(FileBundleStore.OpeningError) {
      store = try await FileBundleStore.open(configuration, logger: logger)
    } catch {
      throw .storage(error)
    }
    // The store's lock also protects the catalogue, so the store is opened first.
    do throws(CatalogError) {
      let catalog = try await SQLiteCatalog.open(
        SQLiteCatalog.Configuration(path: settings.storage + "/catalog.sqlite") { reason in
          logger.warning("\(reason)")
        })
      return ServerStorage(store, catalog, verifications, verified, folder: settings.storage)
    } catch {
      await store.close()
      throw .catalog(error)
    }
  }

  private init(
    _ store: FileBundleStore, _ catalog: SQLiteCatalog, _ verifications: AsyncStream<SnapshotRecord>,
    _ verified: AsyncStream<SnapshotRecord>.Continuation, folder: String
  ) {
    self.store = store
    self.catalog = catalog
    usage = { store.usage }
    isReconciled = { () async throws(CatalogError) in
      guard let seal = store.seal, seal == catalog.seal else { return false }
      // A change that the catalogue missed without an error changes the number.
      return try await catalog.total(CatalogQuery()).count == store.usage.bundles
    }
    waiting = { store.waiting }
    setQuota = { store.quota = $0 }
    self.verifications = verifications
    scrubProgress = folder + "/scrubbed"
    temporaryFolder = folder
    endStores = {
      let seal = await store.close()
      verified.finish()
      return seal
    }
    endCatalog = { await catalog.close(seal: $0) }
  }

  /// Completes the waiting commits, and closes the stores. Afterwards only the catalogue may be used.
  /// - Returns: the seal of the stores, if they were left in good order.
  func closeStores() async -> Int64? { await endStores() }

  /// Closes the catalogue, after the stores.
  /// - Parameter seal: the seal of the stores, if the catalogue contains all of their records.
  func closeCatalog(seal: Int64?) async { await endCatalog(seal) }

  /// Closes the stores and the catalogue.
  /// - Parameter isReconciled: whether the catalogue contains all records of the store. If it is `false`, the next
  ///   server compares them.
  package func close(isReconciled: Bool = false) async {
    let seal = await closeStores()
    await closeCatalog(seal: isReconciled ? seal : nil)
  }
}
