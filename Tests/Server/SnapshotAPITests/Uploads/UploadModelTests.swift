import Foundation
import HTTPEngine
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import SnapshotService
import SnapshotStore
import SystemIO
import TestSupport
import Testing

/// Compares random sequences of client requests with a simple model.
@Suite struct UploadModelTests {
  /// The expected state of one upload.
  private struct Model {
    var offset = 0
    var length: Int?
    var isComplete = false

    /// The expected answer to `attempt`. Changes the model to the expected state afterwards.
    mutating func take(_ attempt: Attempt, limit: Int) -> String? {
      guard attempt.offset == offset else { return "mismatchingOffset" }
      let declared = attempt.isChunked ? nil : attempt.count
      if isComplete {
        if let stated = attempt.length, stated != length { return "inconsistentLength" }
        guard attempt.count == 0, attempt.completes != false else { return "completed" }
        if attempt.breaks { return attempt.isSuperseded ? "superseded" : "body" }
        return attempt.digest == false ? "digestMismatch" : nil
      }
      var length = length
      if let stated = attempt.length {
        if stated < offset || stated != length ?? stated { return "inconsistentLength" }
        if stated > limit { return "tooLarge" }
        length = stated
      }
      if let declared {
        let end = offset + declared
        if end > limit { return "tooLarge" }
        if attempt.completes == true {
          if end != length ?? end { return "inconsistentLength" }
          length = end
        } else if let length, end > length {
          return "exceeded"
        }
      }
      if let length, offset + attempt.count > length { return "exceeded" }
      if offset + attempt.count > limit {
        // Whole pieces that fit are accepted before the excess is detected.
        if attempt.digest == nil { offset += (limit - offset) / attempt.pieceSize * attempt.pieceSize }
        return "tooLarge"
      }
      if attempt.digest == false, !attempt.breaks { return "digestMismatch" }
      self.length = length
      if attempt.digest != nil, attempt.breaks { return attempt.isSuperseded ? "superseded" : "body" }
      offset += attempt.count
      if attempt.breaks { return attempt.isSuperseded ? "superseded" : "body" }
      if attempt.completes == true, offset != length ?? offset { return "inconsistentLength" }
      if attempt.completes ?? (length == offset) {
        isComplete = true
        self.length = offset
      }
      return nil
    }
  }

  /// One request that appends.
  private struct Attempt {
    var offset = 0
    var count = 0
    var length: Int?
    var completes: Bool?
    var isChunked = false
    /// Whether the request states a digest, and whether it is right.
    var digest: Bool?
    var breaks = false
    /// Whether the request ends because a newer one arrives.
    var isSuperseded = false
    var pieceSize = 1000

    init(at offset: Int, of size: Int, using random: inout some RandomNumberGenerator) {
      func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
      self.offset = oneIn(6) ? offset + Int.random(in: -2...2, using: &random) : offset
      count =
        oneIn(4)
        ? size - offset + Int.random(in: -1...1, using: &random) : Int.random(in: 0...900, using: &random)
      count = max(count, 0)
      if oneIn(4) { length = oneIn(3) ? Int.random(in: -1...30_000, using: &random) : size }
      completes = [nil, nil, false, true].randomElement(using: &random) ?? nil
      isChunked = oneIn(2)
      digest = oneIn(3) ? !oneIn(3) : nil
      breaks = oneIn(4)
      isSuperseded = breaks && oneIn(3)
      pieceSize = [1, 100, 333, 1000].randomElement(using: &random) ?? 1
    }
  }

  private static let limit = 20_000
  private let bundle: ZippedSample
  private var size: Int { bundle.bytes.count }

  init() throws { bundle = try ZippedSample(String(repeating: "news ", count: 1000)) }

  @Test(
    .timeLimit(.minutes(15 * Sanitizer.slowness)), arguments: UploadStoreKind.allCases,
    0..<40 as Range<UInt64>
  )
  func `random requests and restarts leave every upload in the state of the model`(
    kind: UploadStoreKind, seed: UInt64
  ) async throws {
    var random = SeededGenerator(seed: seed)
    var fixture = try await UploadFixture(kind) {
      $0.length = Int64(Self.limit)
      $0.checkpointInterval = .seconds(3600)
    }
    var model = Model(length: Bool.random(using: &random) ? size : nil)
    var id = try await fixture.open(bundle, deferred: model.length == nil, expected: bundle.sha256).id
    for step in 0..<25 {
      if kind != .memory, Int.random(in: 0..<6, using: &random) == 0 {
        fixture = try await fixture.restarted()
      }
      let attempt = Attempt(at: model.offset, of: size, using: &random)
      let expected = model.take(attempt, limit: Self.limit)
      let actual = await send(attempt, to: id, fixture)
      #expect(actual == expected, "step \(step): \(attempt)")
      if expected == "exceeded", attempt.completes != nil {
        #expect(
          await uploadFailure { _ = try await fixture.service.status(id, of: UploadFixture.anybody) }
            == "unknown")
        model = Model(length: size)
        id = try await fixture.open(bundle, expected: bundle.sha256).id
      }
      let status = try await fixture.service.status(id, of: UploadFixture.anybody)
      #expect(status.offset == Int64(model.offset), "step \(step): \(attempt)")
      #expect(status.length == model.length.map(Int64.init), "step \(step): \(attempt)")
      #expect(status.isComplete == model.isComplete, "step \(step): \(attempt)")
      #expect((status.outcome != nil) == model.isComplete, "step \(step): \(attempt)")
      if actual != expected { return }
    }
    try await complete(id, model, fixture)
    await fixture.close()
  }

  /// Returns the outcome as a word.
  private func send(_ attempt: Attempt, to id: UploadID, _ fixture: UploadFixture) async -> String? {
    let start = min(max(attempt.offset, 0), size)
    var bytes = Array(bundle.bytes[start..<min(start + attempt.count, size)])
    bytes += [UInt8](repeating: 9, count: attempt.count - bytes.count)
    let sent = bytes
    let digest = attempt.digest.map { isRight in
      StatedDigest.before(.init(.sha256, isRight ? ContentDigest.of(sent).bytes : []))
    }
    let began = Signal()
    let request = Task {
      await uploadFailure {
        try await fixture.append(
          sent, to: id, at: Int64(attempt.offset), length: attempt.length.map(Int64.init),
          completes: attempt.completes, digest: digest, isChunked: attempt.isChunked, size: attempt.pieceSize
        ) {
          began.fire()
          if attempt.isSuperseded { try await Signal.waitForCancellation() }
          if attempt.breaks { throw HTTPBodyError.disconnected }
        }
      }
    }
    guard attempt.isSuperseded else { return await request.value }
    // The request may be refused before its body is read.
    let newer = Task {
      await began.wait()
      if !Task.isCancelled { _ = try await fixture.service.status(id, of: UploadFixture.anybody) }
    }
    defer { newer.cancel() }
    return await request.value
  }

  private func complete(_ id: UploadID, _ model: Model, _ fixture: UploadFixture) async throws {
    var id = id
    var offset = model.offset
    if model.isComplete {
      let status = try await fixture.service.status(id, of: UploadFixture.anybody)
      guard case .published(bundle.id, _) = status.outcome else {
        // An incomplete bundle, or one with extra bytes, is invalid.
        #expect(model.offset != size)
        return
      }
    } else {
      if offset > size || model.length ?? size != size {
        (id, offset) = (try await fixture.open(bundle).id, 0)
      }
      let status = try await fixture.append(
        bundle.bytes[offset...], to: id, at: Int64(offset), completes: true)
      #expect(status.outcome == .published(bundle.id, isNew: true))
    }
    #expect(try await fixture.contents(bundle.id) == bundle.bytes)
    #expect(try await fixture.append([], to: id, at: Int64(size)).isComplete)
  }
}
