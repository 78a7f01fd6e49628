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
  private let endStores: @Sendable () async -> Void
  private let endCatalog: @Sendable () async -> Void

  /// A store and a catalogue that the caller has opened and closes.
  package init(_ store: any BundleStore & UploadStore, catalog: any Catalog) {
    self.store = store
    self.catalog = catalog
    usage = nil
    waiting = { [:] }
    verifications = AsyncStream { $0.finish() }
    scrubProgress = nil
    temporaryFolder = FileManager.default.temporaryDirectory.path
    endStores = {}
    endCatalog = {}
  }

  /// Opens the folder of the settings, and locks it against other processes.
  /// - Parameter onFlush: called with the duration of every flush, on a thread of the store.
  package static func open(
    _ settings: ServerSettings, onFlush: @escaping @Sendable (Duration) -> Void = { _ in }, logger: Logger
  ) async throws(ServerError) -> ServerStorage {
    let (verifications, verified) = AsyncStream<SnapshotRecord>.makeStream()
    var configuration = FileBundleStore.Configuration(
      path: settings.storage,
      validator: UploadValidator(
        policy: settings.validation, inflatedBytes: settings.maximumInflatedBytes),
      reserve: settings.reservedBytes, quota: settings.retention.quotaBytes,
      sharesFlushes: settings.sharesFlushes, onVerification: { verified.yield($0) })
    configuration.onFlush = onFlush
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
    waiting = { store.waiting }
    self.verifications = verifications
    scrubProgress = folder + "/scrubbed"
    temporaryFolder = folder
    endStores = {
      await store.close()
      verified.finish()
    }
    endCatalog = { await catalog.close() }
  }

  /// Completes the waiting commits, and closes the stores. Afterwards only the catalogue may be used.
  func closeStores() async { await endStores() }

  /// Closes the catalogue, after the stores.
  func closeCatalog() async { await endCatalog() }

  /// Closes the stores and the catalogue.
  package func close() async {
    await closeStores()
    await closeCatalog()
  }
}
