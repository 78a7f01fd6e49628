import Crypto
import Foundation
import HTTPEngine
import Observability
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import SnapshotService
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@testable import AccessControl

@Suite struct UploadServiceTests {
  private let bundle: ZippedSample
  private var bytes: [UInt8] { bundle.bytes }
  private var size: Int64 { Int64(bytes.count) }

  init() throws { bundle = try ZippedSample(String(repeating: "news ", count: 2000)) }

  private func caller(_ token: String, _ limits: CallerLimits = CallerLimits()) -> Caller {
    Caller(.token(token), scopes: [.attach], limits: limits, address: ClientAddress(peer: "127.0.0.1"))
  }

  @Test(arguments: UploadStoreKind.allCases, [nil, true] as [Bool?])
  func `an upload in five requests is published and listed, and its outcome can be requested again`(
    kind: UploadStoreKind, completes: Bool?
  ) async throws {
    let fixture = try await UploadFixture(kind)
    var status = try await fixture.open(bundle, deferred: completes != nil, expected: bundle.sha256)
    #expect((status.offset, status.isComplete) == (0, false))
    let step = bytes.count / 5 + 1
    for start in stride(from: 0, to: bytes.count, by: step) {
      let end = min(start + step, bytes.count)
      status = try await fixture.append(
        bytes[start..<end], to: status.id, at: status.offset,
        completes: completes.map { _ in end == bytes.count })
      #expect(status.offset == Int64(end))
      if end < bytes.count {
        #expect(try await fixture.service.status(status.id, of: UploadFixture.anybody) == status)
      }
    }
    #expect(status.isComplete && status.length == size)
    #expect(status.outcome == .published(bundle.id, isNew: true))
    #expect(try await fixture.contents(bundle.id) == bytes)
    #expect(try await fixture.catalog.total(CatalogQuery()).count == 1)
    #expect(try await fixture.service.status(status.id, of: UploadFixture.anybody) == status)
    #expect(try await fixture.append([], to: status.id, at: size, completes: completes) == status)
    let publication = try await fixture.service.publication(bundle.id, isNew: true)
    #expect(publication.record.sha256 == bundle.sha256)
    await fixture.close()
  }

  @Test func `an upload is unknown to all callers but its owner`() async throws {
    let fixture = try await UploadFixture(.memory)
    let id = try await fixture.open(bundle, of: caller("a")).id
    for other in [caller("b"), UploadFixture.anybody] {
      #expect(await uploadFailure { _ = try await fixture.service.status(id, of: other) } == "unknown")
      #expect(await uploadFailure { try await fixture.append([1], to: id, at: 0, of: other) } == "unknown")
      #expect(await uploadFailure { try await fixture.service.terminate(id, of: other) } == "unknown")
      #expect(
        await uploadFailure {
          let attachment = Attachment(report: fixture.report)
          _ = try await fixture.service.create(
            UploadTerms(.joined(attachment, parts: [id]), dialect: "test"), of: other)
        } == "unusablePart")
    }
    #expect(try await fixture.append(bytes, to: id, at: 0, of: caller("a")).outcome != nil)
    #expect(try await fixture.store.record(bundle.id).attachedBy == "a")
  }

  @Test(arguments: UploadStoreKind.allCases, [true, false])
  func `the bytes before a body broke off are kept`(kind: UploadStoreKind, isChunked: Bool) async throws {
    let fixture = try await UploadFixture(kind)
    let id = try await fixture.open(bundle).id
    let word = await uploadFailure {
      try await fixture.append(
        bytes[..<3210], to: id, at: 0, isChunked: isChunked, end: { throw HTTPBodyError.disconnected })
    }
    #expect(word == "body")
    #expect(try await fixture.service.status(id, of: UploadFixture.anybody).offset == 3210)
    await fixture.close()
  }

  @Test(
    arguments: UploadStoreKind.allCases,
    [(.sha1, true), (.sha1, false), (.sha256, true), (.sha256, false)]
      as [(StatedDigest.Value.Algorithm, Bool)])
  func `bytes count only with the stated digest, before or after them`(
    kind: UploadStoreKind, stating: (algorithm: StatedDigest.Value.Algorithm, isBefore: Bool)
  ) async throws {
    let (algorithm, isBefore) = stating
    let fixture = try await UploadFixture(kind)
    let id = try await fixture.open(bundle, expected: bundle.sha256).id
    let half = bytes.count / 2
    func stated(_ of: some Collection<UInt8>) -> StatedDigest {
      let value = StatedDigest.Value(algorithm, algorithm.digest(Array(of)))
      return isBefore ? .before(value) : .after { value }
    }
    for digest in [stated([1]), .before(.init(algorithm, [])), .before(.init(algorithm, [1, 2]))] {
      #expect(
        await uploadFailure { try await fixture.append(bytes[..<half], to: id, at: 0, digest: digest) }
          == "digestMismatch")
    }
    #expect(
      await uploadFailure { try await fixture.append(bytes[..<half], to: id, at: 0, digest: .after { nil }) }
        == "digestMissing")
    #expect(
      await uploadFailure {
        try await fixture.append(
          bytes[..<half], to: id, at: 0, digest: .after { throw HTTPBodyError.malformed })
      } == "body")
    #expect(
      await uploadFailure {
        try await fixture.append(
          bytes[..<half], to: id, at: 0, digest: stated(bytes[..<half]),
          end: { throw HTTPBodyError.disconnected })
      } == "body")
    #expect(try await fixture.service.status(id, of: UploadFixture.anybody).offset == 0)
    try await fixture.append(bytes[..<half], to: id, at: 0, digest: stated(bytes[..<half]))
    let status = try await fixture.append(
      bytes[half...], to: id, at: Int64(half), digest: stated(bytes[half...]))
    #expect(status.outcome == .published(bundle.id, isNew: true))
    await fixture.close()
  }

  @Test(arguments: UploadStoreKind.allCases)
  func `reported offsets are durable and only grow`(kind: UploadStoreKind) async throws {
    let fixture = try await UploadFixture(kind) { $0.checkpointBytes = 2000 }
    let id = try await fixture.open(bundle).id
    let told = Lock<[Int64]>([])
    let status = try await fixture.service.append(
      id, AppendRequest(offset: 0), body: .pieces(of: bytes, size: 500), of: UploadFixture.anybody,
      onProgress: { offset in
        let session = try? await fixture.store.uploadSession(id)
        #expect(session?.offset == offset)
        told.withLock { $0.append(offset) }
      })
    #expect(status.outcome != nil)
    let offsets = told.withLock { $0 }
    // While 2000 bytes are made durable, at most 2000 more are received. On a slow machine the interval makes it earlier.
    #expect(offsets.count >= 2)
    #expect(zip([0] + offsets, offsets).allSatisfy { $0 < $1 && $1 - $0 <= 4000 }, "\(offsets)")
    await fixture.close()
  }

  @Test(arguments: [nil, false, true] as [Bool?])
  func `a client that sends more than it stated loses the upload if its protocol requires that`(
    completes: Bool?
  )
    async throws
  {
    let fixture = try await UploadFixture(.memory)
    let id = try await fixture.open(bundle).id
    #expect(
      await uploadFailure {
        try await fixture.append(bytes + [1], to: id, at: 0, completes: completes, isChunked: true)
      } == "exceeded")
    let left = await uploadFailure { _ = try await fixture.service.status(id, of: UploadFixture.anybody) }
    #expect(left == (completes == nil ? nil : "unknown"))
  }

  @Test func `an upload that is certain to be refused is refused before its bytes arrive`() async throws {
    let fixture = try await UploadFixture(.memory)
    let only = caller("a", CallerLimits(reportPrefixes: ["APP-"]))
    #expect(await uploadFailure { _ = try await fixture.open(bundle, of: only) } == "forbidden")
    let id = try await fixture.open(bundle).id
    try await fixture.append(bytes, to: id, at: 0)
    #expect(
      await uploadFailure { _ = try await fixture.open(bundle, expected: .of([1])) } == "store conflict")
    let terms = { (attachment: SnapshotStore.Attachment) in UploadTerms(.whole(attachment), dialect: "test") }
    #expect(
      await uploadFailure {
        let attachment = Attachment(report: try ReportID(validating: "BUG-2"), id: bundle.id)
        _ = try await fixture.service.create(terms(attachment), of: UploadFixture.anybody)
      } == "store conflict")
    #expect(
      await uploadFailure {
        let attachment = Attachment(report: fixture.report, id: bundle.id, createOnly: true)
        _ = try await fixture.service.create(terms(attachment), of: UploadFixture.anybody)
      } == "store alreadyExists")
    _ = try await fixture.open(bundle, expected: bundle.sha256)
    try await fixture.store.delete(bundle.id)
    #expect(await uploadFailure { _ = try await fixture.open(bundle) } == "store deleted")
  }

  @Test func `the owner's rights at the end of the upload apply`() async throws {
    let fixture = try await UploadFixture(.memory)
    let id = try await fixture.open(bundle, of: caller("a")).id
    try await fixture.append(bytes.dropLast(), to: id, at: 0, of: caller("a"))
    let elsewhere = caller("a", CallerLimits(reportPrefixes: ["APP-"]))
    #expect(
      await uploadFailure { try await fixture.append(bytes.suffix(1), to: id, at: size - 1, of: elsewhere) }
        == "forbidden")
    let other = caller("a", CallerLimits(applications: ["com.example.other"]))
    guard case .refused(let refusal) = try await fixture.append([], to: id, at: size, of: other).outcome
    else {
      Issue.record("not refused")
      return
    }
    #expect(refusal.reason == .foreignApplication)
  }

  @Test func `only a caller who may know of deletions is told that the UUID was deleted meanwhile`()
    async throws
  {
    let callers: [(Caller, UploadRefusal.Reason)] = [
      (UploadFixture.anybody, .deleted), (caller("a"), .conflict),
    ]
    for (caller, reason) in callers {
      let fixture = try await UploadFixture(.memory)
      let id = try await fixture.open(bundle, of: caller).id
      let other = try await fixture.store.beginUpload()
      try await other.append(IOBuffer(bytes[...]))
      _ = try await other.commit(Attachment(report: fixture.report, id: bundle.id))
      try await fixture.store.delete(bundle.id)
      let status = try await fixture.append(bytes, to: id, at: 0, of: caller)
      guard case .refused(let refusal) = status.outcome else {
        Issue.record("not refused")
        return
      }
      #expect(refusal.reason == reason)
    }
  }

  @Test func `bytes count against the caller's quotas`() async throws {
    let fixture = try await UploadFixture(.memory)
    var limited = UploadFixture.anybody
    let clock = fixture.clock
    limited.meter = UploadMeter(
      gauges: [
        .init(
          name: "token", key: "a", quota: try #require(UploadQuota(bytes: 5000, seconds: 3600)),
          table: BucketTable(capacity: 10))
      ], clock: clock.accessClock)
    #expect(await uploadFailure { _ = try await fixture.open(bundle, of: limited) } == "body")
    let id = try await fixture.open(bundle, deferred: true, of: limited).id
    let caller = limited
    #expect(
      await uploadFailure { try await fixture.append(bytes, to: id, at: 0, isChunked: true, of: caller) }
        == "body")
    #expect(try await fixture.service.status(id, of: caller).offset == 5000)
  }

  @Test(arguments: UploadStoreKind.allCases)
  func `an abandoned upload expires, and ends a request that hangs`(
    kind: UploadStoreKind
  ) async throws {
    let fixture = try await UploadFixture(kind)
    let (idle, done) = (try await fixture.open(bundle), try await fixture.open(bundle))
    try await fixture.append(bytes, to: done.id, at: 0)
    #expect(idle.expiresAt == fixture.clock.now + 10 * 60)
    try await fixture.append(bytes[..<1], to: idle.id, at: 0)
    fixture.clock.pass(.seconds(24 * 3600 - 1))
    #expect(await fixture.service.removeExpired() == 0)
    let began = Signal()
    let hung = Task {
      try await fixture.append(
        bytes[..<0], to: idle.id, at: 1, isChunked: true, end: began.fireUntilCancelled)
    }
    await began.wait()
    fixture.clock.pass(.seconds(1))
    #expect(
      await uploadFailure { _ = try await fixture.service.status(idle.id, of: UploadFixture.anybody) }
        == "gone")
    #expect(await fixture.service.removeExpired() == 2)
    #expect(await uploadFailure { _ = try await hung.value } == "superseded")
    #expect(await fixture.store.uploadSessions().isEmpty)
    #expect(try await fixture.contents(bundle.id) == bytes)
    await fixture.close()
  }

  @Test(arguments: UploadStoreKind.allCases)
  func `an upload does not expire if the request that hangs has brought bytes`(
    kind: UploadStoreKind
  ) async throws {
    let fixture = try await UploadFixture(kind)
    let id = try await fixture.open(bundle).id
    try await fixture.append(bytes[..<1], to: id, at: 0)
    let began = Signal()
    let hung = Task {
      try await fixture.append(bytes[1..<100], to: id, at: 1, isChunked: true, end: began.fireUntilCancelled)
    }
    await began.wait()
    fixture.clock.pass(.seconds(24 * 3600))
    // They count when the request ends.
    #expect(await fixture.service.removeExpired() == 0)
    #expect(await uploadFailure { _ = try await hung.value } == "superseded")
    #expect(try await fixture.service.status(id, of: UploadFixture.anybody).offset == 100)
    await fixture.close()
  }

  @Test(arguments: UploadStoreKind.allCases)
  func `a clock that jumps ahead removes no upload, and uploads continue`(kind: UploadStoreKind) async throws
  {
    let fixture = try await UploadFixture(kind)
    let (id, other) = (try await fixture.open(bundle).id, try await fixture.open(ZippedSample()).id)
    try await fixture.append(bytes[..<100], to: id, at: 0)
    fixture.clock.jump(.seconds(12 * 365 * 86_400))
    #expect(await fixture.service.removeExpired() == 0)
    #expect(try await fixture.service.status(id, of: UploadFixture.anybody).offset == 100)
    let status = try await fixture.append(bytes[100...], to: id, at: 100)
    #expect(status.outcome == .published(bundle.id, isNew: true))
    fixture.clock.pass(.seconds(3599))
    #expect(await fixture.service.removeExpired() == 0)
    fixture.clock.jump(.seconds(-12 * 365 * 86_400))
    #expect(await fixture.service.removeExpired() == 0)
    fixture.clock.pass(.seconds(3600))
    // An hour after the clock was set right, it is believed.
    #expect(await fixture.service.removeExpired() == 1)
    #expect(await fixture.store.uploadSessions().map(\.id) == [id])
    #expect(
      await uploadFailure { _ = try await fixture.service.status(other, of: UploadFixture.anybody) }
        == "unknown")
    await fixture.close()
  }

  @Test(arguments: UploadStoreKind.allCases)
  func `an upload without a byte expires after minutes, unless a request is appending`(
    kind: UploadStoreKind
  ) async throws {
    let fixture = try await UploadFixture(kind)
    let (empty, busy) = (try await fixture.open(bundle).id, try await fixture.open(bundle).id)
    let began = Signal()
    let gate = Signal()
    // The bytes of a request with a digest count once all have arrived, even if that takes long.
    let running = Task {
      try await fixture.append(
        bytes, to: busy, at: 0,
        digest: .before(.init(.sha256, StatedDigest.Value.Algorithm.sha256.digest(bytes))),
        end: {
          began.fire()
          await gate.wait()
        })
    }
    await began.wait()
    fixture.clock.pass(.seconds(10 * 60 - 1))
    #expect(await fixture.service.removeExpired() == 0)
    #expect(try await fixture.service.status(empty, of: UploadFixture.anybody).offset == 0)
    fixture.clock.pass(.seconds(1))
    #expect(
      await uploadFailure { _ = try await fixture.service.status(empty, of: UploadFixture.anybody) } == "gone"
    )
    #expect(await fixture.service.removeExpired() == 1)
    gate.fire()
    #expect(try await running.value.outcome == .published(bundle.id, isNew: true))
    await fixture.close()
  }

  @Test func `an upload that was complete when the server ended is published after the restart`() async throws
  {
    let fixture = try await UploadFixture(.files)
    let ids = [try await fixture.open(bundle).id, try await fixture.open(bundle).id]
    for id in ids {
      let appending = try await fixture.store.beginAppending(AppendRequest(offset: 0), bytes: size, to: id)
      try await appending.write(IOBuffer(bytes))
      #expect(try await appending.end(.finished).isDue)
    }
    let next = try await fixture.restarted()
    #expect(
      try await next.service.status(ids[0], of: UploadFixture.anybody).outcome
        == .published(bundle.id, isNew: true))
    await next.service.publishDue()
    #expect(try await next.store.uploadSession(ids[1]).outcome == .published(bundle.id, isNew: false))
    #expect(try await next.catalog.total(CatalogQuery()).count == 1)
    await next.close()
  }

  @Test func `parts are joined and published by one call`() async throws {
    let fixture = try await UploadFixture(.files)
    var parts: [UploadID] = []
    for range in [0..<3000, 3000..<bytes.count] {
      let terms = UploadTerms(.partial, length: Int64(range.count), dialect: "test")
      let id = try await fixture.service.create(terms, of: UploadFixture.anybody).id
      let status = try await fixture.append(bytes[range], to: id, at: 0)
      #expect(status.isComplete && status.outcome == nil)
      parts.append(id)
    }
    let attachment = Attachment(report: fixture.report, expected: bundle.sha256)
    let status = try await fixture.service.create(
      UploadTerms(.joined(attachment, parts: parts), dialect: "test"), of: UploadFixture.anybody)
    guard case .published(let id, isNew: true) = status.outcome else {
      Issue.record("not published")
      return
    }
    #expect(try await fixture.contents(id) == bytes)
    await fixture.close()
  }
}

extension StatedDigest.Value.Algorithm {
  fileprivate func digest(_ bytes: [UInt8]) -> [UInt8] {
    switch self {
    case .sha1: Array(Insecure.SHA1.hash(data: bytes))
    case .sha256: Array(SHA256.hash(data: bytes))
    }
  }
}
