import Dispatch
import Foundation
import SnapshotStore
import Synchronization

/// The one writer: what waits at the same time is done together.
final class WriteQueue: Sendable {
  enum Change: Sendable {
    case insert([PreparedRecord])
    case remove(Data)
  }

  struct Waiting: Sendable {
    let change: Change
    let finish: @Sendable (CatalogError?) -> Void
  }

  let queue = DispatchQueue(label: "sqlite-catalog.writer", qos: .userInitiated)
  private let waiting = Mutex<[Waiting]>([])

  /// Returns when `work` has done the change together with others that wait.
  func perform(
    _ change: Change, _ work: @escaping @Sendable ([Waiting]) -> Void
  ) async throws(CatalogError) {
    let failure: CatalogError? = await withCheckedContinuation { continuation in
      let isFirst = waiting.withLock { waiting in
        waiting.append(Waiting(change: change) { continuation.resume(returning: $0) })
        return waiting.count == 1
      }
      if isFirst { queue.async { work(self.waiting.withLock { $0.take() }) } }
    }
    if let failure { throw failure }
  }
}

extension [WriteQueue.Waiting] {
  fileprivate mutating func take() -> Self {
    defer { self = [] }
    return self
  }
}
