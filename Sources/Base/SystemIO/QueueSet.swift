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

  /// Does `work` for every index below `count`, as many at once as there are queues and this thread. Blocks until all is
  /// done, and takes part: it ends even where the process may have no thread more.
  public func perform(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
    let shared = SharedWork(count, work)
    for _ in 0..<max(min(count - 1, queues.count), 0) { next.async { shared.takePart() } }
    shared.takePart()
    shared.wait()
  }
}

/// Work that several threads take pieces of.
private final class SharedWork: Sendable {
  private let count: Int
  private let work: @Sendable (Int) -> Void
  private let taken = Atomic(0)
  private let unfinished = DispatchGroup()

  init(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
    self.count = count
    self.work = work
    for _ in 0..<count { unfinished.enter() }
  }

  /// Does whatever nobody else has taken.
  func takePart() {
    while true {
      let index = taken.wrappingAdd(1, ordering: .relaxed).oldValue
      guard index < count else { return }
      work(index)
      unfinished.leave()
    }
  }

  /// Returns when all of it is done; what was taken is being done by then.
  func wait() { unfinished.wait() }
}
