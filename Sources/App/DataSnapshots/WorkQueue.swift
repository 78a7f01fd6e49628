import Dispatch
import SystemIO

/// One thread's worth of work that blocks, in order, off the threads that run Swift's tasks.
struct WorkQueue: Sendable {
  private let queue: DispatchQueue
  private let key = DispatchSpecificKey<Bool>()

  init(_ name: String) {
    queue = DispatchQueue(label: "data-snapshots.\(name)", qos: .utility)
    queue.setSpecific(key: key, value: true)
  }

  /// Whether the calling code runs here.
  var isCurrent: Bool { DispatchQueue.getSpecific(key: key) ?? false }

  /// Runs `body` after everything that was handed over before.
  func async(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  /// Runs `body` after everything that was handed over before, and waits for it, blocking.
  func sync<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    try queue.sync { Result { () throws(Failure) in try body() } }.get()
  }

  /// Runs `body` after everything that was handed over before, and waits for it.
  func run<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await queue.perform(body)
  }
}
