import Crypto
import Foundation
import HTTPClient
import S3Client
import S3Testing
import SystemIO
import TestSupport
import Testing

/// Errors, retries and conditions, with a store that fails as a test specifies.
@Suite struct S3ClientFailureTests {
  @Test(arguments: [
    (500, "InternalError"), (502, ""), (503, "SlowDown"), (429, "TooManyRequests"), (400, "RequestTimeout"),
    (409, "ConditionalRequestConflict"),
  ])
  func `a temporary failure is repeated until it succeeds`(status: Int, code: String) async throws {
    try await withFakeS3 { server in
      let client = try S3Client.of(server)
      server.fail(times: 4, .refused(status: status, code: code))
      try await client.put("a", S3Body(Data("1".utf8)))
      #expect(server.calls.count == 5)
      server.fail(times: 5, .refused(status: status, code: code))
      #expect(await failure { _ = try await client.get("a", limit: 1) }?.code == code)
      #expect(server.calls.count == 10)
    }
  }

  @Test(arguments: [
    (403, "AccessDenied"), (404, "NoSuchBucket"), (400, "InvalidRequest"), (501, "NotImplemented"),
  ])
  func `a refusal is not repeated, and has the store's code, text and request id`(status: Int, code: String)
    async throws
  {
    try await withFakeS3 { server in
      let client = try S3Client.of(server)
      server.fail(times: 1, .refused(status: status, code: code))
      #expect(
        await failure { _ = try await client.get("a", limit: 1) }
          == S3Refusal(status: status, code: code, message: "for the test", requestID: "fake"))
      #expect(server.calls.count == 1)
    }
  }

  @Test(arguments: [FakeS3Server.Fault.failedAfterwards, .delayed, .brokenAfterwards])
  func `a conditional write whose outcome is unknown is undecided, and not repeated`(
    fault: FakeS3Server.Fault
  ) async throws {
    try await withFakeS3 { server in
      let client = try S3Client.of(server)
      let writer = try await S3ConditionalWriter.proving(client, scratch: "proof")
      let before = server.calls.count
      server.fail(times: 1, fault)
      guard case .undecided = try await writer.create("a", Data("1".utf8)) else {
        Issue.record("decided")
        return
      }
      let calls = server.calls.count - before
      // The transport itself sends a request again if a connection breaks that was used before.
      #expect(fault == .brokenAfterwards ? calls <= 2 : calls == 1)
      let written = fault == .delayed ? nil : Data("1".utf8)
      #expect(server["a"] == written)
    }
  }

  @Test func `a conflict with another conditional write that persists is undecided`() async throws {
    try await withFakeS3 { server in
      let client = try S3Client.of(server)
      let writer = try await S3ConditionalWriter.proving(client, scratch: "proof")
      let version = try await client.put("a", S3Body(Data("1".utf8)))
      let refusal = S3Refusal(
        status: 409, code: "ConditionalRequestConflict", message: "for the test", requestID: "fake")
      for write in [
        { try await writer.create("b", Data("2".utf8)) },
        { try await writer.replace("a", Data("2".utf8), version: version) },
      ] {
        let before = server.calls.count
        server.fail(times: 5, .refused(status: 409, code: refusal.code))
        let outcome = try await write()
        #expect(outcome == .undecided(.refused(refusal)))
        #expect(server.calls.count - before == 5)
      }
      #expect(server["a"] == Data("1".utf8) && server["b"] == nil)
    }
  }

  @Test(arguments: [(409, "ConditionalRequestConflict"), (503, "SlowDown"), (429, "TooManyRequests")])
  func `a conditional write that the store did not execute is repeated`(status: Int, code: String)
    async throws
  {
    try await withFakeS3 { server in
      let client = try S3Client.of(server)
      let writer = try await S3ConditionalWriter.proving(client, scratch: "proof")
      server.fail(times: 3, .refused(status: status, code: code))
      guard case .written = try await writer.create("a", Data("1".utf8)) else {
        Issue.record("undecided")
        return
      }
      #expect(server["a"] == Data("1".utf8))
    }
  }

  @Test func `an object that is gone already counts as deleted`() async throws {
    try await withFakeS3 { server in
      let client = try S3Client.of(server)
      server.fail(times: 1, .refused(status: 404, code: "NoSuchKey"))
      try await client.delete("a")
      server.fail(times: 1, .refused(status: 403, code: "AccessDenied"))
      #expect(await failure { try await client.delete("a") }?.status == 403)
    }
  }

  @Test func `a conditional write that is forbidden had no effect`() async throws {
    try await withFakeS3 { server in
      let client = try S3Client.of(server)
      let writer = try await S3ConditionalWriter.proving(client, scratch: "proof")
      server.fail(times: 1, .refused(status: 403, code: "AccessDenied"))
      #expect(await failure { _ = try await writer.create("a", Data()) }?.status == 403)
    }
  }

  @Test func `a store that ignores a condition is refused by its name, and nothing remains`() async throws {
    for (name, keyPath) in [
      ("If-None-Match", \FakeS3Server.Defects.ignoresIfNoneMatch), ("If-Match", \.ignoresIfMatch),
    ] as [(String, WritableKeyPath<FakeS3Server.Defects, Bool>)] {
      var defects = FakeS3Server.Defects()
      defects[keyPath: keyPath] = true
      try await withFakeS3(defects) { server in
        let client = try S3Client.of(server, prefix: "folder")
        do {
          _ = try await S3ConditionalWriter.proving(client, scratch: "proof")
          Issue.record("accepted")
        } catch S3Error.unsuitableStore(let reason) {
          #expect(reason.contains("ignores \(name)"))
        }
        #expect(server.keys.isEmpty)
      }
    }
  }

  @Test(arguments: [true, false])
  func `the proof finds out how the store wants versions written`(bare: Bool) async throws {
    var defects = FakeS3Server.Defects()
    defects.wantsBareVersions = bare
    try await withFakeS3(defects) { server in
      let writer = try await S3ConditionalWriter.proving(try .of(server, prefix: "folder"), scratch: "proof")
      #expect(writer.quotesVersions == !bare)
      #expect(server.calls.allSatisfy { $0.key.hasPrefix("folder/proof/") })
      #expect(server.keys.isEmpty)
    }
  }

  @Test func `a proof that the store fails to answer is repeated, and does not condemn the store`()
    async throws
  {
    try await withFakeS3 { server in
      let client = try S3Client.of(server, attempts: 1)
      server.fail(times: 1, .failedAfterwards)
      _ = try await S3ConditionalWriter.proving(client, scratch: "proof")
      #expect(server.keys.isEmpty)
      server.inject { $0.isConditional ? .failedAfterwards : nil }
      #expect(
        await failure { _ = try await S3ConditionalWriter.proving(client, scratch: "proof") }?.status == 500)
      #expect(server.keys.isEmpty)
    }
  }

  @Test(arguments: [-3600.0, 3600])
  func `requests are signed with the store's time once it has refused that of the client`(
    seconds: Double
  ) async throws {
    try await withFakeS3 { server in
      let corrections = Lock<[Double]>([])
      let client = try S3Client.of(
        server, attempts: 1,
        environment: S3Environment(
          now: { Date() + seconds },
          onClockCorrection: { difference in corrections.withLock { $0.append(difference) } }))
      // The answer to HEAD has no reason.
      #expect(await failure { _ = try await client.head("a") }?.status == 404)
      try await client.put("a", S3Body(Data("1".utf8)))
      #expect(
        try await client.changing { $0.retries.attempts = 2 }.get("a", limit: 1).bytes == Data("1".utf8))
      let url = try await client.presignedURL("a", lifetime: 60)
      #expect(try await Tool.run("curl", ["-sS", "--fail", url]).text == "1")
      let known = corrections.withLock { $0 }
      #expect(known.count == 1 && abs(known[0] + seconds) < 60)
    }
  }

  @Test func `a client whose clock is right does not follow the store's`() async throws {
    try await withFakeS3 { server in
      let corrections = Lock(0)
      let client = try S3Client.of(
        server, environment: S3Environment(onClockCorrection: { _ in corrections.withLock { $0 += 1 } }))
      server.fail(times: 1, .refused(status: 403, code: "AccessDenied"))
      #expect(await failure { _ = try await client.get("a", limit: 1) }?.status == 403)
      #expect(server.calls.count == 1)
      #expect(corrections.withLock { $0 } == 0)
    }
  }

  @Test(arguments: [FakeS3Server.Fault.failedAfterwards, .brokenAfterwards])
  func `an upload in parts whose answers are lost succeeds`(fault: FakeS3Server.Fault) async throws {
    try await withFakeS3 { server in
      let folder = try TemporaryFolder()
      let bytes = makePattern(Int(S3Limits.minimumPartBytes) + 1)
      let file = try folder.write(bytes, to: "large")
      let seen = Lock<Set<String>>([])
      // The first request of each method fails: the beginning, a part, and the completion.
      server.inject { call in
        seen.withLock { $0.insert("\(call.method) \($0.count > 1)").inserted } ? fault : nil
      }
      let client = try S3Client.of(server).changing { $0.multipartBytes = S3Limits.minimumPartBytes }
      try await client.upload(
        file, to: "large", size: Int64(bytes.count), digest: Array(SHA256.hash(data: bytes)), on: .global())
      #expect(server["large"] == bytes)
      #expect(seen.withLock { $0.count } > 2)
    }
  }

  @Test(arguments: [(500, "InternalError"), (404, "NoSuchUpload")])
  func `an object of another length is not taken for the one that was made of parts`(
    status: Int, code: String
  ) async throws {
    try await withFakeS3 { server in
      let client = try S3Client.of(server)
      let upload = try await client.beginMultipart("a")
      let part = try await client.uploadPart(1, of: upload, S3Body(Data("parts".utf8)))
      server.inject { $0.method == "POST" ? .refused(status: status, code: code) : nil }
      func assemble() async throws { try await client.assemble(upload, parts: [part], size: 5) }
      #expect(await failure { try await assemble() }?.status == 404)
      server["a"] = Data("older".utf8) + Data("s".utf8)
      #expect(await failure { try await assemble() }?.code == code)
      // It was made before, and the answer was lost.
      server["a"] = Data("parts".utf8)
      try await assemble()
      server.inject { $0.method == "POST" ? .refused(status: 403, code: "AccessDenied") : nil }
      #expect(await failure { try await assemble() }?.code == "AccessDenied")
    }
  }

  @Test func `an upload in parts that fails is aborted`() async throws {
    try await withFakeS3 { server in
      let folder = try TemporaryFolder()
      let bytes = makePattern(3 * Int(S3Limits.minimumPartBytes))
      let file = try folder.write(bytes, to: "large")
      server.inject { $0.method == "PUT" ? .refused(status: 403, code: "AccessDenied") : nil }
      let client = try S3Client.of(server).changing { $0.multipartBytes = S3Limits.minimumPartBytes }
      #expect(
        await failure {
          try await client.upload(
            file, to: "large", size: Int64(bytes.count), digest: Array(SHA256.hash(data: bytes)),
            on: .global())
        }?.status == 403)
      #expect(server.keys.isEmpty)
      #expect(server.openUploads == 0)
    }
  }

  @Test func `documents can have prefixes, comments, references and character data`() async throws {
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      let document = """
        <?xml version="1.0"?><!-- <a> --><s3:ListBucketResult xmlns:s3='x>y' ><s3:IsTruncated>false</s3:IsTruncated>
        <Empty/><Contents><Key>a&#x2F;b&#47;&amp;<![CDATA[<c>]]></Key><Size>7</Size><Owner><ID>1</ID></Owner>
        <LastModified>2026-11-23T20:00:00.5Z</LastModified></Contents></s3:ListBucketResult>
        """
      try connection.respond("200 OK", body: Array(document.utf8))
    }
    let page = try await makeClient(server.port).list(prefix: "")
    #expect(
      page.objects == [
        S3ListedObject(key: "a/b/&<c>", size: 7, modifiedAt: Date(timeIntervalSince1970: 1_795_464_000.5))
      ])
    #expect(page.next == nil)
  }

  @Test func `a store that refuses connections is an error of the transport`() async throws {
    let port = try ScriptedServer.unusedPort()
    let client = try makeClient(port)
    await #expect {
      _ = try await client.head("a")
    } throws: {
      if case .transport(.connectionFailed) = $0 as? S3Error { true } else { false }
    }
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n<A><B/><",
    "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n<A/>",
    "HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\n<!DOCTYPE x [<!ENTITY a>]>",
    "HTTP/1.1 200 OK\r\nContent-Length: 68\r\n\r\n"
      + "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
  ])
  func `a list that is not one of S3 is malformed`(response: String) async throws {
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.write(response)
    }
    let client = try makeClient(server.port)
    await #expect {
      _ = try await client.list(prefix: "")
    } throws: {
      if case .malformedAnswer = $0 as? S3Error { true } else { false }
    }
  }

  @Test func `an answer that is not XML is a refusal with its status`() async throws {
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.respond("403 Forbidden", body: Array("<html>".utf8))
    }
    let client = try makeClient(server.port)
    #expect(await failure { _ = try await client.get("a", limit: 1) } == S3Refusal(status: 403))
  }

  @Test(arguments: [
    ("206 Partial Content", ["Content-Range: bytes 6-10/20"]), ("206 Partial Content", []),
    ("206 Partial Content", ["Content-Range: bytes */20"]), ("200 OK", ["Content-Range: bytes 5-9/20"]),
    ("200 OK", []),
  ])
  func `an answer with another range than was asked for is malformed`(
    status: String, fields: [String]
  ) async throws {
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.respond(status, fields + ["ETag: \"1\""], body: Array("56789".utf8))
    }
    let client = try makeClient(server.port)
    await #expect {
      _ = try await client.get("a", range: 5..<10)
    } throws: {
      if case .malformedAnswer = $0 as? S3Error { true } else { false }
    }
  }

  @Test func `an object that is longer than allowed is not read`() async throws {
    try await withFakeS3 { server in
      let client = try S3Client.of(server)
      try await client.put("a", S3Body(Data("12345".utf8)))
      await #expect(throws: S3Error.transport(.responseTooLarge(limit: 4))) {
        _ = try await client.get("a", limit: 4)
      }
    }
  }

  @Test func `keys and ranges that S3 does not have are refused without a request`() async throws {
    try await withFakeS3 { server in
      let client = try S3Client.of(server)
      for key in ["", String(repeating: "ü", count: 513)] {
        await #expect(throws: S3Error.self) { _ = try await client.head(key) }
      }
      await #expect(throws: S3Error.self) { _ = try await client.get("a", range: 1..<1) }
      #expect(server.calls.isEmpty)
    }
  }

  @Test func `the delays grow exponentially up to a limit, and are random`() {
    let retries = S3Retries()
    #expect(
      (1...8).map { retries.delay(afterAttempt: $0, random: 1) } == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5])
    #expect(retries.delay(afterAttempt: 3, random: 0.5) == 0.2)
    #expect(retries.delay(afterAttempt: 100, random: 0) == 0)
  }

  private func makeClient(_ port: UInt16) throws -> S3Client {
    var configuration = try S3Configuration(
      endpoint: try #require(URL(string: "http://127.0.0.1:\(port)")), bucket: "tests")
    configuration.retries.attempts = 1
    return S3Client(
      configuration, credentials: .constant(try #require(FakeS3Server.credentials)),
      transport: SystemTransport())
  }
}

extension FakeS3Server {
  /// Lets the next requests fail.
  func fail(times: Int, _ fault: Fault) {
    let left = Lock(times)
    inject { _ in
      left.withLock { left in
        left -= 1
        return left >= 0 ? fault : nil
      }
    }
  }
}
