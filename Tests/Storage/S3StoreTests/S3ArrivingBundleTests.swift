import S3Store
import S3Testing
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// Large bundles that are sent while they are read from the object store.
@Suite struct S3ArrivingBundleTests {
  /// More than 4 MiB. The length of the repeated text is a prime number, so that no two ranges of a piece are equal.
  private static let sample = SampleBundle(
    filling: String(repeating: (0..<1009).map { "\($0 * $0 % 7)" }.joined(), count: 5000))

  private static func size(_ sample: SampleBundle = sample) -> Int64 { Int64(sample.bytes.count) }

  @Test func `a large bundle is sent while it arrives, is read once for all readers, and is kept`()
    async throws
  {
    try await withFakeS3 { server in
      let reads = Lock<[CacheRead]>([])
      let node = try await S3Node(server) { $0.onRead = { read in reads.withLock { $0.append(read) } } }
      try await node.store.upload(Self.sample)
      server.inject { $0.isOfBytes ? .paused(after: 3_000_000) : nil }
      let readers = try await [node.pieces(0..<Self.size()), node.pieces(0..<Self.size())]
      var received: [[UInt8]] = []
      for reader in readers { received.append(try #require(try await reader())) }
      #expect(received.allSatisfy { !$0.isEmpty && Self.sample.bytes.starts(with: $0) })
      server.resume()
      for (index, reader) in readers.enumerated() {
        while let piece = try await reader() { received[index] += piece }
        #expect(received[index] == Self.sample.bytes)
      }
      // The last piece can be read before the file is kept.
      _ = try await node.store.open(Self.sample.id)
      #expect(server.calls.count { $0.isOfBytes } == 1)
      guard case .file(let file) = try await node.contents().bytes else {
        Issue.record("the bundle is not kept")
        return
      }
      #expect(try file.read(upTo: Self.sample.bytes.count, at: 0) == Self.sample.bytes)
      #expect(reads.withLock { $0.prefix(2) } == [.miss, .miss])
      #expect(reads.withLock { $0.last } == .hit)
      await node.store.close()
    }
  }

  @Test(arguments: [0..<10, 1_048_570..<1_048_590, 100..<2_300_000, 4_999_990..<5_000_010] as [Range<Int64>])
  func `a range of a large bundle is read by itself, and nothing is kept`(range: Range<Int64>) async throws {
    try await withFakeS3 { server in
      let node = try await S3Node(server)
      try await node.store.upload(Self.sample)
      let bytes = try await node.read(range)
      #expect(bytes == Array(Self.sample.bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
      #expect(server.calls.count { $0.isOfBytes } == (range.count + (1 << 20) - 1) >> 20)
      guard case .arriving = try await node.contents().bytes else {
        Issue.record("a range filled the cache")
        return
      }
      await node.store.close()
    }
  }

  @Test func `a long range waits for the bytes before it`() async throws {
    try await withFakeS3 { server in
      let node = try await S3Node(server)
      try await node.store.upload(Self.sample)
      let range = 1_000_000..<Self.size()
      #expect(try await node.read(range) == Array(Self.sample.bytes[1_000_000...]))
      #expect(server.calls.count { $0.isOfBytes } == 1)
      await node.store.close()
    }
  }

  @Test(arguments: [0, 1, 1_500_000, 5_000_000])
  func `bytes that were sent are not sent again if reading is repeated`(count: Int) async throws {
    try await withFakeS3 { server in
      let node = try await S3Node(server)
      try await node.store.upload(Self.sample)
      let failures = Lock(2)
      server.inject { call in
        call.isOfBytes
          && failures.withLock { left in
            left -= 1
            return left >= 0
          } ? .cut(after: count) : nil
      }
      #expect(try await node.read(0..<Self.size()) == Self.sample.bytes)
      #expect(server.calls.count { $0.isOfBytes } == 3)
      await node.store.close()
    }
  }

  @Test(arguments: [0..<10, 0..<5_045_000, 5_000_000..<5_000_010] as [Range<Int64>])
  func `missing bytes are found out with the first piece`(range: Range<Int64>) async throws {
    try await withFakeS3 { server in
      let node = try await S3Node(server)
      try await node.store.upload(Self.sample)
      let pieces = try await node.pieces(range)
      let other = try await node.pieces(range)
      for key in server.keys where key.hasPrefix("bytes/") { server[key] = nil }
      #expect(await failure { _ = try await pieces() } == "damaged")
      try await node.store.delete(Self.sample.id)
      #expect(await failure { _ = try await other() } == "deleted")
      await node.store.close()
    }
  }

  @Test(arguments: [0..<5_045_000, 2_000_000..<2_000_010] as [Range<Int64>])
  func `an object that is shorter than its record ends with an error`(range: Range<Int64>) async throws {
    try await withFakeS3 { server in
      let node = try await S3Node(server)
      try await node.store.upload(Self.sample)
      for key in server.keys where key.hasPrefix("bytes/") { server[key]?.removeLast(4_000_000) }
      #expect(await failure { _ = try await node.read(range) } == "damaged")
      await node.store.close()
    }
  }

  @Test func `a caller who may not see a bundle learns nothing, and the record is read once`() async throws {
    try await withFakeS3 { server in
      let node = try await S3Node(server)
      try await node.store.upload(Self.sample)
      let hidden = await failure { _ = try await node.store.contents(Self.sample.id) { _ in false } }
      #expect(hidden == "notFound")
      #expect(await failure { _ = try await node.store.open(Self.sample.id) { _ in false } } == "notFound")
      let before = server.calls.count
      _ = try await node.contents()
      #expect(server.calls.count == before + 1)
      try await node.store.setAside(Self.sample.id)
      #expect(await failure { _ = try await node.contents() } == "damaged")
      #expect(
        await failure { _ = try await node.store.contents(Self.sample.id) { _ in false } } == "notFound")
      await node.store.close()
    }
  }
}

extension FakeS3Server.Call {
  var isOfBytes: Bool { method == "GET" && key.hasPrefix("bytes/") }
}

extension S3Node {
  fileprivate func contents() async throws -> BundleContents {
    try await store.contents(S3ArrivingBundleTests.id) { _ in true }
  }

  fileprivate func pieces(_ range: Range<Int64>) async throws -> @Sendable () async throws -> [UInt8]? {
    guard case .arriving(let pieces) = try await contents().bytes else { return { nil } }
    return pieces(range)
  }

  fileprivate func read(_ range: Range<Int64>) async throws -> [UInt8] {
    let next = try await pieces(range)
    var bytes: [UInt8] = []
    while let piece = try await next() { bytes += piece }
    return bytes
  }
}

extension S3ArrivingBundleTests {
  fileprivate static var id: SnapshotID { sample.id }
}
