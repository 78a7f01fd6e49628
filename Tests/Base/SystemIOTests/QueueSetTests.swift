import Dispatch
import SystemIO
import Testing

@Suite struct QueueSetTests {
  @Test(arguments: [0, 1, 2, 3, 4, 100]) func `every item is done exactly once`(count: Int) {
    let done = Lock([Int]())
    QueueSet("test", count: 3).perform(count) { index in done.withLock { $0.append(index) } }
    #expect(done.withLock { $0.sorted() } == Array(0..<count))
  }

  @Test func `items are done concurrently, on the queues and on the calling thread`() {
    let missing = DispatchGroup()
    let arrived = Lock(0)
    for _ in 0..<3 { missing.enter() }
    QueueSet("test", count: 2).perform(3) { _ in
      missing.leave()
      // If the items ran one after the other, they would never finish.
      missing.wait()
      arrived.withLock { $0 += 1 }
    }
    #expect(arrived.withLock { $0 } == 3)
  }
}
