import Foundation
import S3Client
import S3Store
import S3Testing
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import Testing

/// Every request of an operation fails once, in every way: the operation then succeeds or fails as a whole, and can be
/// repeated.
@Suite struct S3BundleStoreFaultTests {
  private static let faults: [FakeS3Server.Fault] = [
    .failedAfterwards, .brokenAfterwards, .refused(status: 500, code: "InternalError"),
    .delayed, .refused(status: 503, code: "SlowDown"), .refused(status: 403, code: "AccessDenied"),
  ]

  @Test(arguments: faults, [1, 5])
  func `an upload is published or refused as a whole, and can be repeated`(
    fault: FakeS3Server.Fault, attempts: Int
  ) async throws {
    try await withFakeS3 { server in
      let node = try await S3Node(server, attempts: attempts) { $0.orphanAge = .zero }
      var isDone = false
      var number = 0
      while !isDone {
        let sample = SampleBundle(filling: "\(number)")
        let isHit = server.fail(after: number, fault)
        let word = await failure { try await node.store.upload(sample) }
        isDone = !isHit.isRaised
        server.inject(nil)
        #expect(word == nil || word == "unavailable")
        let isPublished = await failure { _ = try await node.store.record(sample.id) } == nil
        #expect(word != nil || isPublished)
        let again = try await node.store.upload(sample)
        if case .created = again { #expect(!isPublished) } else { #expect(isPublished) }
        #expect(try await node.store.open(sample.id).contents == sample.bytes)
        number += 1
      }
      #expect(number > 2)
      try await node.store.sweep()
      #expect(server.keys.count == 2 * number)
      await node.store.close()
    }
  }

  @Test(arguments: faults)
  func `a comment is added once, although its request failed and was repeated`(fault: FakeS3Server.Fault)
    async throws
  {
    try await withFakeS3 { server in
      let node = try await S3Node(server)
      let sample = SampleBundle()
      try await node.store.upload(sample)
      var texts: [String] = []
      var isDone = false
      while !isDone {
        let text = "\(texts.count)"
        let comment = try #require(SnapshotComment(text, writtenAt: Date()))
        let isHit = server.fail(after: texts.count, fault)
        let word = await failure {
          try await node.store.change(RecordChange(comment: comment), of: sample.id)
        }
        isDone = !isHit.isRaised
        server.inject(nil)
        if word != nil { try await node.store.change(RecordChange(comment: comment), of: sample.id) }
        texts.append(text)
        #expect(try await node.store.record(sample.id).comments?.map(\.text) == texts)
      }
      #expect(texts.count > 2)
      await node.store.close()
    }
  }

  @Test(arguments: faults)
  func `a deletion whose answer was lost succeeds, and is not reported as another's`(
    fault: FakeS3Server.Fault
  )
    async throws
  {
    try await withFakeS3 { server in
      let node = try await S3Node(server) { $0.orphanAge = .zero }
      var number = 0
      var isDone = false
      while !isDone {
        let sample = SampleBundle()
        try await node.store.upload(sample)
        let isHit = server.fail(after: number, fault)
        let word = await failure { try await node.store.delete(sample.id) }
        isDone = !isHit.isRaised
        server.inject(nil)
        #expect(word == nil || word == "unavailable")
        if word != nil { try await node.store.delete(sample.id) }
        #expect(await failure { _ = try await node.store.record(sample.id) } == "deleted")
        number += 1
      }
      #expect(number > 2)
      try await node.store.sweep()
      #expect(server.keys.count == number)
      await node.store.close()
    }
  }

  @Test func `the bytes of a bundle remain if it is unknown whether it was published`() async throws {
    try await withFakeS3 { server in
      let node = try await S3Node(server)
      let sample = SampleBundle()
      // The record is written, which is not answered, and can't be read then.
      let wasWritten = FaultFlag()
      server.inject { call in
        guard call.key.hasPrefix("records/") else { return nil }
        if call.method == "PUT" {
          wasWritten.raise()
          return .failedAfterwards
        }
        return wasWritten.isRaised ? .refused(status: 500, code: "InternalError") : nil
      }
      #expect(await failure { try await node.store.upload(sample) } == "unavailable")
      server.inject(nil)
      #expect(try await node.store.open(sample.id).contents == sample.bytes)
      await node.store.close()
    }
  }

  @Test func `a writer whose answer was lost recognizes its change after many others`() async throws {
    try await withFakeS3 { server in
      let other = try await S3Node(server)
      let sample = SampleBundle()
      try await other.store.upload(sample)
      func comment(_ text: String) -> RecordChange {
        RecordChange(comment: SnapshotComment(text, writtenAt: Date()))
      }
      let others = (0..<15).map { comment("\($0)") }
      // The writer pauses before it reads again.
      let duringPause = Lock<(@Sendable () async throws -> Void)?>(nil)
      let client = try S3Client.of(
        server, environment: S3Environment(sleep: { _ in try await duringPause.withLock { $0.take() }?() }))
      let node = try await S3Node(client)
      duringPause.withLock { pause in
        pause = { for change in others { try await other.store.change(change, of: sample.id) } }
      }
      let isHit = server.fail(after: 0, .failedAfterwards) { $0.isConditional }
      try await node.store.change(comment("own"), of: sample.id)
      #expect(isHit.isRaised)
      let texts = try await node.store.record(sample.id).comments?.map(\.text)
      #expect(texts == ["own"] + (0..<15).map(String.init))
      for node in [node, other] { await node.store.close() }
    }
  }

  @Test func `an upload is published although its conditional write conflicts for a while`() async throws {
    try await withFakeS3 { server in
      let node = try await S3Node(server, attempts: 1)
      let sample = SampleBundle()
      let left = Lock(7)
      server.inject { call in
        guard call.isConditional else { return nil }
        return left.withLock { left in
          left -= 1
          return left < 0 ? nil : .refused(status: 409, code: "ConditionalRequestConflict")
        }
      }
      try await node.store.upload(sample)
      left.withLock { $0 = 7 }
      #expect(try await node.store.change(RecordChange(isPinned: true), of: sample.id).isPinned)
      server.inject { $0.isConditional ? .refused(status: 409, code: "ConditionalRequestConflict") : nil }
      #expect(await failure { try await node.store.delete(sample.id) } == "unavailable")
      server.inject(nil)
      #expect(try await node.store.open(sample.id).contents == sample.bytes)
      await node.store.close()
    }
  }

  @Test func `the intent of a change that another server has made instead is removed`() async throws {
    try await withFakeS3 { server in
      let intents = InMemoryChangeIntents()
      let other = try await S3Node(server)
      let sample = SampleBundle()
      try await other.store.upload(sample)
      let duringPause = Lock<(@Sendable () async throws -> Void)?>(nil)
      let client = try S3Client.of(
        server, environment: S3Environment(sleep: { _ in try await duringPause.withLock { $0.take() }?() }))
      let node = try await S3Node(client) { $0.intents = intents }
      duringPause.withLock { pause in
        pause = { try await other.store.change(RecordChange(isPinned: true), of: sample.id) }
      }
      let isHit = server.fail(after: 0, .refused(status: 500, code: "InternalError")) { $0.isConditional }
      #expect(try await node.store.change(RecordChange(isPinned: true), of: sample.id).isPinned)
      #expect(isHit.isRaised && intents.all.count == 1)
      try await node.store.journal?.flush()
      #expect(intents.all.isEmpty)
      for node in [node, other] { await node.store.close() }
    }
  }

  @Test func `a bundle that could not be read can be read later`() async throws {
    try await withFakeS3 { server in
      let node = try await S3Node(server, attempts: 1)
      let sample = SampleBundle()
      try await node.store.upload(sample)
      for _ in 0..<2 {
        let isHit = server.fail(after: 0, .refused(status: 500, code: "InternalError")) { $0.isOfBytes }
        #expect(await failure { _ = try await node.store.open(sample.id) } == "unavailable")
        #expect(isHit.isRaised)
      }
      #expect(try await node.store.open(sample.id).contents == sample.bytes)
      await node.store.close()
    }
  }

  @Test func `an object store that fails is a fault, and nothing is done by half`() async throws {
    try await withFakeS3 { server in
      let node = try await S3Node(server)
      let sample = SampleBundle()
      try await node.store.upload(sample)
      let keys = server.keys
      #expect(await node.store.fault() == nil)
      server.inject { _ in .refused(status: 503, code: "ServiceUnavailable") }
      #expect(await node.store.fault() == .failing)
      #expect(await failure { _ = try await node.store.record(sample.id) } == "unavailable")
      #expect(await failure { _ = try await node.store.open(sample.id) } == "unavailable")
      #expect(await failure { try await node.store.upload(SampleBundle()) } == "unavailable")
      #expect(await failure { try await node.store.delete(sample.id) } == "unavailable")
      #expect(await failure { _ = try await node.store.allRecords() } == "unavailable")
      #expect(server.keys == keys)
      server.inject(nil)
      #expect(try await node.store.open(sample.id).contents == sample.bytes)
      await server.stop()
      #expect(await node.store.fault() == .notAnswering)
      #expect(await failure { _ = try await node.store.record(sample.id) } == "unavailable")
      await node.store.close()
    }
  }
}
