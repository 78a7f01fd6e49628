import Dispatch
import Foundation
import S3Store
import S3Testing
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// Servers that lose the lease of a resumable upload, and servers that give it back.
@Suite struct S3UploadLeaseTests {
  /// A clock for leases that a test sets.
  private static func makeRows() -> (rows: InMemoryUploadRows, pass: @Sendable (TimeInterval) -> Void) {
    let passed = Lock(TimeInterval.zero)
    let start = Date()
    return (
      InMemoryUploadRows { start + passed.withLock { $0 } }, { time in passed.withLock { $0 += time } }
    )
  }

  @Test(arguments: [40, 250], [true, false])
  func `bytes that arrive after another server has taken over are not reported as kept`(
    received: Int, isAsked: Bool
  ) async throws {
    try await withFakeS3 { server in
      let (rows, pass) = Self.makeRows()
      func node() async throws -> S3Node {
        try await S3Node(server, rows: rows) {
          $0.partBytes = 100
          $0.uploads.length = 1 << 16
          // The lease is not renewed for so few bytes.
          $0.uploadLease = .seconds(3600)
        }
      }
      let (asleep, other) = (try await node(), try await node())
      let sample = SampleBundle(count: 500)
      let id = try await asleep.store.createUpload(.of(sample)).id
      let late = try await asleep.store.beginAppending(AppendRequest(offset: 0), bytes: nil, to: id)
      pass(2 * 3600)
      try await other.store.append(sample.bytes[..<150], to: id)
      let session = try await other.store.uploadSession(id)
      try await late.write(IOBuffer([UInt8](repeating: 9, count: received)))
      if isAsked { #expect(await uploadFailure { _ = try await late.checkpoint() } == "superseded") }
      #expect(await uploadFailure { _ = try await late.end(.finished) } == "superseded")
      #expect(try await other.store.uploadSession(id) == session)
      try await other.store.append(sample.bytes[150...], to: id)
      _ = try await other.store.commitUpload(id, as: .of(sample, expected: sample.sha256))
      #expect(try await asleep.store.open(sample.id).contents == sample.bytes)
      for node in [asleep, other] { await node.store.close() }
    }
  }

  @Test func `a server that loses its lease while it checks an upload does not publish it`() async throws {
    try await withFakeS3 { server in
      let (rows, pass) = Self.makeRows()
      let (isChecking, isRemoved) = (Signal(), DispatchSemaphore(value: 0))
      let slow = try await S3Node(server, rows: rows) {
        $0.uploadLease = .seconds(3600)
        $0.validator.validate = { zip, depth throws(BundleError) in
          isChecking.fire()
          isRemoved.wait()
          return try SampleBundle.validate(zip, depth)
        }
      }
      let other = try await S3Node(server, rows: rows)
      let sample = SampleBundle()
      let id = try await slow.store.createUpload(.of(sample)).id
      try await slow.store.append(sample.bytes, to: id)
      let commit = Task { await uploadFailure { _ = try await slow.store.commitUpload(id, as: .of(sample)) } }
      await isChecking.wait()
      pass(2 * 3600)
      try await other.store.removeUpload(id)
      isRemoved.signal()
      #expect(await commit.value == "store unavailable")
      #expect(await failure { _ = try await other.store.record(sample.id) } == "notFound")
      #expect(server.keys.isEmpty)
      for node in [slow, other] { await node.store.close() }
    }
  }

  @Test func `a server that loses its lease while it removes an upload removes nothing`() async throws {
    try await withFakeS3 { server in
      let rows = InMemoryUploadRows()
      let one = try await S3Node(server, rows: InterruptedRows(rows: rows)) {
        $0.partBytes = 100
        $0.uploads.length = 1 << 16
        $0.uploadLease = .zero
      }
      let other = try await S3Node(server, rows: rows)
      let sample = SampleBundle(count: 500)
      let id = try await one.store.createUpload(.of(sample)).id
      try await one.store.append(sample.bytes, to: id)
      #expect(await uploadFailure { try await one.store.removeUpload(id) } == "superseded")
      let ended = try await other.store.commitUpload(id, as: .of(sample, expected: sample.sha256))
      #expect(ended.outcome == .published(sample.id, isNew: true))
      for node in [one, other] { await node.store.close() }
    }
  }

  @Test func `a request that is refused or fails gives the lease back`() async throws {
    try await withFakeS3 { server in
      let rows = InMemoryUploadRows()
      func node() async throws -> S3Node {
        try await S3Node(server, attempts: 1, rows: rows) { $0.uploadLease = .seconds(3600) }
      }
      let (one, other) = (try await node(), try await node())
      let sample = SampleBundle()
      let id = try await one.store.createUpload(.of(sample)).id
      #expect(await uploadFailure { try await one.store.append([1], to: id, at: 7) } == "mismatchingOffset")
      try await other.store.append(sample.bytes[..<10], to: id)
      // It is not complete.
      _ = try await one.store.commitUpload(id, as: .of(sample))
      try await other.store.append(sample.bytes[10...], to: id)
      server.inject { $0.method == "PUT" ? .refused(status: 500, code: "InternalError") : nil }
      #expect(
        await uploadFailure { _ = try await one.store.commitUpload(id, as: .of(sample)) }
          == "store unavailable")
      server.inject(nil)
      let ended = try await other.store.commitUpload(id, as: .of(sample))
      #expect(ended.outcome == .published(sample.id, isNew: true))
      #expect(try await one.store.commitUpload(id, as: .of(sample)) == ended)
      for node in [one, other] { await node.store.close() }
    }
  }

  @Test func `no bytes remain of an upload that is refused, or joined beyond the limit`() async throws {
    try await withFakeS3 { server in
      let node = try await S3Node(server) {
        $0.partBytes = 100
        $0.uploads.length = 1 << 16
        $0.uploads.open = 2
      }
      let sample = SampleBundle(.broken, count: 500)
      let refused = try await node.store.createUpload(.of(sample)).id
      try await node.store.append(sample.bytes, to: refused)
      #expect(server.openUploads == 1)
      let ended = try await node.store.commitUpload(refused, as: .of(sample))
      guard case .refused = ended.outcome else {
        Issue.record("\(String(describing: ended.outcome))")
        return
      }
      #expect(server.openUploads == 0 && server.keys.isEmpty)
      var parts: [UploadID] = []
      for _ in 0..<2 {
        let id = try await node.store.createUpload(UploadTerms(.partial, length: 150, dialect: "test")).id
        try await node.store.append([UInt8](repeating: 1, count: 150), to: id)
        parts.append(id)
      }
      // To join the parts, each is made one object.
      let terms = UploadTerms(.joined(.of(sample), parts: parts), dialect: "test")
      #expect(await uploadFailure { _ = try await node.store.createUpload(terms) } == "tooManyOpen")
      #expect(server.keys.count == parts.count)
      for part in parts { try await node.store.removeUpload(part) }
      #expect(server.openUploads == 0 && server.keys.isEmpty)
      await node.store.close()
    }
  }
}

/// Rows of which another server takes the lease immediately before one is removed.
private struct InterruptedRows: UploadRows {
  let rows: InMemoryUploadRows

  func create(_ row: UploadRow, limits: UploadLimits) async throws(UploadError) {
    try await rows.create(row, limits: limits)
  }

  func session(_ id: UploadID) async throws(StoreError) -> UploadSession? { try await rows.session(id) }

  func row(_ id: UploadID) async throws(StoreError) -> UploadRow? { try await rows.row(id) }

  func rows() async throws(StoreError) -> [UploadRow] { try await rows.rows() }

  func take(
    _ id: UploadID, by holder: SnapshotID, for duration: Duration
  ) async throws(StoreError) -> UploadTake {
    try await rows.take(id, by: holder, for: duration)
  }

  func renew(_ lease: UploadLease, for duration: Duration) async throws(StoreError) -> Bool {
    try await rows.renew(lease, for: duration)
  }

  func update(
    _ row: UploadRow, under lease: UploadLease, for duration: Duration
  ) async throws(StoreError) -> Bool {
    try await rows.update(row, under: lease, for: duration)
  }

  func remove(under lease: UploadLease) async throws(StoreError) -> Bool {
    _ = try await rows.take(lease.upload, by: SnapshotID(), for: .zero)
    return try await rows.remove(under: lease)
  }
}
