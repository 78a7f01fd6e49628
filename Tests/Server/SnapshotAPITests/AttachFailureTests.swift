import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import ServerTesting
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// Failures outside of the API: a disk that fails, a client that disconnects.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct AttachFailureTests {
  private let api = TestAPI()
  private let bundle: ZippedSample

  init() throws { bundle = try ZippedSample() }

  @Test(arguments: [ObservedStore.Step.begin, .append, .commit])
  func `a full disk is a 507, and nothing is stored`(step: ObservedStore.Step) async throws {
    api.store.fail(step, with: .outOfSpace)
    let answer = try await api.upload(bundle.bytes)
    #expect(answer.status == 507)
    #expect(answer.kind == "out-of-space")
    #expect(api.store.ends.discarded == api.store.ends.begun)
    #expect(api.log.lines.contains { $0.contains("outOfSpace") || $0.contains("no room") })
  }

  @Test func `a file system without inodes is named`() async throws {
    api.store.fail(.commit, with: .outOfInodes)
    let answer = try await api.upload(bundle.bytes)
    #expect(answer.status == 507)
    #expect(answer.kind == "out-of-space")
    #expect(answer.problem?.detail.contains("no inodes left") == true)
  }

  @Test(arguments: [ObservedStore.Step.begin, .append, .commit])
  func `a failing disk is a 503 that discloses nothing about it`(step: ObservedStore.Step) async throws {
    let failure = SystemError(operation: "pwrite", path: "/secret/place", code: 5)
    api.store.fail(step, with: .system(failure))
    let answer = try await api.upload(bundle.bytes)
    #expect(answer.status == 503)
    #expect(answer.kind == "storage-unavailable")
    let problem = try #require(answer.problem)
    #expect(!"\(problem)".contains("secret"))
    #expect(api.log.lines.contains { $0.hasPrefix("error") && $0.contains("/secret/place") })
    #expect(api.store.ends.discarded == api.store.ends.begun)
  }

  @Test func `a disk that fails while a bundle is read is not reported as an invalid bundle`() async throws {
    api.store.fail(
      .commit, with: .invalid(.system(SystemError(operation: "pread", path: "/secret", code: 5))))
    let answer = try await api.upload(bundle.bytes)
    #expect(answer.status == 503)
    #expect(answer.kind == "storage-unavailable")
    #expect(answer.problem?.detail.contains("secret") == false)
  }

  @Test func `a lack of file descriptors is a 503 with a time to retry`() async throws {
    api.store.fail(.begin, with: .system(SystemError(operation: "open", code: 24)))
    let answer = try await api.upload(bundle.bytes)
    #expect(answer.status == 503)
    #expect(answer.fields[.retryAfter] == "5")
  }

  @Test(arguments: [HTTPBodyError.disconnected, .tooSlow, .malformed, .tooLarge(limit: 5)])
  func `an upload whose body breaks off is discarded`(failure: HTTPBodyError) async throws {
    let half = Array(bundle.bytes.prefix(bundle.bytes.count / 2))
    await #expect(throws: failure) {
      try await api.send(
        .put, "/v1/reports/BUG-1/snapshots/\(bundle.id)", [.contentType: "application/zip"],
        body: .pieces(of: half, size: 50) { throw failure })
    }
    #expect(api.store.ends == .init(begun: 1, committed: 0, discarded: 1))
    #expect(try await api.send(.get, "/v1/snapshots/\(bundle.id)").status == 404)
  }

  @Test func `an upload whose task is cancelled is discarded`() async throws {
    let (reached, signal) = AsyncStream.makeStream(of: Void.self)
    let half = Array(bundle.bytes.prefix(100))
    let task = Task {
      try await api.send(
        .post, "/v1/reports/BUG-1/snapshots", [.contentType: "application/zip"],
        body: .pieces(of: half) {
          signal.yield()
          // This body never produces a byte. Only cancellation ends it.
          for await _ in AsyncStream.makeStream(of: Never.self).stream {}
          try Task.checkCancellation()
        })
    }
    for await _ in reached { break }
    task.cancel()
    await #expect(throws: HTTPBodyError.disconnected) { try await task.value }
    #expect(api.store.ends == .init(begun: 1, committed: 0, discarded: 1))
  }
}
