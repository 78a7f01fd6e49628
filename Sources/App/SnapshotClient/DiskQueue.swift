import Dispatch
import Synchronization
import SystemIO

/// Runs blocking disk operations on a dispatch queue, so that they do not block the threads of Swift tasks.
struct DiskQueue: Sendable {
  private let queue = DispatchQueue(label: "snapshot.disk")

  /// Runs `work`. Its argument returns whether the task has been cancelled.
  func run<Value: Sendable>(
    _ work: @escaping @Sendable (_ isCancelled: () -> Bool) throws(SnapshotClientError) -> Value
  ) async throws(SnapshotClientError) -> Value {
    let flag = CancellationFlag()
    let result = await withTaskCancellationHandler {
      await queue.perform { Result { () throws(SnapshotClientError) in try work { flag.isSet } } }
    } onCancel: {
      flag.set()
    }
    return try result.get()
  }
}

private final class CancellationFlag: Sendable {
  private let value = Atomic<Bool>(false)

  var isSet: Bool { value.load(ordering: .relaxed) }

  func set() { value.store(true, ordering: .relaxed) }
}
