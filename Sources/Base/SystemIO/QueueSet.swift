public import Dispatch

/// A fixed number of serial queues for blocking work. It uses at most one thread per queue and does not block threads
/// of a shared pool.
public final class QueueSet: Sendable {
  private let queues: [DispatchQueue]
  private let turn = Lock(0)

  /// Creates `count` queues, at least one, named `label` followed by a number.
  public init(_ label: String, count: Int, qos: DispatchQoS = .userInitiated) {
    queues = (0..<max(count, 1)).map { DispatchQueue(label: "\(label).\($0)", qos: qos) }
  }

  /// The next queue in turn (round-robin).
  public var next: DispatchQueue {
    queues[turn.add(1) % queues.count]
  }

  /// Returns when all work is done that was added to any of the queues before.
  package func settle() async {
    for queue in queues { await queue.perform {} }
  }

  /// Calls `work` for every index below `count`, concurrently on the queues and on the calling thread. Blocks until all
  /// calls have returned. Because the calling thread takes part, this completes even if the process cannot create
  /// another thread.
  public func perform(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
    let shared = SharedWork(count, work)
    for _ in 0..<max(min(count - 1, queues.count), 0) { next.async { shared.takePart() } }
    shared.takePart()
    shared.wait()
  }
}

/// Work items that several threads share.
private final class SharedWork: Sendable {
  private let count: Int
  private let work: @Sendable (Int) -> Void
  private let taken = Lock(0)
  private let unfinished = DispatchGroup()

  init(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
    self.count = count
    self.work = work
    for _ in 0..<count { unfinished.enter() }
  }

  /// Runs the items that no other thread has taken.
  func takePart() {
    while true {
      let index = taken.add(1) - 1
      guard index < count else { return }
      work(index)
      unfinished.leave()
    }
  }

  /// Waits until all items are done. Call it after ``takePart()``: every item has then been taken.
  func wait() { unfinished.wait() }
}

extension DispatchQueue {
  /// Runs blocking work on this queue without blocking the caller's executor. This is the only bridge from tasks to
  /// Dispatch. Cancelling the task does not end the wait.
  package func perform<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
      self.async { continuation.resume(returning: Result(catching: work)) }
    }
    return try result.get()
  }
}
