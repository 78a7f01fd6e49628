import SnapshotFormat

/// Copies all snapshots of a store to a store of any other kind, with a short interruption.
///
/// ``copy(_:)`` copies what is new while servers use the source, and can be called any number of times.
/// ``finish(leavingLosses:_:)`` needs the servers to be stopped: it copies the rest, verifies every bundle that earlier
/// runs have copied, and lets servers use the target. An interrupted run can be repeated. Each run reads all records of
/// both stores, so nothing that it finds depends on what an earlier one has recorded.
///
/// Deletions are copied too: a deleted UUID stays taken. A snapshot that the source has lost without a deletion, or of
/// which it has lost the bytes, remains in the target.
package struct SnapshotMigration: Sendable {
  /// How many snapshots are compared and copied at once.
  package static let concurrentCopies = 8

  private let source: any MigrationSource
  private let target: any MigrationTarget

  package init(from source: any MigrationSource, to target: any MigrationTarget) {
    self.source = source
    self.target = target
  }

  /// Copies what is new, has changed, or was deleted.
  /// - Parameter progress: called often with the report so far.
  package func copy(
    _ progress: (TransferReport) -> Void = { _ in }
  ) async throws(TransferError) -> TransferReport {
    try await run(verifies: false, progress)
  }

  /// Copies the rest, verifies the target, and lets servers use it. No server may use either of the stores.
  /// - Parameters:
  ///   - leavingLosses: whether to end although snapshots are damaged or missing in the source, which the target
  ///     does not contain. Bundles that the source has set aside as damaged are no losses: they are copied as they are.
  ///   - prepare: called when all snapshots are copied, before servers may use the target. It can add to the report.
  /// - Returns: the report. If it has losses that were not accepted, the target can't be used by servers yet.
  package func finish(
    leavingLosses: Bool, _ progress: (TransferReport) -> Void = { _ in },
    preparing prepare: (inout TransferReport) async throws(TransferError) -> Void = { _ in }
  ) async throws(TransferError) -> TransferReport {
    var report = try await run(verifies: true, progress)
    guard report.lossCount == 0 || leavingLosses else { return report }
    try await prepare(&report)
    try await target.complete()
    return report
  }

  private func run(
    verifies: Bool, _ progress: (TransferReport) -> Void
  ) async throws(TransferError) -> TransferReport {
    let transfer = SnapshotTransfer(source: source, target: target, verifies: verifies)
    var report = TransferReport()
    for shard in SnapshotShard.allCases {
      let hasChanged = try await copy(shard, by: transfer, &report, progress)
      if hasChanged { try await target.flush() }
      report.share = Double(shard.firstByte) / 255
      progress(report)
    }
    return report
  }

  /// Copies what is new in a shard.
  /// - Returns: whether the target was changed.
  private func copy(
    _ shard: SnapshotShard, by transfer: SnapshotTransfer, _ report: inout TransferReport,
    _ progress: (TransferReport) -> Void
  ) async throws(TransferError) -> Bool {
    let (found, present) = (try await source.list(shard), try await target.contents.list(shard))
    var waiting = Set(found.keys).union(present.keys).sorted().makeIterator()
    var hasChanged = false
    var failure: TransferError?
    await withTaskGroup(of: (SnapshotID, Result<SnapshotTransfer.Outcome, TransferError>).self) { group in
      func addNext() {
        guard let id = waiting.next() else { return }
        let (found, present) = (found[id], present[id])
        group.addTask {
          do throws(TransferError) {
            return (id, .success(try await transfer.copy(id, found: found, present: present)))
          } catch {
            return (id, .failure(error))
          }
        }
      }
      for _ in 0..<Self.concurrentCopies { addNext() }
      for await (id, result) in group {
        switch result {
        case .success(let outcome):
          report.count(outcome, id)
          hasChanged = hasChanged || outcome.changesTarget
          progress(report)
          if failure == nil { addNext() }
        case .failure(let error): failure = failure ?? error
        }
      }
    }
    if let failure { throw failure }
    return hasChanged
  }
}

extension TransferReport {
  fileprivate mutating func count(_ outcome: SnapshotTransfer.Outcome, _ id: SnapshotID) {
    switch outcome {
    case .nothing: break
    case .deleted: deletions += 1
    case .lost(let kind): add(kind, id)
    case .bundle(let size, let change):
      add(size: size)
      switch change {
      case .none: break
      case .copied:
        copiedBundles += 1
        copiedBytes += size
      case .changedRecord: changedRecords += 1
      }
    case .kept(let size, _):
      add(size: size)
      add(.kept, id)
    }
  }
}
