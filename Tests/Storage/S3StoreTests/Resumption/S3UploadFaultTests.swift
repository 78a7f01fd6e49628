import S3Store
import S3Testing
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import Testing

/// Every request of a resumed upload fails once, in every way, to the object store and to the rows. The client then asks
/// another server for the offset and continues, as clients do, until the upload is published with the right bytes.
@Suite struct S3UploadFaultTests {
  private static let faults: [FakeS3Server.Fault] = [
    .failedAfterwards, .brokenAfterwards, .refused(status: 500, code: "InternalError"), .delayed,
    .refused(status: 503, code: "SlowDown"), .refused(status: 403, code: "AccessDenied"),
  ]

  @Test(arguments: faults, [1, 5])
  func `an upload is published with the right bytes whatever request to the object store fails`(
    fault: FakeS3Server.Fault, attempts: Int
  ) async throws {
    try await Self.failingEach(attempts: attempts, atLeast: 8) { server, _, nodes, number in
      let flag = server.fail(after: number, fault)
      try await Self.upload(SampleBundle(filling: "\(number)", count: 450), through: nodes)
      return flag.isRaised
    }
  }

  @Test(arguments: InMemoryUploadRows.Fault.allCases)
  func `an upload is published with the right bytes whatever change of its row fails`(
    fault: InMemoryUploadRows.Fault
  ) async throws {
    try await Self.failingEach(attempts: 5, atLeast: 8) { _, rows, nodes, number in
      let flag = FaultFlag()
      let left = Lock(number)
      rows.inject { _ in
        left.withLock { left in
          left -= 1
          guard left == -1 else { return nil }
          flag.raise()
          return fault
        }
      }
      try await Self.upload(SampleBundle(filling: "\(number)", count: 450), through: nodes)
      return flag.isRaised
    }
  }

  @Test(arguments: faults, [1, 5])
  func `parts are joined to the right bytes whatever request to the object store fails`(
    fault: FakeS3Server.Fault, attempts: Int
  ) async throws {
    try await Self.failingEach(attempts: attempts, atLeast: 5) { server, _, nodes, number in
      let sample = SampleBundle(filling: "\(number)", count: 450)
      var parts: [UploadID] = []
      for (index, range) in [0..<200, 200..<sample.bytes.count].enumerated() {
        let terms = UploadTerms(.partial, length: Int64(range.count), dialect: "test")
        let id = try await nodes[index].store.createUpload(terms).id
        try await nodes[index].store.append(sample.bytes[range], to: id)
        parts.append(id)
      }
      let flag = server.fail(after: number, fault)
      try await Self.join(parts, as: sample, through: nodes)
      let isHit = flag.isRaised
      server.inject(nil)
      for part in parts { try await nodes[1].store.removeUpload(part) }
      return isHit
    }
  }

  /// Runs `body` with the numbers from 0, each time with another call that fails, until none has failed. Then nothing may
  /// remain but the published bundles and their records.
  /// - Parameters:
  ///   - least: how many calls there are at least.
  ///   - body: lets the call with the number fail, publishes one bundle, and returns whether there was such a call.
  private static func failingEach(
    attempts: Int, atLeast least: Int,
    _ body: (FakeS3Server, InMemoryUploadRows, _ nodes: [S3Node], _ number: Int) async throws -> Bool
  ) async throws {
    try await withFakeS3 { server in
      let rows = InMemoryUploadRows()
      let nodes = [try await node(server, rows, attempts), try await node(server, rows, attempts)]
      var (number, isHit) = (0, true)
      while isHit {
        isHit = try await body(server, rows, nodes, number)
        server.inject(nil)
        rows.inject(nil)
        number += 1
      }
      #expect(number > least)
      try await nodes[0].store.sweep()
      #expect(server.keys.count == 2 * number && server.openUploads == 0)
      for node in nodes { await node.store.close() }
    }
  }

  /// Joins parts and publishes the result, changing the server with each request, until that has succeeded.
  private static func join(_ parts: [UploadID], as sample: SampleBundle, through nodes: [S3Node]) async throws
  {
    let attachment = Attachment(report: .sample, id: sample.id, expected: sample.sha256)
    let terms = UploadTerms(.joined(attachment, parts: parts), dialect: "test")
    var session: UploadSession?
    for round in 0..<10 {
      let store = nodes[round % 2].store
      do {
        guard let begun = session else {
          session = try await store.createUpload(terms)
          continue
        }
        let ended = try await store.commitUpload(begun.id, as: attachment)
        #expect(ended.outcome == .published(sample.id, isNew: true))
        let bundle = try await store.open(sample.id)
        #expect(try bundle.contents == sample.bytes)
        if try await store.uploadSession(begun.id).outcome == ended.outcome { return }
      } catch UploadError.store(.unavailable) {
      } catch StoreError.unavailable {
      }
    }
    Issue.record("the parts were not joined")
  }

  private static func node(
    _ server: FakeS3Server, _ rows: InMemoryUploadRows, _ attempts: Int
  ) async throws -> S3Node {
    try await S3Node(server, attempts: attempts, rows: rows) {
      $0.partBytes = 100
      $0.uploads.length = 1 << 16
      $0.orphanAge = .zero
      $0.uploadLease = .zero
    }
  }

  /// Uploads a sample without a stated UUID, and changes the server with each request.
  private static func upload(_ sample: SampleBundle, through nodes: [S3Node]) async throws {
    let attachment = Attachment(report: .sample, expected: sample.sha256)
    let terms = UploadTerms(.whole(attachment), length: Int64(sample.bytes.count), dialect: "test")
    var session: UploadSession?
    // One request at most fails.
    for round in 0..<20 {
      let store = nodes[round % 2].store
      do {
        guard let begun = session else {
          session = try await store.createUpload(terms)
          continue
        }
        let known = begun.offset
        let present = try await store.uploadSession(begun.id)
        #expect(present.offset >= known)
        session = present
        if present.isWhole {
          let outcome = try await store.commitUpload(begun.id, as: attachment).outcome
          #expect(outcome == .published(sample.id, isNew: true))
          let bundle = try await store.open(sample.id)
          #expect(try bundle.contents == sample.bytes)
          // The outcome is stored later if its own request has failed.
          if try await store.uploadSession(begun.id).outcome == outcome { return }
          continue
        }
        let start = Int(present.offset)
        session = try await store.append(
          sample.bytes[start..<min(start + 180, sample.bytes.count)], to: begun.id, at: present.offset,
          pieceSize: 60, checkpoints: true)
      } catch UploadError.store(.unavailable) {
      } catch StoreError.unavailable {
      }
    }
    Issue.record("the upload was not published")
  }
}
