import SnapshotFormat
import SnapshotStore
import SystemIO

/// A target that stops before one of its changes, and does nothing afterwards: like a run that is killed there.
final class StoppingTarget: MigrationTarget {
  private let target: any MigrationTarget
  private let steps: Lock<Int>

  /// - Parameter steps: the number of changes before it stops.
  init(_ target: any MigrationTarget, after steps: Int) {
    self.target = target
    self.steps = Lock(steps)
  }

  private func step() throws(TransferError) {
    let left = steps.withLock { steps in
      steps -= 1
      return steps
    }
    if left < 0 { throw .unavailable("stopped") }
  }

  var contents: any MigratedSnapshots { target.contents }

  func publish(_ record: SnapshotRecord, _ bundle: LocalBundle) async throws(TransferError) -> Bool {
    try step()
    return try await target.publish(record, bundle)
  }

  func replaceRecord(with record: SnapshotRecord) async throws(TransferError) {
    try step()
    try await target.replaceRecord(with: record)
  }

  func delete(_ id: SnapshotID) async throws(TransferError) {
    try step()
    try await target.delete(id)
  }

  func flush() async throws(TransferError) {
    try step()
    try await target.flush()
  }

  func complete() async throws(TransferError) {
    try step()
    try await target.complete()
  }
}
