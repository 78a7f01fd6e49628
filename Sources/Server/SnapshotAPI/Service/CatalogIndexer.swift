package import Logging
import Observability
import SnapshotFormat
package import SnapshotStore
import Synchronization

/// Keeps a catalogue true to its store, while both are used: fills one that has lost what it knew, and makes up for what
/// happened while no server ran.
package final class CatalogIndexer: Sendable {
  /// How far the catalogue is.
  package enum Progress: Sendable, Hashable {
    /// Not looked at yet.
    case unknown
    /// It is being made anew: lists are refused. The share that is done, from 0 to 1, and how many records these are.
    case indexing(share: Double, records: Int)
    /// Its lists are answered.
    case ready
  }

  private struct State {
    var progress = Progress.unknown
    var wantsRebuild = false
    /// The generation that was compared with the store.
    var compared: Int?
    /// How many changes the catalogue has missed.
    var missed = 0
    /// How many of them it had missed when every record was last compared with it.
    var madeUpFor = 0
  }

  private let store: any BundleStore
  private let catalog: any Catalog
  private let logger: Logger
  private let state = Mutex(State())
  private let nudges = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

  /// Keeps `catalog` true to `store`.
  package init(store: any BundleStore, catalog: any Catalog, logger: Logger) {
    self.store = store
    self.catalog = catalog
    self.logger = logger
  }

  deinit { nudges.continuation.finish() }

  /// How far the catalogue is.
  package var progress: Progress { state.withLock { $0.progress } }

  /// Has the catalogue made anew, soon.
  package func rebuild() {
    state.withLock { state in
      state.wantsRebuild = true
      state.progress = .indexing(share: 0, records: 0)
    }
    nudges.continuation.yield()
  }

  /// The catalogue, for changes of a store that are durable already: one that it fails to take is logged, and made up
  /// for by the next ``update()``, rather than thrown.
  package var reconciled: any Catalog { ReconciledCatalog(catalog: catalog, indexer: self) }

  /// Takes note that the catalogue has missed a change: every record is compared with it, soon.
  func noteMissedChange(of ids: [SnapshotID], _ error: any Error) {
    logger.error(
      "The catalogue could not be changed; every record is compared with it later",
      metadata: ["ids": "\(ids.prefix(10).map(\.description))", "error": "\(error)"])
    state.withLock { $0.missed += 1 }
  }

  /// Has lists answered before anybody asks, where that takes no time: the catalogue only wants a second look, or there
  /// is nothing to be listed. To be called before ``run(every:)``.
  /// - Parameter isEmpty: whether the store is.
  package func prepare(storeIsEmpty isEmpty: Bool) async {
    do {
      let known = try await catalog.state()
      if known.extent != .nothing {
        setProgress(.ready)
      } else if isEmpty {
        try await index([], known.generation)
        state.withLock { $0.compared = known.generation }
      }
    } catch {
      log(error)
    }
  }

  /// Looks after the catalogue until the task is cancelled: at once, and whenever `interval` has passed.
  package func run(every interval: Duration = .seconds(2)) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [nudges] in
        while !Task.isCancelled {
          nudges.continuation.yield()
          do { try await Task.sleep(for: interval) } catch { return }
        }
      }
      for await _ in nudges.stream {
        do {
          try await update()
        } catch  where Task.isCancelled || error is CancellationError {
          break
        } catch {
          log(error)
        }
      }
      group.cancelAll()
    }
  }

  /// Does whatever the catalogue lacks; to be called by one task at a time.
  package func update() async throws {
    if state.withLock({ $0.wantsRebuild }) {
      try await catalog.clear()
      state.withLock { $0.wantsRebuild = false }
    }
    let known = try await catalog.state()
    let (missed, hasMissed) = state.withLock { ($0.missed, $0.missed != $0.madeUpFor) }
    switch known.extent {
    case .nothing:
      try await index(SnapshotShard.allCases, known.generation)
    case .uncertain:
      setProgress(.ready)
      logger.info("The last server did not end properly: every record is compared with the catalogue")
      try await compare(rereading: true)
      try await catalog.complete(generation: known.generation)
    case .everything:
      setProgress(.ready)
      guard hasMissed || state.withLock({ $0.compared }) != known.generation else { return }
      try await compare(rereading: hasMissed)
    }
    // What was missed meanwhile may be of a record that had been compared before.
    state.withLock { ($0.compared, $0.madeUpFor) = (known.generation, missed) }
  }

  /// Inserts every record of `shards`, which are all that hold any.
  private func index(_ shards: [SnapshotShard], _ generation: Int) async throws {
    let start = ContinuousClock.now
    var (told, count) = (start, 0)
    setProgress(.indexing(share: 0, records: 0))
    logger.notice("The catalogue is made anew from the records; until it is done lists are refused")
    try await insert(shards) { [store] shard in
      try await store.ids(in: shard)
    } progress: { inserted, share in
      count += inserted
      setProgress(.indexing(share: share, records: count))
      if told.duration(to: .now) > .seconds(2) {
        told = .now
        logger.info("Indexing: \(Int(share * 100)) %", metadata: ["records": "\(count)"])
      }
      return try await catalog.state().generation == generation
    }
    try await catalog.complete(generation: generation)
    guard try await catalog.state() == CatalogState(extent: .everything, generation: generation) else {
      return
    }
    setProgress(.ready)
    logger.notice(
      "The catalogue is complete", metadata: ["records": "\(count)", "took": "\(start.duration(to: .now))"])
  }

  /// Adds what the catalogue lacks, and removes what the store lacks.
  /// - Parameter rereading: whether records that are there are read and inserted again.
  private func compare(rereading: Bool) async throws {
    var (added, removed) = (0, 0)
    try await insert(SnapshotShard.allCases) { shard in
      let kept = try await store.ids(in: shard)
      let indexed = Set(try await catalog.ids(in: shard))
      let missing = kept.filter { !indexed.contains($0) }
      added += missing.count
      for id in indexed.subtracting(kept) where try await isGone(id) {
        try await catalog.remove(id)
        removed += 1
      }
      return rereading ? kept : missing
    }
    if added + removed > 0 {
      logger.notice(
        "The catalogue was brought up to date", metadata: ["added": "\(added)", "removed": "\(removed)"])
    }
  }

  private func isGone(_ id: SnapshotID) async throws -> Bool {
    do {
      _ = try await store.record(id)
      return false
    } catch StoreError.notFound, StoreError.deleted {
      return true
    } catch {
      // It is there, though nobody can read it.
      return false
    }
  }

  /// Inserts records of `shards` batch by batch, reading the next ones while some are written.
  /// - Parameters:
  ///   - ids: which ones of a shard.
  ///   - progress: told how many were inserted, and which share of the shards was looked at, from 0 to 1; answers whether
  ///     to go on.
  private func insert(
    _ shards: [SnapshotShard], _ ids: (SnapshotShard) async throws -> [SnapshotID],
    progress: (_ inserted: Int, _ share: Double) async throws -> Bool = { _, _ in true }
  ) async throws {
    var ahead = shards[...]
    var unread: [SnapshotID] = []
    var read: [SnapshotRecord] = []
    repeat {
      try Task.checkCancellation()
      let share = 1 - Double(ahead.count) / Double(max(shards.count, 1))
      // In the order of their times they lie beside one another in the index.
      let batch = read.sorted { $0.receivedAt < $1.receivedAt }
      async let written: Void = catalog.insert(batch)
      while unread.count < Self.batch, let shard = ahead.popFirst() { unread += try await ids(shard) }
      read = unread.isEmpty ? [] : try await store.records(Array(unread.prefix(Self.batch)))
      unread.removeFirst(min(Self.batch, unread.count))
      try await written
      guard try await progress(batch.count, share) else { return }
    } while !read.isEmpty || !unread.isEmpty || !ahead.isEmpty
  }

  /// How many records are in memory twice at most.
  private static let batch = 2000

  private func log(_ error: any Error) {
    logger.error("The catalogue can't be brought up to date", metadata: ["error": "\(error)"])
  }

  private func setProgress(_ progress: Progress) {
    state.withLock { state in if !state.wantsRebuild { state.progress = progress } }
  }
}
