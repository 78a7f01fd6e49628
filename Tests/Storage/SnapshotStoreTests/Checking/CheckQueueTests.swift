import FileStore
import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct CheckQueueTests {
  /// A worker that does a step on request.
  private final class Steps: Sendable {
    private let waiting = Lock<[@Sendable () -> Void]>([])

    var worker: CheckQueue.Worker {
      CheckQueue.Worker { step in self.waiting.withLock { $0.append(step) } }
    }

    /// Does the next step; `false` if there is none.
    func step() -> Bool {
      let step = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      step?()
      return step != nil
    }
  }

  /// The names of bundles in the order in which their checks ended.
  private final class Ends: Sendable {
    private let names = Lock<[String]>([])
    var all: [String] { names.withLock { $0 } }
    func add(_ name: String) { names.withLock { $0.append(name) } }
  }

  private let folder: TemporaryFolder
  private let steps = Steps()
  private let ends = Ends()

  init() throws { folder = try TemporaryFolder() }

  private func job(_ name: String, size: Int) throws -> CheckJob {
    try folder.write(Data((0..<size).map { _ in UInt8.random(in: 0...255) }), to: "\(name)/file")
    let (manifest, zip) = (SampleBundle.manifest(SnapshotID()), folder.file(name + ".zip"))
    let packed = try SnapshotBundle.pack(
      plainFolder: folder.file(name), application: manifest.application, device: manifest.device, to: zip)
    return CheckJob(zip, size: packed.size, by: UploadValidator().validate) { [ends] result in
      switch result {
      case .success(let outcome): ends.add(outcome.summary.recordingCount == 1 ? name : "wrong")
      case .failure(let error): ends.add("\(error)")
      }
    }
  }

  @Test func `a small bundle that arrives later is done before a large one continues`() throws {
    let queue = CheckQueue([steps.worker])
    queue.add(try job("large", size: 9 << 20))
    // Weighed, its structure checked, and one slice of its contents.
    for _ in 0..<3 { #expect(steps.step()) }
    queue.add(try job("small", size: 1000))
    queue.add(try job("medium", size: 3 << 20))
    for _ in 0..<3 { #expect(steps.step()) }
    #expect(ends.all == ["small"])
    for _ in 0..<4 { #expect(steps.step()) }
    #expect(ends.all == ["small", "medium"])
    while steps.step() {}
    #expect(ends.all == ["small", "medium", "large"])
    #expect(queue.waiting == 0)
  }

  @Test func `a check that turns out to be long is passed to a worker that accepts it`() throws {
    let long = Steps()
    var short = steps.worker
    short.most = 1 << 20
    let queue = CheckQueue([short, long.worker])
    // About 4 KB that inflate to 3 MB.
    let text = Data(String(repeating: "news ", count: 600_000).utf8)
    try folder.write(text, to: "text/file")
    let (manifest, zip) = (SampleBundle.manifest(SnapshotID()), folder.file("text.zip"))
    let packed = try SnapshotBundle.pack(
      plainFolder: folder.file("text"), application: manifest.application, device: manifest.device, to: zip)
    queue.add(
      CheckJob(zip, size: packed.size, by: UploadValidator().validate) { [ends] _ in ends.add("text") }
    )
    while steps.step() {}
    #expect(ends.all.isEmpty)
    while long.step() {}
    #expect(ends.all == ["text"])
  }

  @Test func `waiting checks are dropped when the queue is closed`() throws {
    let queue = CheckQueue([steps.worker])
    queue.add(try job("one", size: 100))
    queue.removeAll()
    while steps.step() {}
    #expect(ends.all.isEmpty && queue.waiting == 0)
  }

  @Test func `a thousand checks on several threads all end`() async throws {
    let queue = CheckQueue(on: QueueSet("checker", count: 3))
    let samples = (0..<100).map { SampleBundle($0 % 3 == 0 ? .damaged : .intact, filling: "\($0)") }
    for sample in samples { try folder.write(Data(sample.bytes), to: "\(sample.id)") }
    let intact = await withTaskGroup(of: Bool.self) { group in
      for index in 0..<1000 {
        let sample = samples[index % samples.count]
        group.addTask {
          do throws(BundleError) {
            let checked = try await queue.check(
              folder.file("\(sample.id)"), size: Int64(index) << 16, by: SampleBundle.validate)
            return checked.summary.manifest.id == sample.id
          } catch {
            return false
          }
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(intact == 660)
    #expect(queue.waiting == 0)
  }

  @Test(arguments: [false, true])
  func `a small upload is answered while large ones are blocked`(expected: Bool) async throws {
    let storage = try StorageFixture()
    let gate = DispatchSemaphore(value: 0)
    let (starts, started) = AsyncStream<Void>.makeStream()
    let store = try await storage.open { configuration in
      configuration.validator.validate = { zip, depth throws(BundleError) in
        let size: Int64
        do throws(SystemError) { size = try Folder.size(of: zip.path) } catch { throw .system(error) }
        if size > CheckQueue.shortWeight {
          started.yield()
          gate.wait()
        }
        return try SampleBundle.validate(zip, depth)
      }
    }
    let large = (0..<8).map { SampleBundle(filling: "\($0)", count: 5 << 20) }
    try await withThrowingTaskGroup { group in
      for sample in large { group.addTask { _ = try await store.upload(sample, expected: expected) } }
      var start = starts.makeAsyncIterator()
      for _ in 0..<2 { await start.next() }
      for index in 0..<8 {
        let small = SampleBundle(filling: "\(index)")
        #expect(try await store.upload(small).record.id == small.id)
      }
      // Two for each bundle, which may be checked again after the answer.
      for _ in 0..<(2 * large.count) { gate.signal() }
      try await group.waitForAll()
    }
    await store.close()
  }
}
