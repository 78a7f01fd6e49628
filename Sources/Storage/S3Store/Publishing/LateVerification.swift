import Foundation
import Logging
import SnapshotFormat
import SnapshotStore
import SystemIO

/// Checks bundles after their uploads were answered, from the files with which they were uploaded, the shortest first.
///
/// A bundle whose server ends before remains marked as pending.
final class LateVerification: Sendable {
  private let states: SnapshotStates
  private let validate: UploadValidator.Validator
  private let onVerification: @Sendable (SnapshotRecord) async -> Void
  private let logger: Logger
  private let checks: CheckQueue
  private let tasks = Lock<(isClosed: Bool, running: [SnapshotID: Task<Void, Never>])>((false, [:]))

  /// - Parameters:
  ///   - validate: checks a bundle that is stored already.
  ///   - onVerification: called with each record whose checksums were verified.
  init(
    _ states: SnapshotStates, on queue: BackgroundQueue, validate: @escaping UploadValidator.Validator,
    logger: Logger,
    onVerification: @escaping @Sendable (SnapshotRecord) async -> Void
  ) {
    self.states = states
    self.validate = validate
    self.logger = logger
    self.onVerification = onVerification
    checks = CheckQueue(on: queue)
  }

  /// Checks a published bundle in the background, and removes its file then.
  func add(_ record: SnapshotRecord, in staged: StagedUpload) {
    let id = record.id
    tasks.withLock { tasks in
      guard !tasks.isClosed else { return }
      tasks.running[id] = Task(priority: .background) { [self] in
        await verify(record, in: staged)
        staged.remove()
        self.tasks.withLock { $0.running[id] = nil }
      }
    }
  }

  private func verify(_ record: SnapshotRecord, in staged: StagedUpload) async {
    do {
      let upload = try await staged.whole()
      let (verdict, problemCount) = try await check(upload)
      if verdict == .damaged { logger.error("A bundle is damaged", metadata: ["id": "\(record.id)"]) }
      let (former, _) = try await states.change(record.id) { (record, attempt) throws(StoreError) in
        // A bundle that was set aside meanwhile remains so.
        guard record.verified == .pending else { return .keep }
        return .write(.published(record.changed(to: verdict, problemCount: problemCount), by: attempt))
      }
      if former.verified == .pending {
        await onVerification(former.changed(to: verdict, problemCount: problemCount))
      }
    } catch {
      switch error {
      case .deleted, .notFound: break
      default:
        logger.warning(
          "Could not verify a bundle; it stays pending",
          metadata: ["id": "\(record.id)", "error": "\(error)"])
      }
    }
  }

  private func check(_ upload: StagedUpload.Whole) async throws(StoreError) -> (
    SnapshotRecord.Verification, problemCount: Int?
  ) {
    do {
      let outcome = try await checks.check(upload.file, size: upload.size, by: validate)
      return (.intact, outcome.summary.problemCount)
    } catch {
      // The limit may have been lowered since the bundle was accepted, so this is not damage.
      if error.systemFailure != nil || error.isOverLimit { throw StoreError(error) }
      return (.damaged, nil)
    }
  }

  /// Returns when no result is being recorded any more.
  func close() async {
    let running = tasks.withLock { tasks in
      tasks.isClosed = true
      return tasks.running.values
    }
    for task in running { await task.value }
  }
}
