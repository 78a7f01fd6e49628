package import Logging
package import SnapshotFormat
package import SnapshotStore
import SystemIO

/// Keeps a catalogue consistent with its store while both are used. It rebuilds a catalogue that has lost its contents,
/// and applies changes made while no server was running.
package final class CatalogIndexer: Sendable {
  /// The progress of indexing.
  package enum Progress: Sendable, Hashable {
    /// The catalogue has not been checked yet.
    case unknown
    /// The catalogue is being rebuilt, and lists are refused. Has the completed share, from 0 to 1, and the number of
    /// indexed records.
    case indexing(share: Double, records: Int)
    /// Lists are answered.
    case ready
  }

  private struct State {
    var progress = Progress.unknown
    var wantsRebuild = false
    /// The generation that was compared with the store.
    var compared: Int?
    /// The share of the shards that the current comparison is done with; `nil` if none is running.
    var comparison: Double?
    var missed = MissedChanges()
    /// The deleted snapshots that are possibly in the catalogue still, because it could not be changed.
    var unlisted: Set<SnapshotID> = []
    /// Whether to index what servers left unindexed that ended.
    var takesOver = false
  }

  private let store: any BundleStore
  private let catalog: any Catalog
  private let promptCatalog: any Catalog
  private let journal: ChangeJournal?
  private let logger: Logger
  private let state = Lock(State())
  private let nudges = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

  /// Creates an indexer that keeps `catalog` consistent with `store`.
  /// - Parameters:
  ///   - promptCatalog: the same catalogue for the changes of requests, which fail sooner; `nil` if `catalog` never
  ///     makes them wait.
  ///   - journal: finds the changes of servers that ended; `nil` if no other server uses the store.
  package init(
    store: any BundleStore, catalog: any Catalog, promptCatalog: (any Catalog)? = nil,
    journal: ChangeJournal? = nil, logger: Logger
  ) {
    self.store = store
    self.catalog = catalog
    self.promptCatalog = promptCatalog ?? catalog
    self.journal = journal
    self.logger = logger
  }

  deinit { nudges.continuation.finish() }

  /// The current progress.
  package var progress: Progress { state.withLock { $0.progress } }

  /// The share of the store that has been compared with the catalogue, from 0 to 1, if lists may lack some of the
  /// changes before a crash or made while no server was running; `nil` if they are complete.
  package var comparison: Double? {
    state.withLock { state in
      state.progress == .ready && (state.compared == nil || state.comparison != nil)
        ? state.comparison ?? 0 : nil
    }
  }

  /// Whether the catalogue contains every record of the store, and missed no change.
  package func isReconciled() async -> Bool {
    do {
      let known = try await catalog.state()
      guard known.extent == .everything else { return false }
      return state.withLock {
        $0.compared == known.generation && $0.missed.isEmpty && !$0.wantsRebuild
      }
    } catch {
      log(error)
      return false
    }
  }

  /// Requests a rebuild, which starts asynchronously.
  package func rebuild() {
    state.withLock { state in
      state.wantsRebuild = true
      state.progress = .indexing(share: 0, records: 0)
    }
    nudges.continuation.yield()
  }

  /// Requests a comparison of the catalogue with the store, which starts asynchronously. Lists are answered meanwhile.
  package func compareAgain() {
    state.withLock { $0.compared = nil }
    nudges.continuation.yield()
  }

  /// Requests that what other servers left unindexed is indexed, which starts asynchronously. Of the servers that share
  /// a store, the one that maintains it calls this regularly.
  package func takeOver() {
    state.withLock { $0.takesOver = true }
    nudges.continuation.yield()
  }

  /// The catalogue for changes that the store has already made durable. A change that fails in the catalogue is logged,
  /// and applied by the next ``update()``, instead of throwing.
  package var reconciled: any Catalog {
    ReconciledCatalog(catalog: catalog, changes: promptCatalog, indexer: self, journal: journal)
  }

  /// Remembers that the catalogue has missed a change. The next ``update()`` repeats it.
  package func reportMissedChange(of ids: [SnapshotID], _ error: any Error) {
    logger.error(
      "The catalogue could not be changed; it will be tried again",
      metadata: ["ids": "\(ids.prefix(10).map(\.description))", "error": "\(error)"])
    state.withLock { $0.missed.insert(ids) }
  }

  /// Remembers that the catalogue could not remove a snapshot. Until the next ``update()`` repeats it, lists omit the
  /// snapshot.
  func reportMissedRemoval(of id: SnapshotID, _ error: any Error) {
    state.withLock { state in
      if state.unlisted.count < MissedChanges.limit { state.unlisted.insert(id) }
    }
    reportMissedChange(of: [id], error)
  }

  /// The deleted snapshots that lists omit.
  var unlisted: Set<SnapshotID> { state.withLock(\.unlisted) }

  /// Enables lists before the first update if that takes no time: if the catalogue only needs a comparison, or if the
  /// store is empty. Call it before ``run(every:)``.
  /// - Parameters:
  ///   - isEmpty: whether the store is empty.
  ///   - isReconciled: returns whether the catalogue is known to contain the records of the store, so that the first
  ///     update need not compare them.
  package func prepare(
    storeIsEmpty isEmpty: Bool, isReconciled: () async throws(CatalogError) -> Bool = { false }
  ) async {
    do {
      let known = try await catalog.state()
      if known.extent != .nothing {
        setProgress(.ready)
        if known.extent == .everything, try await isReconciled() {
          state.withLock { $0.compared = known.generation }
        }
      } else if isEmpty {
        try await index([], known.generation)
        state.withLock { $0.compared = known.generation }
      }
      try await adoptUnindexed()
    } catch {
      log(error)
    }
  }

  /// Lets the first update index what servers that share the store have possibly left unindexed, such as this one before
  /// it ended.
  private func adoptUnindexed() async throws {
    guard let journal else { return }
    let (intended, isMarked) = (try await journal.snapshotsWithIntents(), try await journal.hasMarks())
    state.withLock { state in
      state.missed.insert(intended)
      if isMarked { state.compared = nil }
    }
  }

  /// Maintains the catalogue until the task is cancelled. Updates it immediately, after ``rebuild()``, and every
  /// `interval`.
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

  /// Rebuilds the catalogue, compares it with the store, or repeats missed changes, as needed. Only one task may call it
  /// at a time.
  package func update() async throws {
    if state.withLock({ $0.wantsRebuild }) {
      try await catalog.clear()
      state.withLock { $0.wantsRebuild = false }
    }
    let remains = state.withLock { state in
      defer { state.takesOver = false }
      return state.takesOver ? journal : nil
    }
    let marks = try await remains?.overdueMarks() ?? []
    let known = try await catalog.state()
    let (missed, unlisted) = state.withLock { ($0.missed.take(), $0.unlisted) }
    do {
      try await update(known, missed, rereading: !marks.isEmpty)
    } catch {
      state.withLock { $0.missed.formUnion(missed) }
      throw error
    }
    state.withLock { state in
      (state.compared, state.comparison) = (known.generation, nil)
      state.unlisted.subtract(unlisted)
    }
    try await journal?.flush()
    guard let remains else { return }
    if !marks.isEmpty,
      try await catalog.state() == CatalogState(extent: .everything, generation: known.generation)
    {
      try await remains.remove(marks)
    }
    try await indexOverdueIntents(of: remains)
  }

  /// - Parameter rereading: whether records that are in the catalogue are read again.
  private func update(_ known: CatalogState, _ missed: MissedChanges, rereading: Bool) async throws {
    switch known.extent {
    case .nothing:
      try await index(SnapshotShard.allCases, known.generation)
    case .uncertain:
      setProgress(.ready)
      logger.info("The last server was not shut down properly; comparing all records with the catalogue")
      try await compare(rereading: true)
      try await catalog.complete(generation: known.generation)
    case .everything:
      setProgress(.ready)
      let rereads = rereading || missed.isCut
      if rereads || state.withLock({ $0.compared }) != known.generation {
        if rereading { logger.notice("The catalogue can lack changes; comparing all records with it") }
        try await compare(rereading: rereads)
      }
    }
    try await refresh(missed.ids)
  }

  /// Indexes the changes that servers left unindexed that ended.
  private func indexOverdueIntents(of journal: ChangeJournal) async throws {
    var intents: [ChangeIntent]
    repeat {
      intents = try await journal.overdueIntents()
      try await refresh(Set(intents.map(\.snapshot)))
      try await journal.remove(intents)
    } while !intents.isEmpty
  }

  /// Brings the catalogue's records of `ids` up to date.
  private func refresh(_ ids: Set<SnapshotID>) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, id) in ids.enumerated() {
        if index >= Self.concurrentRefreshes { try await group.next() }
        group.addTask { try await self.refresh(id) }
      }
      try await group.waitForAll()
    }
  }

  private func refresh(_ id: SnapshotID) async throws {
    let changes = journal?.written(id) ?? []
    do {
      try await catalog.refresh(try await store.record(id), from: store)
    } catch StoreError.deleted {
      try await catalog.remove(id)
    } catch StoreError.notFound {
      // The snapshot was never published. Its id is not removed, because it can still be used.
    } catch StoreError.damaged {
      logger.error("A record can't be read, and is not listed", metadata: ["id": "\(id)"])
    }
    journal?.settle(changes)
  }

  /// Removes the intents of changes that are in the catalogue. If that fails, other servers read their records again.
  package func close() async {
    do { try await journal?.flush() } catch { log(error) }
  }

  /// Inserts every record of `shards`, which must include all non-empty shards.
  private func index(_ shards: [SnapshotShard], _ generation: Int) async throws {
    let start = ContinuousClock.now
    var (told, count) = (start, 0)
    setProgress(.indexing(share: 0, records: 0))
    logger.notice("Rebuilding the catalogue from the records; lists are refused until it is complete")
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

  /// Adds records that the catalogue lacks, and removes those that the store lacks.
  /// - Parameter rereading: whether records that are in both are also read and inserted again.
  private func compare(rereading: Bool) async throws {
    var (added, removed) = (0, 0)
    state.withLock { $0.comparison = 0 }
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
    } progress: { _, share in
      state.withLock { $0.comparison = share }
      return true
    }
    if added + removed > 0 {
      logger.notice(
        "The catalogue was updated", metadata: ["added": "\(added)", "removed": "\(removed)"])
    }
  }

  private func isGone(_ id: SnapshotID) async throws -> Bool {
    do {
      _ = try await store.record(id)
      return false
    } catch StoreError.notFound, StoreError.deleted {
      return true
    } catch {
      // It exists, although it can't be read.
      return false
    }
  }

  /// Inserts the records of `shards` in batches. Reads the next batch while it writes one.
  /// - Parameters:
  ///   - ids: returns the ids of a shard to insert.
  ///   - progress: called with the number of inserted records, and the share of shards read, from 0 to 1. Returns
  ///     whether to continue.
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
      // Sorted by time, the records are adjacent in the index.
      let batch = read.sorted { $0.receivedAt < $1.receivedAt }
      async let written: Void = catalog.insert(batch)
      while unread.count < Self.batch, let shard = ahead.popFirst() { unread += try await ids(shard) }
      read = unread.isEmpty ? [] : try await store.records(Array(unread.prefix(Self.batch)))
      unread.removeFirst(min(Self.batch, unread.count))
      try await written
      guard try await progress(batch.count, share) else { return }
    } while !read.isEmpty || !unread.isEmpty || !ahead.isEmpty
  }

  /// The number of records in a batch. At most two batches are in memory.
  private static let batch = 2000
  /// How many records are read and inserted at once, one by one.
  private static let concurrentRefreshes = 16

  private func log(_ error: any Error) {
    logger.error("The catalogue can't be updated", metadata: ["error": "\(error)"])
  }

  private func setProgress(_ progress: Progress) {
    state.withLock { state in if !state.wantsRebuild { state.progress = progress } }
  }
}
