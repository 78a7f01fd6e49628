import Foundation
import Logging
import SnapshotFormat
import SnapshotStore
import SystemIO

/// Checks bundles after their uploads were answered, in slices and the shortest first, and records the results: several
/// at a time while bundles wait.
final class LateVerification: Sendable {
  /// The bundles whose checksums are not verified.
  private struct Unverified {
    var ids: Set<SnapshotID> = []
    /// Whether `ids` also has those that the last run left.
    var isComplete = false
  }

  /// The result of a check.
  private struct Verdict {
    /// The record with the result.
    var record: SnapshotRecord
    /// Whether there was no file to check.
    var isLoss = false
  }

  private let folder: StorageFolder
  private let committer: Committer
  private let changes: BundleChanges
  private let validate: UploadValidator.Validator
  private let onVerification: @Sendable (SnapshotRecord) async -> Void
  /// Reads the records of the bundles to check, and checks them. No client waits for it.
  let queue: BackgroundQueue
  private let checks: CheckQueue
  /// Results that are held back, to be recorded together with those of further bundles.
  private let held = Lock<[Verdict]>([])
  /// The results to be recorded. Each group is recorded together.
  private let verdicts: (stream: AsyncStream<[Verdict]>, continuation: AsyncStream<[Verdict]>.Continuation)
  private let settling = Lock<Task<Void, Never>?>(nil)
  private let unverified = Lock(Unverified())
  private let resumptionHasFailed = Lock(false)

  /// - Parameters:
  ///   - validate: checks a bundle that is stored already.
  ///   - onVerification: called with each record whose checksums were verified.
  init(
    _ folder: StorageFolder, committer: Committer, changes: BundleChanges, on queue: BackgroundQueue,
    validate: @escaping UploadValidator.Validator,
    onVerification: @escaping @Sendable (SnapshotRecord) async -> Void
  ) {
    self.folder = folder
    self.committer = committer
    self.changes = changes
    self.validate = validate
    self.onVerification = onVerification
    self.queue = queue
    checks = CheckQueue(on: queue)
    verdicts = AsyncStream.makeStream()
  }

  deinit { verdicts.continuation.finish() }

  /// The number of bundles that wait for their next slice.
  var waiting: Int { checks.waiting }

  /// The bundles whose checksums are not verified; `nil` if those that the last run left are not all known.
  var unverifiedBundles: [SnapshotID]? {
    unverified.withLock { $0.isComplete ? $0.ids.sorted() : nil }
  }

  /// Starts recording results.
  func start() { settling.withLock { $0 = settleVerdicts() } }

  /// Stops the checks, and returns when no result is being recorded any more.
  func close() async {
    let task = settling.withLock { $0.take() }
    task?.cancel()
    await task?.value
    checks.removeAll()
  }

  /// Enqueues the check of a bundle's checksums. Shorter checks go first.
  func add(_ id: SnapshotID) {
    addUnverified(id)
    queue.async { [weak self] in self?.beginCheck(of: id) }
  }

  /// Records that the checksums of a bundle are to be verified, also if the store is closed before ``add(_:)`` is called.
  func addUnverified(_ id: SnapshotID) { unverified.withLock { _ = $0.ids.insert(id) } }

  /// Resumes the checks that the last run left pending in one shard.
  func resume(_ shard: SnapshotShard) {
    queue.async { [weak self, storage = folder] in
      do {
        for id in try storage.layout.published(in: storage.layout.folder(of: shard)) {
          if storage.isKnownLoss(id) {
            self?.settleDamage(of: id, isLoss: true)
          } else {
            self?.beginCheck(of: id)
          }
        }
      } catch {
        self?.resumptionHasFailed.set(true)
        storage.logger.error("Could not look for pending bundles", metadata: ["error": "\(error)"])
      }
    }
  }

  /// Call it after all checks that the last run left pending were resumed.
  func endResumption() {
    queue.async { [weak self] in
      guard let self, !resumptionHasFailed.value else { return }
      unverified.withLock { $0.isComplete = true }
    }
  }

  /// The most results that are recorded at once.
  private static let recordedAtOnce = 32

  /// Records results until the task is cancelled or the store is deallocated.
  private func settleVerdicts() -> Task<Void, Never> {
    Task(priority: .background) { [weak self, verdicts = verdicts.stream] in
      for await group in verdicts {
        // All at once, because changes that wait at the same time share a flush of the disk.
        await withTaskGroup(of: Void.self) { tasks in
          for verdict in group { tasks.addTask { await self?.settle(verdict) } }
        }
      }
    }
  }

  /// Starts the check of a bundle, unless it is known to be intact or is out of use already. Blocks: call on ``queue``
  /// only.
  private func beginCheck(of id: SnapshotID) {
    do {
      try committer.requireOpen()
      let record = try folder.layout.storedRecord(id)
      guard record.verified != .intact, try !folder.layout.isOutOfUse(id) else { return removeUnverified(id) }
      unverified.withLock { _ = $0.ids.insert(id) }
      let zip = URL(filePath: folder.layout.path(.bundle, of: id))
      let job = CheckJob(zip, size: record.size, by: validate) { [weak self] result in
        self?.judge(record, result)
        self?.releaseVerdicts()
      }
      checks.add(job)
    } catch {
      report(error, of: id)
    }
  }

  /// Keeps the result of a check, to be recorded.
  private func judge(_ record: SnapshotRecord, _ result: Result<CheckJob.Outcome, BundleError>) {
    var record = record
    do throws(StoreError) {
      try committer.requireOpen()
      do throws(BundleError) {
        record.problemCount = try result.get().summary.problemCount
        record.verified = .intact
      } catch {
        // The limit may have been lowered since the bundle was accepted, so this is not damage.
        if error.systemFailure != nil || error.isOverLimit { throw StoreError(error) }
        folder.logger.error("A bundle is damaged", metadata: ["id": "\(record.id)", "reason": "\(error)"])
        record.verified = .damaged
      }
      held.withLock { $0.append(Verdict(record: record)) }
    } catch {
      report(error, of: record.id)
    }
  }

  /// Has the results recorded that are held back, unless further bundles are about to be checked: results that are
  /// recorded together share their flushes. A damaged bundle does not wait.
  private func releaseVerdicts() {
    let isIdle = checks.waiting == 0
    let released: [Verdict] = held.withLock { held in
      guard
        isIdle || held.count >= Self.recordedAtOnce
          || held.contains(where: { $0.record.verified == .damaged })
      else { return [] }
      defer { held = [] }
      return held
    }
    if !released.isEmpty { verdicts.continuation.yield(released) }
  }

  /// Records a result. From here on, a damaged bundle is not served.
  private func settle(_ verdict: Verdict) async {
    let (id, verified) = (verdict.record.id, verdict.record.verified)
    do {
      let record =
        verified == .damaged
        ? try await changes.setAside(id, isLost: verdict.isLoss)
        : try await changes.change(
          RecordChange(verified: verified, problemCount: verdict.record.problemCount), of: id)
      removeUnverified(id)
      await onVerification(record)
    } catch {
      report(error, of: id)
    }
  }

  /// Has a bundle set aside that can't be served as its record describes, or records that it is lost. A bundle whose record
  /// is damaged stays in place. Blocks.
  func setAsideLater(_ id: SnapshotID) {
    guard !folder.isKnownLoss(id) else { return }
    do {
      if try folder.layout.isOutOfUse(id) {
        guard try folder.layout.isLost(id) else { return }
        let size = try folder.layout.storedRecord(id).size
        guard folder.recordLoss(of: id, counted: size) else { return }
      }
      settleDamage(of: id, isLoss: folder.isKnownLoss(id))
    } catch {
      report(error, of: id)
    }
  }

  /// Has a bundle recorded as damaged. Blocks.
  private func settleDamage(of id: SnapshotID, isLoss: Bool) {
    do {
      var record = try folder.layout.storedRecord(id)
      record.verified = .damaged
      verdicts.continuation.yield([Verdict(record: record, isLoss: isLoss)])
    } catch {
      report(error, of: id)
    }
  }

  /// Records that a bundle has its file, which can have been copied back by hand.
  func recordFound(_ record: SnapshotRecord) async {
    guard folder.endLoss(of: record.id) else { return }
    folder.quotaTracker.add(StoreUsage(bundles: 1, bytes: record.size))
    await onVerification(record)
  }

  private func removeUnverified(_ id: SnapshotID) { unverified.withLock { _ = $0.ids.remove(id) } }

  private func report(_ failure: StoreError, of id: SnapshotID) {
    switch failure {
    case .deleted, .notFound:
      removeUnverified(id)
      folder.logger.debug("The bundle was deleted before it was verified", metadata: ["id": "\(id)"])
    default:
      folder.logger.warning(
        "Could not verify a bundle; it stays pending until the next start",
        metadata: ["id": "\(id)", "error": "\(failure)"])
    }
  }
}
