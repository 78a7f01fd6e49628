import Dispatch
import HTTPEngine
import HTTPTypes
import SystemIO
import TestSupport
import Testing

@testable import SnapshotWeb

struct ComparisonQueueTests {
  /// Holds comparisons until it is opened.
  private final class Gate: Sendable {
    private let (stream, continuation) = AsyncStream<Void>.makeStream()

    func open() { continuation.finish() }
    func wait() async { for await _ in stream {} }
  }

  /// The weights of the comparisons that have begun, in order.
  private final class Begun: Sendable {
    private let list = Lock<[Int64]>([])

    var weights: [Int64] { list.withLock(\.self) }
    func add(_ weight: Int64) { list.withLock { $0.append(weight) } }
  }

  @Test func `as many comparisons run as there are workers, and the shortest of the others is next`()
    async throws
  {
    let (queue, gates) = (ComparisonQueue(workers: 2), [Gate(), Gate()])
    let begun = Begun()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for gate in gates {
        group.addTask {
          try await queue.perform(weight: 0) { _ in
            begun.add(0)
            await gate.wait()
          }
        }
      }
      try await eventually { begun.weights.count == 2 }
      for (index, weight) in ([3, 1, 2] as [Int64]).enumerated() {
        group.addTask {
          try await queue.perform(weight: weight) { _ in begun.add(weight) }
        }
        try await eventually { queue.waiting == index + 1 }
      }
      gates[0].open()
      try await eventually { begun.weights.count == 5 }
      #expect(begun.weights == [0, 0, 1, 2, 3])
      gates[1].open()
    }
  }

  @Test func `beyond the limit of waiting comparisons, one is refused with a time to retry`() async throws {
    let (queue, gate) = (ComparisonQueue(workers: 1), Gate())
    let begun = Begun()
    try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask {
        try await queue.perform(weight: 0) { _ in
          begun.add(0)
          await gate.wait()
          return 1
        }
      }
      try await eventually { !begun.weights.isEmpty }
      for index in 0..<16 {
        group.addTask { try await queue.perform(weight: 1) { _ in 1 } }
        try await eventually { queue.waiting == index + 1 }
      }
      let isAnswered = Lock(false)
      let refused = Task { () -> HTTPProblem? in
        defer { isAnswered.withLock { $0 = true } }
        do {
          try await queue.perform(weight: 0) { _ in }
          return nil
        } catch {
          return error as? HTTPProblem
        }
      }
      try await eventually { isAnswered.withLock(\.self) || queue.waiting > 16 }
      gate.open()
      let problem = await refused.value
      #expect(problem?.status.code == 503 && problem?.headerFields[.retryAfter] == "5")
      var answered = 0
      for try await one in group { answered += one }
      #expect(answered == 17)
    }
    #expect(try await queue.perform(weight: 0) { _ in true })
  }

  @Test
  func `a comparison whose client left while it waited is not made, and one that fails frees its worker`()
    async throws
  {
    let (queue, gate) = (ComparisonQueue(workers: 1), Gate())
    let begun = Begun()
    let first = Task {
      try await queue.perform(weight: 0) { _ in
        begun.add(0)
        await gate.wait()
        throw CancellationError()
      }
    }
    try await eventually { !begun.weights.isEmpty }
    let left = Task { try await queue.perform(weight: 0) { _ in Issue.record("It was made.") } }
    try await eventually { queue.waiting == 1 }
    left.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await left.value }
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(try await queue.perform(weight: 0) { _ in true })
  }
}
