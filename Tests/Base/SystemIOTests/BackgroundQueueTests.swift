import Foundation
import SystemIO
import Testing

@Suite struct BackgroundQueueTests {
  @Test func `work is done in order`() async {
    let queue = BackgroundQueue()
    let (done, doing) = AsyncStream<Int>.makeStream()
    for number in 0..<100 {
      queue.async { doing.yield(number) }
    }
    queue.async { doing.finish() }
    var seen: [Int] = []
    for await number in done { seen.append(number) }
    #expect(seen == Array(0..<100))
  }

  #if os(Linux)
    @Test func `its thread has a low priority, and other threads keep theirs`() async {
      let queue = BackgroundQueue()
      let priority: Int32 = await withCheckedContinuation { continuation in
        queue.async { continuation.resume(returning: Self.priority) }
      }
      #expect(priority == 19)
      #expect(Self.priority < 19)
    }

    private static var priority: Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
  #endif
}
