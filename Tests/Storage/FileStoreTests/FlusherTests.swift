import Foundation
import SystemIO
import TestSupport
import Testing

@testable import FileStore

@Suite struct FlusherTests {
  /// A volume that counts its flushes, and fails on request.
  private final class Disk: Sendable {
    private let state = Lock((count: 0, isFailing: false))

    var count: Int { state.withLock { $0.count } }

    func fail(_ isFailing: Bool) { state.withLock { $0.isFailing = isFailing } }

    func flush() throws(SystemError) {
      let isFailing = state.withLock { state in
        state.count += 1
        return state.isFailing
      }
      if isFailing { throw SystemError(operation: "syncfs", code: POSIXErrorCode.EIO.rawValue) }
    }
  }

  private let disk = Disk()
  private let folder: TemporaryFolder
  private let flusher: Flusher

  init() throws {
    folder = try TemporaryFolder()
    flusher = Flusher(on: QueueSet("flusher", count: 2)) { [disk] () throws(SystemError) in try disk.flush() }
  }

  private func callers(_ count: Int) -> [[Flusher.Target]] {
    Array(repeating: [.folder(folder.path)], count: count)
  }

  @Test func `with few callers each file is flushed separately`() {
    #expect(flusher.flush(callers(Flusher.sharedFrom - 1)) == [nil, nil])
    #expect(disk.count == 0)
  }

  @Test(arguments: [Flusher.sharedFrom, Flusher.sharedFrom + 1, 64])
  func `from the limit on, callers share one flush`(count: Int) {
    #expect(flusher.flush(callers(count)).allSatisfy { $0 == nil })
    #expect(disk.count == 1)
  }

  @Test func `without a volume every caller's files are flushed separately and fail separately`() {
    let flusher = Flusher(on: QueueSet("flusher", count: 2), flushAll: nil)
    let failures = flusher.flush(callers(4) + [[.folder(folder.path + "/none")]])
    #expect(failures.map { $0 != nil } == [false, false, false, false, true])
  }

  @Test(arguments: 0..<3)
  func `a caller gets the failure of any of its files`(place: Int) {
    let flusher = Flusher(on: QueueSet("flusher", count: 2), flushAll: nil)
    var targets = Array(repeating: Flusher.Target.folder(folder.path), count: 3)
    targets[place] = .folder(folder.path + "/none")
    let failures = flusher.flush([targets] + callers(1))
    #expect(failures.map { $0?.isNotFound } == [true, nil])
  }

  @Test func `a failed shared flush fails all callers, and all that had begun to write before it`()
    async throws
  {
    let epoch = flusher.epoch
    disk.fail(true)
    #expect(flusher.flush(callers(Flusher.sharedFrom)).allSatisfy { $0?.code == POSIXErrorCode.EIO.rawValue })
    disk.fail(false)
    await #expect(throws: SystemError.self) { try await flusher.flush([], since: epoch) }
    await #expect(throws: Never.self) { try await flusher.flush([], since: flusher.epoch) }
  }

  /// Each flusher waits for work on threads that may be fewer than the flushers.
  @Test(.timeLimit(.minutes(5))) func `more flushers than threads complete`() async {
    let targets = Array(repeating: Flusher.Target.folder(folder.path), count: 4)
    let failures = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<600 {
        group.addTask {
          let flusher = Flusher(on: QueueSet("flusher", count: 4), flushAll: nil)
          do throws(SystemError) {
            try await flusher.flush(targets, since: flusher.epoch)
            return false
          } catch {
            return true
          }
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(failures == 0)
  }

  @Test func `a closed flusher refuses flushes`() async {
    await flusher.close()
    await #expect(throws: SystemError.self) { try await flusher.flush([], since: flusher.epoch) }
  }
}
