import Crypto
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import ServerTesting
import SnapshotServer
import Testing

/// The checksums of single requests in tus.
@Suite(.everyStore) struct TusChecksumTests {
  private let api = TestAPI()
  private let bundle: ZippedSample
  private var count: Int { bundle.bytes.count }

  init() throws { bundle = try ZippedSample() }

  private func sha1(_ bytes: some Collection<UInt8>) -> String {
    "sha1 " + Data(Insecure.SHA1.hash(data: Array(bytes))).base64EncodedString()
  }

  private func sha256(_ bytes: some Collection<UInt8>) -> String {
    "sha256 " + Data(SHA256.hash(data: Array(bytes))).base64EncodedString()
  }

  @Test func `a checksum is verified before any byte counts`() async throws {
    let path = try await api.open(count)
    let piece = Array(bundle.bytes[..<100])
    for wrong in [sha1([1]), sha256([1])] {
      let answer = try await api.patch(path, at: 0, piece, [.uploadChecksum: wrong])
      #expect(answer.status == 460)
      #expect(answer.kind == "checksum-mismatch")
      #expect(try await api.tus(.head, path).fields[.uploadOffset] == "0")
    }
    #expect(try await api.patch(path, at: 0, piece, [.uploadChecksum: sha1(piece)]).status == 204)
    #expect(
      try await api.patch(
        path, at: 100, bundle.bytes[100...], [.uploadChecksum: sha256(bundle.bytes[100...])]
      )
      .status == 204)
  }

  @Test(arguments: [
    "md5 x", "crc32 AAAA", "sha1", "sha1 ", "sha1 !", "sha1 AAAA", "SHA1 2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
  ])
  func `a malformed checksum is refused`(text: String) async throws {
    let path = try await api.open(count)
    #expect(try await api.patch(path, at: 0, [1], [.uploadChecksum: text]).status == 400)
    #expect(try await api.tus(.head, path).fields[.uploadOffset] == "0")
  }

  @Test func `a checksum can follow the body as a trailer if the head announces it`() async throws {
    let path = try await api.open(count)
    let piece = Array(bundle.bytes[..<100])
    func patch(at offset: Int, _ announced: String, _ trailers: HTTPFields) async throws -> Int {
      try await api.tus(
        .patch, path,
        [.uploadOffset: "\(offset)", .contentType: TestAPI.tusType, .trailer: announced],
        body: .chunked(piece, trailers: trailers)
      ).status
    }
    #expect(try await patch(at: 0, "Upload-Checksum", [.uploadChecksum: sha1([1])]) == 460)
    #expect(try await patch(at: 0, "Upload-Checksum", [:]) == 460)
    #expect(try await patch(at: 0, "Upload-Checksum", [.uploadChecksum: "md5 x"]) == 400)
    #expect(try await api.tus(.head, path).fields[.uploadOffset] == "0")
    #expect(try await patch(at: 0, "X, upload-checksum", [.uploadChecksum: sha1(piece)]) == 204)
    #expect(try await api.tus(.head, path).fields[.uploadOffset] == "100")
  }

  @Test func `a wrong checksum in a creation with upload leaves the upload open`() async throws {
    let answer = try await api.tus(
      .post, "/v1/uploads",
      [
        .uploadLength: "\(count)", .contentType: TestAPI.tusType, .uploadChecksum: sha1([1]),
        .uploadMetadata: TestAPI.metadata([("report", "B")]),
      ], body: .pieces(of: bundle.bytes))
    #expect(answer.status == 460)
    let path = try #require(answer.fields[.location])
    #expect(try await api.tus(.head, path).fields[.uploadOffset] == "0")
  }
}
