import Foundation
import S3Client
import S3Store
import S3Testing
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// Resumable uploads that several servers share, besides the guarantees of every store.
@Suite struct S3UploadTests {
  /// Small parts, so that a short upload has several.
  private static func small(_ configuration: inout S3BundleStore.Configuration) {
    configuration.partBytes = 100
    configuration.uploads.length = 1 << 16
  }

  @Test(arguments: [0, 1, 99, 100, 101, 199, 200, 250, 301, 340])
  func `servers take turns on an upload at every point`(split: Int) async throws {
    try await withFakeS3 { server in
      let rows = InMemoryUploadRows()
      let nodes = [
        try await S3Node(server, rows: rows, Self.small), try await S3Node(server, rows: rows, Self.small),
      ]
      let sample = SampleBundle(count: 300)
      for second in stride(from: split, through: sample.bytes.count, by: 41) {
        let id = try await nodes[0].store.createUpload(.of(sample)).id
        for (number, range) in [0..<split, split..<second, second..<sample.bytes.count].enumerated() {
          let session = try await nodes[number % 2].store.append(
            sample.bytes[range], to: id, pieceSize: 33, checkpoints: number == 1)
          #expect(session.offset == Int64(range.upperBound))
          #expect(try await nodes[(number + 1) % 2].store.uploadSession(id) == session)
        }
        let ended = try await nodes[1].store.commitUpload(id, as: .of(sample, expected: sample.sha256))
        #expect(ended.outcome == .published(sample.id, isNew: second == split))
        #expect(try await nodes[0].store.uploadSession(id) == ended)
        #expect(try await nodes[0].store.open(sample.id).contents == sample.bytes)
      }
      #expect(server.keys.allSatisfy { !$0.hasPrefix("uploads/") })
      #expect(server.openUploads == 0)
      for node in nodes { await node.store.close() }
    }
  }

  @Test func `the server that receives all bytes does not read them again`() async throws {
    try await withFakeS3 { server in
      let rows = InMemoryUploadRows()
      let node = try await S3Node(server, rows: rows, Self.small)
      let sample = SampleBundle(count: 1000)
      let id = try await node.store.createUpload(.of(sample)).id
      for start in stride(from: 0, to: sample.bytes.count, by: 300) {
        try await node.store.append(sample.bytes[start..<min(start + 300, sample.bytes.count)], to: id)
      }
      _ = try await node.store.commitUpload(id, as: .of(sample))
      #expect(!server.calls.contains { $0.method == "GET" && $0.key.hasPrefix("uploads/") })
      #expect(try await node.store.open(sample.id).contents == sample.bytes)
      await node.store.close()
    }
  }

  @Test(arguments: [0, 150])
  func `a server that lost its lease changes nothing`(received: Int) async throws {
    try await withFakeS3 { server in
      let rows = InMemoryUploadRows()
      let asleep = try await S3Node(server, rows: rows) {
        Self.small(&$0)
        $0.uploadLease = .zero
      }
      let other = try await S3Node(server, rows: rows, Self.small)
      let sample = SampleBundle(count: 500)
      let id = try await asleep.store.createUpload(.of(sample)).id
      let late = try await asleep.store.beginAppending(AppendRequest(offset: 0), bytes: nil, to: id)
      if received > 0 {
        try await late.write(IOBuffer(sample.bytes[..<received]))
        #expect(try await late.checkpoint() == Int64(received))
      }
      // The other server takes over, and continues with what is durable.
      try await other.store.append(sample.bytes[received..<400], to: id)
      let session = try await other.store.uploadSession(id)
      let wrong = IOBuffer([UInt8](repeating: 9, count: 300))
      #expect(await uploadFailure { try await late.write(wrong) } == "superseded")
      #expect(await uploadFailure { _ = try await late.checkpoint() } == "superseded")
      #expect(await uploadFailure { _ = try await late.end(.finished) } == "superseded")
      #expect(try await other.store.uploadSession(id) == session)
      try await other.store.append(sample.bytes[400...], to: id)
      _ = try await other.store.commitUpload(id, as: .of(sample, expected: sample.sha256))
      #expect(try await asleep.store.open(sample.id).contents == sample.bytes)
      for node in [asleep, other] { await node.store.close() }
    }
  }

  @Test(arguments: [false, true])
  func `a part that a server writes late is not a part of the upload`(wantsAllParts: Bool) async throws {
    var defects = FakeS3Server.Defects()
    defects.wantsAllParts = wantsAllParts
    try await withFakeS3(defects) { server in
      let rows = InMemoryUploadRows()
      let (one, other) = (
        try await S3Node(server, attempts: 1, rows: rows, Self.small),
        try await S3Node(server, rows: rows, Self.small)
      )
      let sample = SampleBundle(count: 500)
      let id = try await one.store.createUpload(.of(sample)).id
      try await one.store.append(sample.bytes[..<120], to: id)
      // The request fails, and is executed after the next one.
      let isDelayed = Lock(false)
      server.inject { call in
        guard call.method == "PUT", call.key.hasPrefix("uploads/") else { return nil }
        return isDelayed.withLock { isDelayed in
          defer { isDelayed = true }
          return isDelayed ? nil : .delayed
        }
      }
      let late = [UInt8](repeating: 9, count: 150)
      #expect(
        await uploadFailure { try await one.store.append(late, to: id, declared: false) }
          == "store unavailable")
      #expect(try await other.store.uploadSession(id).offset == 120)
      try await other.store.append(sample.bytes[120...], to: id)
      // One server makes the object and can't read it, and another one goes on.
      let passed = Lock(wantsAllParts ? 1 : 0)
      server.inject { call in
        guard call.method == "GET", call.key.hasPrefix("uploads/") else { return nil }
        return passed.withLock { passed in
          passed -= 1
          return passed < 0 ? .refused(status: 500, code: "InternalError") : nil
        }
      }
      #expect(
        await uploadFailure {
          _ = try await one.store.commitUpload(id, as: .of(sample, expected: sample.sha256))
        } == "store unavailable")
      server.inject(nil)
      _ = try await other.store.commitUpload(id, as: .of(sample, expected: sample.sha256))
      #expect(try await one.store.open(sample.id).contents == sample.bytes)
      #expect(server.openUploads == 0)
      for node in [one, other] { await node.store.close() }
    }
  }

  @Test func `a server waits for the lease of another one, and gives up if it is kept`() async throws {
    try await withFakeS3 { server in
      let rows = InMemoryUploadRows()
      let nodes = [try await S3Node(server, rows: rows), try await S3Node(server, rows: rows)]
      let id = try await nodes[0].store.createUpload(.of(SampleBundle())).id
      let appending = try await nodes[0].store.beginAppending(AppendRequest(offset: 0), bytes: nil, to: id)
      #expect(await uploadFailure { try await nodes[1].store.append([1], to: id) } == "store unavailable")
      #expect(await uploadFailure { try await nodes[1].store.removeUpload(id) } == "store unavailable")
      _ = try await appending.end(.broken)
      try await nodes[1].store.append([1], to: id)
      try await nodes[1].store.removeUpload(id)
      #expect(await uploadFailure { _ = try await nodes[0].store.uploadSession(id) } == "unknown")
      for node in nodes { await node.store.close() }
    }
  }

  @Test func `a server keeps the lease while it publishes, however long that takes`() async throws {
    try await withFakeS3 { server in
      let rows = InMemoryUploadRows()
      let renewed = DispatchSemaphore(value: 0)
      let node = try await S3Node(server, rows: rows) {
        $0.uploadLease = .zero
        $0.validator.validate = { zip, depth throws(BundleError) in
          // The renewals begin after the last other use of the lease.
          guard renewed.wait(timeout: .now() + 60) == .success else { throw .manifestMissing }
          return try SampleBundle.validate(zip, depth)
        }
      }
      let sample = SampleBundle()
      let id = try await node.store.createUpload(.of(sample)).id
      try await node.store.append(sample.bytes, to: id)
      rows.inject { call in
        if call == .renew { renewed.signal() }
        return nil
      }
      let ended = try await node.store.commitUpload(id, as: .of(sample))
      #expect(ended.outcome == .published(sample.id, isNew: true))
      await node.store.close()
    }
  }

  @Test func `parts that several servers received are joined by another`() async throws {
    try await withFakeS3 { server in
      let rows = InMemoryUploadRows()
      let nodes = [
        try await S3Node(server, rows: rows, Self.small), try await S3Node(server, rows: rows, Self.small),
        try await S3Node(server, rows: rows, Self.small),
      ]
      let sample = SampleBundle(count: 700)
      var parts: [UploadID] = []
      for (number, range) in [0..<350, 350..<400, 400..<sample.bytes.count].enumerated() {
        let terms = UploadTerms(.partial, length: Int64(range.count), dialect: "test")
        let id = try await nodes[number % 2].store.createUpload(terms).id
        try await nodes[number % 2].store.append(sample.bytes[range], to: id)
        parts.append(id)
      }
      let terms = UploadTerms(.joined(.of(sample), parts: parts), dialect: "test")
      let joined = try await nodes[2].store.createUpload(terms)
      // The joined upload does not need its parts any more.
      for part in parts { try await nodes[0].store.removeUpload(part) }
      let ended = try await nodes[1].store.commitUpload(joined.id, as: .of(sample, expected: sample.sha256))
      #expect(ended.outcome == .published(sample.id, isNew: true))
      #expect(try await nodes[0].store.open(sample.id).contents == sample.bytes)
      #expect(server.keys.count == 2 && server.openUploads == 0)
      for node in nodes { await node.store.close() }
    }
  }

  @Test func `the sweep keeps the bytes of open uploads, and removes those of others`() async throws {
    try await withFakeS3 { server in
      let rows = InMemoryUploadRows()
      let node = try await S3Node(server, rows: rows) {
        Self.small(&$0)
        $0.orphanAge = .zero
      }
      server["uploads/\(SnapshotID())"] = Data("an upload".utf8)
      server["uploads/other"] = Data("not of this store".utf8)
      let sample = SampleBundle(count: 700)
      let open = try await node.store.createUpload(.of(sample)).id
      try await node.store.append(sample.bytes[..<400], to: open)
      let removed = try await node.store.createUpload(.of(SampleBundle(count: 700))).id
      try await node.store.append([UInt8](repeating: 1, count: 400), to: removed)
      server.inject { $0.method == "DELETE" ? .refused(status: 403, code: "AccessDenied") : nil }
      try await node.store.removeUpload(removed)
      server.inject(nil)
      #expect(server.openUploads == 2)
      #expect(try await node.store.sweep() == 2)
      #expect(server.openUploads == 1 && server.keys == ["uploads/other"])
      try await node.store.append(sample.bytes[400...], to: open)
      _ = try await node.store.commitUpload(open, as: .of(sample, expected: sample.sha256))
      #expect(try await node.store.open(sample.id).contents == sample.bytes)
      await node.store.close()
    }
  }

  @Test(.enabled(if: CephCluster.isInstalled))
  func `an upload with parts is continued by another server on a real object store`() async throws {
    try await SharedStore.ceph.withClient { client in
      let rows = InMemoryUploadRows()
      let nodes = [
        try await S3Node(client, rows: rows) { $0.uploads.length = 1 << 30 },
        try await S3Node(client, rows: rows) { $0.uploads.length = 1 << 30 },
      ]
      let sample = SampleBundle(count: 18 << 20)
      let id = try await nodes[0].store.createUpload(.of(sample)).id
      try await nodes[0].store.append(sample.bytes[..<(6 << 20)], to: id, pieceSize: 1 << 20)
      // A server that is killed here has written a part, but not recorded it.
      let object = try #require(try await rows.row(id)).object
      guard case .parts(let upload, _, let number) = object.contents else {
        Issue.record("There are no parts: \(object)")
        return
      }
      _ = try await client.uploadPart(
        number, of: S3MultipartUpload(key: "uploads/\(object.name)", id: upload),
        S3Body(Data(count: 5 << 20)))
      try await nodes[1].store.append(
        sample.bytes[(6 << 20)..<(13 << 20)], to: id, pieceSize: 1 << 20, checkpoints: true, .broken)
      try await nodes[0].store.append(sample.bytes[(13 << 20)...], to: id, pieceSize: 1 << 20)
      let ended = try await nodes[1].store.commitUpload(id, as: .of(sample, expected: sample.sha256))
      #expect(ended.outcome == .published(sample.id, isNew: true))
      let read = try await nodes[0].store.open(sample.id).contents
      #expect(ContentDigest.of(read) == sample.sha256)
      #expect(try await client.list(prefix: "").objects.count == 2)
      for node in nodes { await node.store.close() }
    }
  }
}
