import Dispatch
import Foundation
import Logging
import S3Client
import S3Store
import S3Testing
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing
import ZipArchive

/// What ``S3BundleStore`` does besides the guarantees of every store: several servers, the objects, and the cache.
@Suite struct S3BundleStoreTests {
  @Test func `a bundle is a record and its bytes, and only a tombstone remains of a deleted one`()
    async throws
  {
    try await withFakeS3 { server in
      let node = try await S3Node(server, prefix: "folder/")
      let sample = SampleBundle(count: 1000)
      try await node.store.upload(sample)
      let shard = SnapshotShard(of: sample.id).digits
      let keys = server.keys
      #expect(keys.count == 2)
      #expect(keys[0].hasPrefix("folder/bytes/\(shard)/\(sample.id)/"))
      #expect(server[keys[0]] == Data(sample.bytes))
      #expect(keys[1] == "folder/records/\(shard)/\(sample.id)")
      try await node.store.delete(sample.id)
      #expect(server.keys == [keys[1]])
      let tombstone = try #require(server[keys[1]])
      #expect(
        String(decoding: tombstone, as: UTF8.self).wholeMatch(of: #/\{"deleted":"[0-9a-f-]{36}"\}/#) != nil)
      await node.store.close()
    }
  }

  @Test(arguments: SharedStore.allCases)
  func `servers that share an object store see the same bundles at once`(kind: SharedStore) async throws {
    try await kind.withClient { client in
      let (one, other) = (try await S3Node(client), try await S3Node(client))
      let sample = SampleBundle(count: 1000)
      let record = try await one.store.upload(sample).record
      #expect(try await other.store.record(sample.id) == record)
      let open = try await other.store.open(sample.id)
      #expect(try open.contents == sample.bytes)
      #expect(try await other.store.change(RecordChange(isPinned: true), of: sample.id).isPinned)
      #expect(try await one.store.record(sample.id).isPinned)
      try await one.store.delete(sample.id)
      #expect(await failure { _ = try await other.store.open(sample.id) } == "deleted")
      #expect(try open.contents == sample.bytes)
      for node in [one, other] { await node.store.close() }
    }
  }

  @Test(arguments: SharedStore.allCases)
  func `of uploads to several servers for one id, exactly one creates the bundle`(kind: SharedStore)
    async throws
  {
    try await kind.withClient { client in
      let nodes = [try await S3Node(client), try await S3Node(client), try await S3Node(client)]
      let id = SnapshotID()
      let created = await withTaskGroup(of: [UInt8]?.self) { group in
        for number in 0..<24 {
          group.addTask {
            let sample = SampleBundle(id: id, filling: "\(number)")
            do {
              if case .created = try await nodes[number % 3].store.upload(sample) { return sample.bytes }
            } catch StoreError.conflict {
            } catch {
              Issue.record("\(error)")
            }
            return nil
          }
        }
        return await group.reduce(into: [[UInt8]]()) { if let bytes = $1 { $0.append(bytes) } }
      }
      #expect(created.count == 1)
      #expect(try await nodes[0].store.open(id).contents == created.first)
      // The bytes of those that lost are removed.
      #expect(try await client.list(prefix: "").objects.count == 2)
      for node in nodes { await node.store.close() }
    }
  }

  @Test(arguments: SharedStore.allCases)
  func `changes through several servers are all applied`(kind: SharedStore) async throws {
    try await kind.withClient { client in
      let nodes = [try await S3Node(client), try await S3Node(client)]
      let sample = SampleBundle()
      try await nodes[0].store.upload(sample)
      try await withThrowingTaskGroup { group in
        for number in 0..<20 {
          group.addTask {
            let comment = try #require(SnapshotComment("\(number)", writtenAt: Date()))
            try await nodes[number % 2].store.change(RecordChange(comment: comment), of: sample.id)
          }
        }
        try await group.waitForAll()
      }
      let comments = try await nodes[1].store.record(sample.id).comments
      #expect(Set(comments?.map(\.text) ?? []) == Set((0..<20).map(String.init)))
      #expect(comments?.count == 20)
      for node in nodes { await node.store.close() }
    }
  }

  @Test func `bytes are read once for any number of readers, and again to verify them`() async throws {
    try await withFakeS3 { server in
      let node = try await S3Node(server)
      let sample = SampleBundle(count: 100_000)
      try await node.store.upload(sample)
      let reads = { server.calls.count { $0.method == "GET" && $0.key.hasPrefix("bytes/") } }
      try await withThrowingTaskGroup { group in
        for _ in 0..<16 {
          group.addTask {
            let bundle = try await node.store.open(sample.id)
            #expect(try bundle.contents == sample.bytes)
          }
        }
        try await group.waitForAll()
      }
      #expect(reads() == 1)
      #expect(try await node.store.openAnew(sample.id).contents == sample.bytes)
      #expect(reads() == 2)
      await node.store.close()
    }
  }

  @Test func `the cache is deleted while it is used, and nothing is lost`() async throws {
    try await withFakeS3 { server in
      let folder = try TemporaryFolder()
      let reads = Lock<[CacheRead]>([])
      var configuration = S3BundleStore.Configuration(
        folder: folder.file("cache").path, validator: .samples)
      configuration.onRead = { read in reads.withLock { $0.append(read) } }
      configuration.partBytes = 100
      configuration.uploads.length = 1 << 16
      let store = try await S3BundleStore.open(
        configuration, client: .of(server), rows: InMemoryUploadRows(), logger: .quiet)
      let samples = [SampleBundle(count: 1000), SampleBundle(count: 2000), SampleBundle(count: 3000)]
      try await store.upload(samples[0])
      let open = try await store.open(samples[0].id)
      let resumed = try await store.createUpload(.of(samples[2])).id
      try await store.append(samples[2].bytes[..<1500], to: resumed)
      try Folder.removeTree(configuration.folder)
      // What is open or kept remains readable, and everything else is read or written again.
      #expect(try open.contents == samples[0].bytes)
      #expect(try await store.open(samples[0].id).contents == samples[0].bytes)
      try await store.upload(samples[1])
      #expect(try await store.open(samples[1].id).contents == samples[1].bytes)
      #expect(reads.withLock { $0 } == [.miss, .hit, .miss])
      try Folder.removeTree(configuration.folder)
      #expect(try await store.openAnew(samples[1].id).contents == samples[1].bytes)
      try await store.append(samples[2].bytes[1500...], to: resumed)
      _ = try await store.commitUpload(resumed, as: .of(samples[2], expected: samples[2].sha256))
      #expect(try await store.open(samples[2].id).contents == samples[2].bytes)
      await store.close()
    }
  }

  @Test(arguments: SharedStore.allCases)
  func `a URL gives access to one bundle for a limited time`(kind: SharedStore) async throws {
    try await kind.withClient { client in
      let node = try await S3Node(client)
      let sample = SampleBundle(count: 1000)
      try await node.store.upload(sample)
      let url = try await node.store.url(of: sample.id, lifetime: .seconds(60))
      #expect(url.contains("X-Amz-Expires=60&"))
      let read = try await Tool.run("curl", ["-sS", "--fail", "-D", "-", "-r", "0-9", url])
      #expect(read.text.hasSuffix(String(decoding: sample.bytes[..<10], as: UTF8.self)))
      #expect(read.text.contains("attachment; filename=\"\(sample.id).zip\""))
      let other = url.replacingOccurrences(of: "\(sample.id)/", with: "\(SnapshotID())/")
      #expect(try await Tool.run("curl", ["-sS", "--fail", other]).status != 0)
      try await node.store.setAside(sample.id)
      #expect(
        await failure { _ = try await node.store.url(of: sample.id, lifetime: .seconds(1)) } == "damaged")
      try await node.store.delete(sample.id)
      #expect(
        await failure { _ = try await node.store.url(of: sample.id, lifetime: .seconds(1)) } == "deleted")
      await node.store.close()
    }
  }

  @Test func `a bundle whose bytes are missing or have another length can't be opened`() async throws {
    try await withFakeS3 { server in
      let node = try await S3Node(server)
      let samples = [SampleBundle(), SampleBundle()]
      for sample in samples { try await node.store.upload(sample) }
      for key in server.keys where key.hasPrefix("bytes/") {
        server[key] = key.contains("\(samples[0].id)") ? nil : Data("short".utf8)
      }
      for sample in samples {
        #expect(await failure { _ = try await node.store.open(sample.id) } == "damaged")
      }
      #expect(try await node.store.openAnew(samples[1].id).contents == Array("short".utf8))
      for sample in samples {
        try await node.store.setAside(sample.id)
        try await node.store.upload(sample)
        #expect(try await node.store.open(sample.id).contents == sample.bytes)
      }
      #expect(server.keys.count == 4)
      await node.store.close()
    }
  }

  @Test func `a record that can't be read is damaged, listed by its id, and omitted from the records`()
    async throws
  {
    try await withFakeS3 { server in
      let node = try await S3Node(server)
      let (good, bad) = (SampleBundle(), SampleBundle())
      for sample in [good, bad] { try await node.store.upload(sample) }
      let key = try #require(server.keys.first { $0.hasPrefix("records/") && $0.hasSuffix("\(bad.id)") })
      server[key] = server[server.keys.first { $0.hasSuffix("\(good.id)") } ?? ""]
      #expect(await failure { _ = try await node.store.record(bad.id) } == "damaged")
      #expect(try await node.store.ids(in: SnapshotShard(of: bad.id)).contains(bad.id))
      #expect(try await node.store.allRecords().map(\.id) == [good.id])
      await node.store.close()
    }
  }

  @Test(arguments: [SampleBundle.Quality.intact, .damaged])
  func `checksums are verified after the answer, and the result is recorded`(quality: SampleBundle.Quality)
    async throws
  {
    try await withFakeS3 { server in
      let verified = Lock<[SnapshotRecord]>([])
      let node = try await S3Node(server) {
        $0.onVerification = { record in verified.withLock { $0.append(record) } }
      }
      let sample = SampleBundle(quality)
      #expect(try await node.store.upload(sample, expected: true).record.verified == .pending)
      await node.store.close()
      let expected: SnapshotRecord.Verification = quality == .intact ? .intact : .damaged
      #expect(try await node.store.record(sample.id).verified == expected)
      #expect(verified.withLock { $0.map(\.verified) } == [expected])
      #expect(
        await failure { _ = try await node.store.open(sample.id) } == (quality == .intact ? nil : "damaged"))
    }
  }

  @Test func `a damaged bundle is not repaired by the same bytes`() async throws {
    try await withFakeS3 { server in
      let (node, other) = (try await S3Node(server), try await S3Node(server))
      let sample = SampleBundle(.damaged)
      try await node.store.upload(sample, expected: true)
      await node.store.close()
      #expect(try await other.store.record(sample.id).verified == .damaged)
      #expect(await failure { try await other.store.upload(sample, expected: true) } != nil)
      #expect(try await other.store.record(sample.id).verified == .damaged)
      await other.store.close()
    }
  }

  @Test func `a bundle that is set aside while its checksums are verified remains so`() async throws {
    try await withFakeS3 { server in
      let isSetAside = DispatchSemaphore(value: 0)
      let verified = Lock(0)
      let node = try await S3Node(server) {
        $0.validator.validate = { zip, depth throws(BundleError) in
          if depth == .full { isSetAside.wait() }
          return try SampleBundle.validate(zip, depth)
        }
        $0.onVerification = { _ in verified.withLock { $0 += 1 } }
      }
      let sample = SampleBundle()
      #expect(try await node.store.upload(sample, expected: true).record.verified == .pending)
      try await node.store.setAside(sample.id)
      isSetAside.signal()
      await node.store.close()
      #expect(try await node.store.record(sample.id).verified == .damaged)
      #expect(verified.withLock { $0 } == 0)
    }
  }

  @Test func `a bundle that can't be verified, or exceeds a lowered limit, is not damaged`() async throws {
    try await withFakeS3 { server in
      let limit = BundleError.archive(ZipError(.limit(.entries)))
      for error in [limit, .system(SystemError(operation: "pread", code: 5))] {
        let verified = Lock(0)
        let node = try await S3Node(server) {
          $0.validator.validate = { zip, depth throws(BundleError) in
            if depth == .full { throw error }
            return try SampleBundle.validate(zip, depth)
          }
          $0.onVerification = { _ in verified.withLock { $0 += 1 } }
        }
        let sample = SampleBundle()
        try await node.store.upload(sample, expected: true)
        await node.store.close()
        #expect(try await node.store.record(sample.id).verified == .pending)
        #expect(verified.withLock { $0 } == 0)
      }
    }
  }

  #if os(Linux)
    @Test func `the local copy of a bundle leaves the disk when the bundle is deleted`() async throws {
      try await withFakeS3 { server in
        var folder = ""
        let node = try await S3Node(server) { folder = $0.folder }
        let samples = [SampleBundle(), SampleBundle()]
        for sample in samples {
          try await node.store.upload(sample)
          _ = try await node.store.open(sample.id)
        }
        #expect(try Descriptors.count(of: folder, ".download") == 2)
        #expect(try !Folder.entries(folder).contains { $0.hasSuffix(".download") })
        try await node.store.delete(samples[0].id)
        #expect(try Descriptors.count(of: folder, ".download") == 1)
        await node.store.close()
      }
    }
  #endif

  @Test func `the sweep removes old bytes that no record names, and nothing else`() async throws {
    try await withFakeS3 { server in
      let node = try await S3Node(server) { $0.orphanAge = .zero }
      let samples = [SampleBundle(), SampleBundle()]
      for sample in samples { try await node.store.upload(sample) }
      server.inject { $0.method == "DELETE" ? .refused(status: 403, code: "AccessDenied") : nil }
      try await node.store.delete(samples[0].id)
      server.inject(nil)
      let shard = SnapshotShard(of: samples[1].id).digits
      server["bytes/\(shard)/\(samples[1].id)/\(SnapshotID())"] = Data("an attempt".utf8)
      server["bytes/\(shard)/\(SnapshotID())/other"] = Data("not of this store".utf8)
      let client = try S3Client.of(server)
      for key in ["bytes/a", "other"] { _ = try await client.beginMultipart(key) }
      #expect(server.keys.count == 6)
      #expect(try await S3Node(server).store.sweep() == 0)
      #expect(try await node.store.sweep() == 3)
      #expect(server.openUploads == 1)
      #expect(try await node.store.sweep() == 0)
      #expect(server.keys.count == 4)
      #expect(try await node.store.open(samples[1].id).contents == samples[1].bytes)
      await node.store.close()
    }
  }

  @Test func `an upload that does not fit into the local folder uses the space of the bundles that are kept`()
    async throws
  {
    try await withFakeS3 { server in
      let reads = Lock<[CacheRead]>([])
      let shortages = Lock(0)
      let node = try await S3Node(server) { configuration in
        configuration.onRead = { read in reads.withLock { $0.append(read) } }
        configuration.onShortage = { shortages.withLock { $0 += 1 } }
      }
      let sample = SampleBundle()
      try await node.store.upload(sample)
      for _ in 0..<2 { #expect(try await node.store.open(sample.id).contents == sample.bytes) }
      #expect(await failure { _ = try await node.store.beginUpload(expecting: .max) } == "outOfSpace")
      #expect(try await node.store.open(sample.id).contents == sample.bytes)
      #expect(reads.withLock(\.self) == [.miss, .hit, .miss])
      #expect(shortages.withLock(\.self) == 1)
      await node.store.close()
    }
  }

  @Test func `an upload that does not fit into the local folder is refused before it begins`() async throws {
    try await withFakeS3 { server in
      let node = try await S3Node(server)
      #expect(await failure { _ = try await node.store.beginUpload(expecting: .max) } == "outOfSpace")
      await node.store.close()
    }
  }

  @Test func `a local folder is used by one store at a time, and emptied by the next`() async throws {
    try await withFakeS3 { server in
      let folder = try TemporaryFolder()
      let configuration = S3BundleStore.Configuration(folder: folder.path)
      let store = try await S3BundleStore.open(
        configuration, client: .of(server), rows: InMemoryUploadRows(), logger: .quiet)
      await #expect {
        _ = try await S3BundleStore.open(
          configuration, client: .of(server), rows: InMemoryUploadRows(), logger: .quiet)
      } throws: {
        if case S3BundleStore.OpeningError.inUse = $0 { true } else { false }
      }
      await store.close()
      try folder.write(Data("1".utf8), to: "1.zip")
      try folder.write(Data("1".utf8), to: "1.download")
      try await S3BundleStore.open(
        configuration, client: .of(server), rows: InMemoryUploadRows(), logger: .quiet
      ).close()
      #expect(try Folder.entries(folder.path) == ["lock"])
    }
  }

  @Test func `an object store that ignores conditions is refused`() async throws {
    var defects = FakeS3Server.Defects()
    defects.ignoresIfMatch = true
    try await withFakeS3(defects) { server in
      await #expect {
        _ = try await S3Node(server)
      } throws: {
        if case S3BundleStore.OpeningError.objectStore(.unsuitableStore) = $0 { true } else { false }
      }
    }
  }
}
