import Synchronization
import SystemIO
import TestSupport
import Testing

@testable import FileStore

@Suite struct FlusherTests {
  @Test func `what waits together is flushed in one go where the file system can do that`() async throws {
    let (folder, probe) = (try TemporaryFolder(), StepProbe())
    let volume = try Volume(of: folder.path)
    let flusher = Flusher(seams: probe.seams, volume: volume, count: 4)
    let (failures, alone) = try await flushTogether(32, flusher)
    #expect(failures == Array(repeating: nil, count: 32))
    #expect(alone == (volume == nil ? 32 : 0))
    #expect(probe.takeSeen().count == (volume == nil ? 33 : 2))
  }

  @Test func `where that fails each is flushed by itself`() async throws {
    let folder = try TemporaryFolder()
    // Elsewhere nothing is flushed in one go.
    guard let volume = try Volume(of: folder.path) else { return }
    let steps = Mutex(0)
    let seams = Seams(before: { _ throws(SystemError) in
      let step = steps.withLock { steps in
        steps += 1
        return steps
      }
      if step == 2 { throw SystemError(operation: "syncfs", code: 5) }
    })
    let flusher = Flusher(seams: seams, volume: volume, count: 4)
    let (failures, alone) = try await flushTogether(4, flusher, failing: [2])
    #expect(failures.map { $0?.code } == [nil, nil, 28, nil])
    #expect(alone == 4)
  }

  @Test func `a flush that fails is told to the one that asked for it`() async throws {
    let flusher = Flusher(seams: Seams(), volume: nil, count: 4)
    let (failures, alone) = try await flushTogether(5, flusher, failing: [1, 3])
    #expect(failures.map { $0?.code } == [nil, 28, nil, 28, nil])
    #expect(alone == 5)
  }

  /// Has so many flushes wait while another runs; answers what they ended with, and how many ran by themselves.
  private func flushTogether(
    _ count: Int, _ flusher: Flusher, failing: Set<Int> = []
  ) async throws -> (failures: [SystemError?], alone: Int) {
    let alone = Atomic(0)
    let tasks = Mutex<[Task<SystemError?, Never>]>([])
    try await flusher.flush { () throws(SystemError) in
      // Each of these waits when `Task.immediate` returns, because this flush is still under way.
      let waiting = (0..<count).map { index in
        Task.immediate { () async -> SystemError? in
          do throws(SystemError) {
            try await flusher.flush { () throws(SystemError) in
              alone.add(1, ordering: .relaxed)
              if failing.contains(index) { throw SystemError(operation: "fsync", code: 28) }
            }
            return nil
          } catch {
            return error
          }
        }
      }
      tasks.withLock { $0 = waiting }
    }
    var failures: [SystemError?] = []
    for task in tasks.withLock({ $0 }) { failures.append(await task.value) }
    return (failures, alone.load(ordering: .relaxed))
  }
}
