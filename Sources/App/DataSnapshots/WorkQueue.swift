import Dispatch
import SystemIO

/// A serial queue for blocking work, which keeps it off the threads that run Swift tasks.
struct WorkQueue: Sendable {
  private let queue: DispatchQueue
  private let key = DispatchSpecificKey<Bool>()

  init(_ name: String, priority: DispatchQoS = .utility) {
    queue = DispatchQueue(label: "data-snapshots.\(name)", qos: priority)
    queue.setSpecific(key: key, value: true)
  }

  /// Whether the calling code runs on this queue.
  var isCurrent: Bool { DispatchQueue.getSpecific(key: key) ?? false }

  /// Runs `body` after all work added before.
  func async(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  /// Runs `body` after all work added before. Blocks the calling thread until it has finished.
  func sync<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    try queue.sync { Result { () throws(Failure) in try body() } }.get()
  }

  /// Runs `body` after all work added before, and suspends until it has finished.
  func run<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await queue.perform(body)
  }
}
