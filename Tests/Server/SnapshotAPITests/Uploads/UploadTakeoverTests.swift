import AccessControl
import HTTPEngine
import Observability
import ServerTesting
import SnapshotServer
import SnapshotService
import SnapshotStore
import SystemIO
import TestSupport
import Testing

@testable import SnapshotAPI

/// Requests to an upload that another request is appending to.
@Suite struct UploadTakeoverTests {
  private let bundle: ZippedSample
  private var bytes: [UInt8] { bundle.bytes }

  init() throws { bundle = try ZippedSample(String(repeating: "news ", count: 2000)) }

  private func caller(_ token: String) -> Caller {
    Caller(
      .token(token), scopes: [.attach], limits: CallerLimits(), address: ClientAddress(peer: "127.0.0.1"))
  }

  /// Ends when it was cancelled and `gate` is open.
  private func hang(_ began: Signal, until gate: Signal) -> @Sendable () async throws -> Void {
    {
      began.fire()
      await Task { await gate.wait() }.value
      // A newer request is counted just before it cancels this one.
      try await Signal.waitForCancellation()
    }
  }

  private func wait(for count: Int, at id: UploadID, _ fixture: UploadFixture) async throws {
    try await eventually { fixture.service.turns.count(id) >= count }
  }

  /// Waits for a request that ends `older`. If a time limit ends the test instead, `older` ends with it.
  private func superseding<Value: Sendable>(
    _ older: Task<some Sendable, any Error>, _ request: () async throws -> Value
  ) async throws -> Value {
    try await withTaskCancellationHandler(operation: request) { older.cancel() }
  }

  @Test func `other callers can't end a request by asking for its upload`() async throws {
    let fixture = try await UploadFixture(.memory)
    let id = try await fixture.open(bundle, of: caller("a")).id
    let began = Signal()
    let hung = Task {
      try await fixture.append(bytes[..<10], to: id, at: 0, of: caller("a"), end: began.fireUntilCancelled)
    }
    await began.wait()
    _ = await uploadFailure { _ = try await fixture.service.status(id, of: caller("b")) }
    #expect(fixture.service.turns.count(id) == 1)
    hung.cancel()
    #expect(await uploadFailure { _ = try await hung.value } == "body")
  }

  enum Newer: CaseIterable { case status, append, terminate }

  @Test(.timeLimit(.minutes(5 * Sanitizer.slowness)), arguments: UploadStoreKind.allCases, Newer.allCases)
  func `a newer request ends one that hangs, whose bytes count`(
    kind: UploadStoreKind, newer: Newer
  ) async throws {
    let fixture = try await UploadFixture(kind)
    let id = try await fixture.open(bundle).id
    let began = Signal()
    let hung = Task {
      try await fixture.append(bytes[..<2500], to: id, at: 0, isChunked: true, end: began.fireUntilCancelled)
    }
    await began.wait()
    switch newer {
    case .status:
      let status = try await superseding(hung) {
        try await fixture.service.status(id, of: UploadFixture.anybody)
      }
      #expect(status.offset == 2500)
      #expect(try await fixture.append(bytes[2500...], to: id, at: 2500).outcome != nil)
    case .append:
      let status = try await superseding(hung) { try await fixture.append(bytes[2500...], to: id, at: 2500) }
      #expect(status.outcome != nil)
    case .terminate:
      try await superseding(hung) { try await fixture.service.terminate(id, of: UploadFixture.anybody) }
      #expect(
        await uploadFailure { _ = try await fixture.service.status(id, of: UploadFixture.anybody) }
          == "unknown")
    }
    #expect(await uploadFailure { _ = try await hung.value } == "superseded")
    #expect(fixture.service.turns.count(id) == 0)
    await fixture.close()
  }

  @Test(.timeLimit(.minutes(5 * Sanitizer.slowness)))
  func `of many concurrent requests the last one gets the upload`() async throws {
    let fixture = try await UploadFixture(.files)
    let id = try await fixture.open(bundle).id
    let words = Words()
    let requests = (0..<30).map { _ in
      Task {
        words.add(
          await uploadFailure {
            try await fixture.append(
              bytes[..<100], to: id, at: 0, isChunked: true,
              end: { try await Signal.waitForCancellation() })
          })
      }
    }
    try await eventually { words.all.count >= 29 }
    let status = try await fixture.service.status(id, of: UploadFixture.anybody)
    #expect([0, 100].contains(status.offset))
    for request in requests { await request.value }
    #expect(Set(words.all).isSubset(of: ["superseded", "mismatchingOffset"]))
    #expect(fixture.service.turns.count(id) == 0)
    let offset = try await fixture.service.status(id, of: UploadFixture.anybody).offset
    #expect(try await fixture.append(bytes[Int(offset)...], to: id, at: offset).outcome != nil)
    await fixture.close()
  }

  @Test(.timeLimit(.minutes(5 * Sanitizer.slowness)), arguments: UploadStoreKind.allCases)
  func `the bytes of a request that was superseded before its turn count`(
    kind: UploadStoreKind
  ) async throws {
    let fixture = try await UploadFixture(kind)
    let id = try await fixture.open(bundle).id
    let (began, gate, late) = (Signal(), Signal(), Signal())
    let first = Task {
      try await fixture.append(
        bytes[..<500], to: id, at: 0, isChunked: true, end: hang(began, until: gate))
    }
    await began.wait()
    let second = Task {
      try await fixture.append(
        bytes[500..<2500], to: id, at: 500, isChunked: true, end: late.fireUntilCancelled)
    }
    try await wait(for: 2, at: id, fixture)
    let third = Task { try await fixture.service.status(id, of: UploadFixture.anybody) }
    try await wait(for: 3, at: id, fixture)
    gate.fire()
    let status = try await superseding(second) { try await third.value }
    #expect(status.offset == 2500)
    #expect(await uploadFailure { _ = try await first.value } == "superseded")
    #expect(await uploadFailure { _ = try await second.value } == "superseded")
    await fixture.close()
  }

  @Test(.timeLimit(.minutes(5 * Sanitizer.slowness)), arguments: [4999, 5000, 5001] as [Int64])
  func `a sender that never stops does not block newer requests`(limit: Int64) async throws {
    let fixture = try await UploadFixture(.memory) { $0.supersededBytes = limit }
    let id = try await fixture.open(bundle, deferred: true).id
    let (began, gate) = (Signal(), Signal())
    let piece = IOBuffer([UInt8](repeating: 1, count: 1000))
    let sent = Lock(0)
    // It ends far behind the limit, so that the test fails if nothing else ends it.
    let endless = HTTPRequestBody(declaredLength: nil) {
      began.fire()
      await Task { await gate.wait() }.value
      // The newer request cancels this one just after it takes its turn.
      while !Task.isCancelled, sent.value == 0 { await Task.yield() }
      return sent.add(1) - 1 < 1000 ? piece : nil
    }
    let hung = Task {
      try await fixture.service.append(id, AppendRequest(offset: 0), body: endless, of: UploadFixture.anybody)
    }
    await began.wait()
    let newer = Task { try await fixture.service.status(id, of: UploadFixture.anybody) }
    try await wait(for: 2, at: id, fixture)
    gate.fire()
    #expect(try await newer.value.offset == limit / 1000 * 1000)
    #expect(await uploadFailure { _ = try await hung.value } == "superseded")
  }
}

/// The responses to many requests.
private final class Words: Sendable {
  private let words = Lock<[String?]>([])

  var all: [String?] { words.withLock { $0 } }

  func add(_ word: String?) { words.withLock { $0.append(word) } }
}
