import Dispatch
import SystemIO

/// Runs blocking disk operations on a dispatch queue, so that they do not block the threads of Swift tasks.
struct DiskQueue: Sendable {
  private let queue = DispatchQueue(label: "snapshot.disk")

  /// Runs `work`. Its argument returns whether the task has been cancelled.
  func run<Value: Sendable>(
    _ work: @escaping @Sendable (_ isCancelled: () -> Bool) throws(SnapshotClientError) -> Value
  ) async throws(SnapshotClientError) -> Value {
    let isCancelled = Lock(false)
    let result = await withTaskCancellationHandler {
      await queue.perform { Result { () throws(SnapshotClientError) in try work { isCancelled.value } } }
    } onCancel: {
      isCancelled.set(true)
    }
    return try result.get()
  }
}
