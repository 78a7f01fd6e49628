public import Dispatch
import Synchronization

/// A few serial queues for blocking work: never more threads than queues, and none of a shared pool is held up.
public final class QueueSet: Sendable {
  private let queues: [DispatchQueue]
  private let turn = Atomic(0)

  /// So many queues, at least one, named `label` and a number each.
  public init(_ label: String, count: Int, qos: DispatchQoS = .userInitiated) {
    queues = (0..<max(count, 1)).map { DispatchQueue(label: "\(label).\($0)", qos: qos) }
  }

  /// The queue whose turn it is.
  public var next: DispatchQueue {
    queues[turn.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max % queues.count]
  }
}
