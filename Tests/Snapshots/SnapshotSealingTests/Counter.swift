import SystemIO

/// A sum that several threads add to.
final class Counter: Sendable {
  private let sum = Lock(0)

  var count: Int { sum.withLock { $0 } }

  func add(_ number: Int) { sum.withLock { $0 += number } }
}
