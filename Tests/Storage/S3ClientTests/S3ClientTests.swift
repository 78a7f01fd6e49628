import Crypto
import Foundation
import S3Client
import S3Testing
import SystemIO
import TestSupport
import Testing

/// The operations, with the store in memory and, if it is installed, with Ceph.
@Suite struct S3ClientTests {
  @Test(arguments: StoreServer.allCases)
  func `an object is written, read, replaced and deleted`(server: StoreServer) async throws {
    try await server.withClient { client in
      let key = "objects/a b+c%/ü~"
      let bytes = Data("hello, world".utf8)
      let etag = try await client.put(key, S3Body(bytes))
      let read = try await client.get(key, limit: 100)
      #expect(read.bytes == bytes)
      #expect(read.info.size == Int64(bytes.count))
      #expect(read.info.etag == etag)
      #expect(try await client.head(key).etag == etag)
      #expect(try await client.get(key, range: 7..<12) == Data("world".utf8))
      #expect(try await client.get(key, range: 7..<100) == Data("world".utf8))
      #expect(await failure { _ = try await client.get(key, range: 100..<101) }?.status == 416)
      try await client.put(key, S3Body(Data()))
      #expect(try await client.get(key, limit: 0).bytes.isEmpty)
      try await client.delete(key)
      try await client.delete(key)
      #expect(await failure { _ = try await client.get(key, limit: 0) }?.code == "NoSuchKey")
      #expect(await failure { _ = try await client.head(key) }?.status == 404)
    }
  }

  @Test(arguments: StoreServer.allCases)
  func `a file is written and read in constant memory`(server: StoreServer) async throws {
    try await server.withClient { client in
      let folder = try TemporaryFolder()
      let bytes = makePattern(3_000_000)
      let file = try folder.write(bytes, to: "in")
      try await client.put("file", try S3Body(part: 0..<Int64(bytes.count), of: file))
      let info = try await client.download("file", to: folder.file("out"))
      #expect(info.size == Int64(bytes.count))
      #expect(try Data(contentsOf: folder.file("out")) == bytes)
      #expect(await failure { _ = try await client.download("none", to: folder.file("none")) }?.status == 404)
    }
  }

  @Test(arguments: StoreServer.allCases)
  func `a list has all objects below a prefix, in order and in pages`(server: StoreServer) async throws {
    try await server.withClient { client in
      let keys = (0..<25).map { "list/\($0 % 2)/ü \($0 + 10)&" }
      for key in keys + ["lisu", "list"] { try await client.put(key, S3Body(Data(key.utf8))) }
      var pages: [[S3ListedObject]] = []
      var next: String?
      repeat {
        let page = try await client.list(prefix: "list/", after: next, limit: 10)
        pages.append(page.objects)
        next = page.next
      } while next != nil
      let length = server == .bareVersions ? 2 : 10
      #expect(pages.dropLast().allSatisfy { $0.count == length })
      #expect(pages.count == (25 + length - 1) / length)
      #expect(pages.joined().map(\.key) == keys.sorted())
      #expect(pages.joined().allSatisfy { $0.size == Int64($0.key.utf8.count) })
      #expect(pages.joined().allSatisfy { abs($0.modifiedAt.timeIntervalSinceNow) < 600 })
      #expect(try await client.list(prefix: "list/2").objects.isEmpty)
    }
  }

  @Test(arguments: StoreServer.allCases)
  func `an object is uploaded in parts`(server: StoreServer) async throws {
    try await server.withClient { client in
      let upload = try await client.beginMultipart("parts")
      let parts = [Data(repeating: 1, count: Int(S3Limits.minimumPartBytes)), Data("the end".utf8)]
      #expect(try await client.parts(of: upload).isEmpty)
      for number in [2, 1] { _ = try await client.uploadPart(number, of: upload, S3Body(parts[number - 1])) }
      let stored = try await client.parts(of: upload)
      #expect(stored.map(\.number) == [1, 2])
      #expect(stored.map(\.size) == parts.map { Int64($0.count) })
      #expect(await failure { _ = try await client.head("parts") }?.status == 404)
      try await client.complete(upload, parts: stored)
      #expect(try await client.get("parts", limit: 1 << 30).bytes == parts[0] + parts[1])

      let other = try await client.beginMultipart("parts")
      let part = try await client.uploadPart(1, of: other, S3Body(parts[1]))
      try await client.abort(other)
      try await client.abort(other)
      #expect(await failure { try await client.complete(other, parts: [part]) } != nil)
      #expect(try await client.head("parts").size == Int64(parts[0].count + parts[1].count))
    }
  }

  @Test(arguments: StoreServer.allCases)
  func `a large file is uploaded in parts, and a small one at once`(server: StoreServer) async throws {
    try await server.withClient { client in
      let folder = try TemporaryFolder()
      let client = client.changing { $0.multipartBytes = S3Limits.minimumPartBytes }
      for (name, size) in [("small", 100_000), ("large", 2 * Int(S3Limits.minimumPartBytes) + 1)] {
        let bytes = makePattern(size)
        let file = try folder.write(bytes, to: name)
        try await client.upload(
          file, to: name, size: Int64(size), digest: Array(SHA256.hash(data: bytes)), on: .global())
        #expect(try await client.get(name, limit: size).bytes == bytes)
        #expect(try await client.head(name).size == Int64(size))
      }
    }
  }

  @Test(arguments: StoreServer.allCases)
  func `uploads that were not completed are listed in pages, if they are old enough`(server: StoreServer)
    async throws
  {
    try await server.withClient { client in
      var begun: Set<S3MultipartUpload> = []
      for number in 0..<5 { begun.insert(try await client.beginMultipart("uploads/ü \(number)&")) }
      let other = try await client.beginMultipart("other")
      func listed(before limit: Date) async throws -> Set<S3MultipartUpload> {
        var listed: [S3MultipartUpload] = []
        try await client.forEachPageOfUploads(prefix: "uploads/", before: limit) { listed += $0 }
        #expect(Set(listed).count == listed.count)
        return Set(listed)
      }
      #expect(try await listed(before: Date() + 60) == begun)
      #expect(try await listed(before: Date() - 60).isEmpty)
      for upload in begun.union([other]) { try await client.abort(upload) }
      #expect(try await listed(before: Date() + 60).isEmpty)
    }
  }

  @Test(arguments: StoreServer.allCases)
  func `an upload with a part that the store does not have is not completed`(server: StoreServer) async throws
  {
    try await server.withClient { client in
      let upload = try await client.beginMultipart("parts")
      let part = try await client.uploadPart(1, of: upload, S3Body(Data("one".utf8)))
      let other = try await client.uploadPart(1, of: upload, S3Body(Data("two".utf8)))
      #expect(part.etag != other.etag)
      #expect(await failure { try await client.complete(upload, parts: [part]) }?.code == "InvalidPart")
      #expect(await failure { _ = try await client.head("parts") }?.status == 404)
      try await client.abort(upload)
    }
  }

  @Test(arguments: StoreServer.allCases)
  func `of 32 writers that create one object, exactly one succeeds`(server: StoreServer) async throws {
    try await server.withClient { client in
      let writer = try await S3ConditionalWriter.proving(client, scratch: "proof")
      #expect(try await client.list(prefix: "proof").objects.isEmpty)
      let written = try await withThrowingTaskGroup(of: Data?.self) { group in
        for number in 0..<32 {
          group.addTask {
            let bytes = Data("\(number)".utf8)
            if case .written = try await writer.create("one", bytes) { return bytes }
            return nil
          }
        }
        return try await group.reduce(into: [Data]()) { if let bytes = $1 { $0.append(bytes) } }
      }
      #expect(written == [try await client.get("one", limit: 10).bytes])
    }
  }

  @Test(arguments: StoreServer.allCases)
  func `an object is replaced only if it has the version that was read`(server: StoreServer) async throws {
    try await server.withClient { client in
      let writer = try await S3ConditionalWriter.proving(client, scratch: "proof")
      guard case .written(let first) = try await writer.create("one", Data("1".utf8)),
        case .written(let second) = try await writer.replace("one", Data("2".utf8), version: first)
      else {
        Issue.record("not written")
        return
      }
      guard case .undecided = try await writer.replace("one", Data("3".utf8), version: first),
        case .undecided = try await writer.replace("none", Data("3".utf8), version: first)
      else {
        Issue.record("written")
        return
      }
      let read = try await client.get("one", limit: 10)
      #expect(read.bytes == Data("2".utf8))
      #expect(read.info.etag == second)
      #expect(await failure { _ = try await client.head("none") }?.status == 404)
    }
  }

  @Test(arguments: StoreServer.allCases)
  func `a presigned URL reads one object, without credentials and with other fields`(server: StoreServer)
    async throws
  {
    guard case .ceph = server else { return }
    try await server.withClient { client in
      try await client.put("a b", S3Body(Data("hello".utf8)))
      let url = try await client.presignedURL(
        "a b", lifetime: 60, fields: ["response-content-disposition": "attachment; filename=\"x y\""])
      let outcome = try await Tool.run("curl", ["-sS", "--fail", "-D", "-", url])
      #expect(outcome.text.contains("attachment; filename=\"x y\"") && outcome.text.hasSuffix("hello"))
      let tampered = url.replacingOccurrences(of: "a%20b", with: "a%20c")
      #expect(try await Tool.run("curl", ["-sS", "--fail", tampered]).status != 0)
    }
  }

  @Test(.enabled(if: CephCluster.isInstalled, "radosgw isn't installed"))
  func `Ceph's gateway wants versions without quotation marks`() async throws {
    try await StoreServer.ceph.withClient { client in
      let writer = try await S3ConditionalWriter.proving(client, scratch: "proof")
      #expect(!writer.quotesVersions)
    }
  }
}

/// Bytes in which missing, repeated and exchanged pieces are detected: the period is a prime.
func makePattern(_ count: Int) -> Data {
  let period = Data((0..<10_007).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
  var bytes = Data(capacity: count + period.count)
  while bytes.count < count { bytes += period }
  return bytes.prefix(count)
}

/// The refusal with which `body` failed; `nil` if it succeeded, or failed otherwise.
func failure(_ body: () async throws -> Void) async -> S3Refusal? {
  do {
    try await body()
  } catch S3Error.refused(let refusal) {
    return refusal
  } catch {
    Issue.record("\(error)")
  }
  return nil
}
