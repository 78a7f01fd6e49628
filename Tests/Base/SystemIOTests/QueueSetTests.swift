import Dispatch
import Synchronization
import SystemIO
import Testing

@Suite struct QueueSetTests {
  @Test(arguments: [0, 1, 2, 3, 4, 100]) func `every piece is done once before it returns`(count: Int) {
    let done = Mutex([Int]())
    QueueSet("test", count: 3).perform(count) { index in done.withLock { $0.append(index) } }
    #expect(done.withLock { $0.sorted() } == Array(0..<count))
  }

  @Test func `pieces are done at the same time, on the queues and on the thread that asks`() {
    let missing = DispatchGroup()
    let arrived = Mutex(0)
    for _ in 0..<3 { missing.enter() }
    QueueSet("test", count: 2).perform(3) { _ in
      missing.leave()
      // One after the other they would never end.
      missing.wait()
      arrived.withLock { $0 += 1 }
    }
    #expect(arrived.withLock { $0 } == 3)
  }
}
