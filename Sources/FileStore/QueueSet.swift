import Dispatch
import Synchronization

/// A few serial queues for blocking work: never more threads than queues, and none of a shared pool is held up.
final class QueueSet: Sendable {
  private let queues: [DispatchQueue]
  private let turn = Atomic(0)

  init(_ label: String, count: Int, qos: DispatchQoS = .userInitiated) {
    queues = (0..<max(count, 1)).map { DispatchQueue(label: "file-store.\(label).\($0)", qos: qos) }
  }

  /// The queue whose turn it is.
  var next: DispatchQueue {
    queues[turn.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max % queues.count]
  }
}
