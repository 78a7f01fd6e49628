import Dispatch
import SystemIO
import Testing

@Suite struct LockTests {
  private struct Refusal: Error {}
  private final class Guarded: Sendable {}

  @Test func `no change of concurrent threads is lost`() {
    let sum = Lock(0)
    let texts = Lock([String]())
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for number in 0..<1000 {
        sum.add(1)
        texts.withLock { $0.append("\(number)") }
      }
    }
    #expect(sum.value == 8000)
    #expect(texts.withLock(\.count) == 8000)
  }

  @Test func `what the closure throws is thrown, and the lock is free again`() {
    let lock = Lock(1)
    #expect(throws: Refusal.self) {
      try lock.withLock { value throws(Refusal) in
        value = 2
        throw Refusal()
      }
    }
    #expect(lock.value == 2)
  }

  @Test func `values are replaced and counted`() {
    let lock = Lock(1)
    lock.set(2)
    #expect(lock.exchange(5) == 2)
    #expect(lock.add(-4) == 1)
    #expect(lock.value == 1)
  }

  @Test func `the value ends with its lock`() {
    weak var guarded: Guarded?
    do {
      let lock = Lock(Guarded())
      guarded = lock.value
      #expect(guarded != nil)
    }
    #expect(guarded == nil)
  }
}
