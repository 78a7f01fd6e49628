import Dispatch
import SystemIO
import Testing

@Suite struct FollowingExecutorTests {
  private struct Refusal: Error {}

  private let queue = DispatchQueue(label: "first")

  @Test func `work begins after the closures that were enqueued before`() async {
    let isDone = Lock(false)
    queue.async { isDone.set(true) }
    #expect(await queue.following { isDone.value })
  }

  @Test func `work that waits for another queue blocks neither`() async {
    let other = DispatchQueue(label: "second")
    let sum = await queue.following {
      let number = await other.perform { 1 }
      return await queue.perform { number + 1 }
    }
    #expect(sum == 2)
  }

  @Test func `an error is thrown to the caller`() async {
    await #expect(throws: Refusal.self) {
      try await queue.following { () async throws(Refusal) -> Int in throw Refusal() }
    }
  }
}
