import Foundation
import S3Client
import S3Testing
import TestSupport
import Testing

/// The error answers of Amazon's S3, as moto simulates them.
@Suite(
  .enabled("moto isn't installed; Tests/S3Testing/start-moto install does it") { MotoServer.isInstalled },
  .timeLimit(.minutes(5)))
struct MotoTests {
  /// The status and the code with which the store refuses what `body` does; `nil` if it does not.
  private func refusal(_ body: () async throws(S3Error) -> Void) async -> String? {
    do throws(S3Error) {
      try await body()
      return nil
    } catch {
      guard case .refused(let refusal) = error else { return "\(error)" }
      return "\(refusal.status) \(refusal.code)"
    }
  }

  @Test(arguments: [(false, "403 InvalidAccessKeyId"), (true, "403 SignatureDoesNotMatch")])
  func `wrong credentials are refused with the reason`(isKeyKnown: Bool, answer: String) async throws {
    let server = try await MotoServer.shared
    let accessKey = isKeyKnown ? server.credentials.accessKey : "AKIDOTHER"
    let wrong = try #require(S3Credentials(accessKey: accessKey, secretKey: "other"))
    let client = try server.client(credentials: wrong)
    #expect(
      await refusal { () async throws(S3Error) in _ = try await client.get("a", limit: 10) } == answer)
  }

  @Test func `a missing bucket differs from a missing key`() async throws {
    let server = try await MotoServer.shared
    let (client, nowhere) = (try server.client(), try server.client(bucket: "nowhere"))
    #expect(
      await refusal { () async throws(S3Error) in _ = try await client.get("a", limit: 10) }
        == "404 NoSuchKey")
    #expect(
      await refusal { () async throws(S3Error) in _ = try await nowhere.get("a", limit: 10) }
        == "404 NoSuchBucket")
  }

  @Test func `conditions that do not hold are not definite`() async throws {
    let client = try await MotoServer.shared.client()
    let writer = try await S3ConditionalWriter.proving(client, scratch: "proof")
    #expect(writer.quotesVersions)
    guard case .written(let version) = try await writer.create("a", Data("1".utf8)) else {
      Issue.record("a new key can't be created")
      return
    }
    guard case .undecided(.refused(let refusal)) = try await writer.create("a", Data("2".utf8)) else {
      Issue.record("a key was created twice")
      return
    }
    #expect(refusal.status == 412 && refusal.code == "PreconditionFailed")
    guard case .written = try await writer.replace("a", Data("3".utf8), version: version) else {
      Issue.record("the present version can't be replaced")
      return
    }
    guard case .undecided = try await writer.replace("a", Data("4".utf8), version: version) else {
      Issue.record("a former version was replaced")
      return
    }
    #expect(try await client.get("a", limit: 10).bytes == Data("3".utf8))
  }

  @Test func `an upload in parts that can't be completed is refused with the reason`() async throws {
    let client = try await MotoServer.shared.client()
    let upload = try await client.beginMultipart("a")
    let etag = try #require(S3ETag("0123456789abcdef0123456789abcdef"))
    let unknown = S3Part(number: 1, etag: etag, size: nil)
    #expect(
      await refusal { () async throws(S3Error) in try await client.complete(upload, parts: [unknown]) }
        == "400 InvalidPart")
    var parts: [S3Part] = []
    for number in 1...2 {
      parts.append(try await client.uploadPart(number, of: upload, S3Body(Data("1".utf8))))
    }
    let small = parts
    #expect(
      await refusal { () async throws(S3Error) in try await client.complete(upload, parts: small) }
        == "400 EntityTooSmall")
    try await client.abort(upload)
    try await client.abort(upload)
    #expect(
      await refusal { () async throws(S3Error) in _ = try await client.parts(of: upload) }
        == "404 NoSuchUpload")
  }
}
