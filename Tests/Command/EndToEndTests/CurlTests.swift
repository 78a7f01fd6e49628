import Crypto
import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// The API, used only with curl.
@Suite struct CurlTests {
  @Test func `a snapshot is attached, fetched, inspected, listed and deleted`() async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(storage: folder.file("storage"))
    let (zip, _) = try await Sample.bundle(in: folder)
    let bytes = try Data(contentsOf: zip)
    let id = SnapshotID()
    let (bundle, record) = (server.address("/v1/snapshots/\(id).zip"), server.address("/v1/snapshots/\(id)"))
    let attach = server.address("/v1/reports/proj%2Fissue%2F9/snapshots")

    let created = try await Curl(["-T", zip.path, "-H", "Content-Type: application/zip", "\(attach)/\(id)"])
    #expect(created.status == 201)
    #expect(created.field("Location") == "/v1/snapshots/\(id)")
    #expect(try created.json["report"] as? String == "proj/issue/9")

    let again = try await Curl(["-T", zip.path, "-H", "Content-Type: application/zip", "\(attach)/\(id)"])
    #expect(again.status == 200)

    let fetched = try await Curl([bundle])
    #expect(fetched.status == 200)
    #expect(fetched.body == bytes)
    let digest = Data(SHA256.hash(data: bytes)).base64EncodedString()
    #expect(fetched.field("Repr-Digest") == "sha-256=:\(digest):")
    #expect(fetched.field("Content-Disposition")?.contains("\(id).zip") == true)

    let etag = try #require(fetched.field("ETag"))
    #expect(try await Curl(["-H", "If-None-Match: \(etag)", bundle]).status == 304)
    let part = try await Curl(["-r", "10-19", bundle])
    #expect(part.status == 206)
    #expect(part.body == bytes[10..<20])
    let head = try await Curl(["-I", bundle])
    #expect(head.status == 200)
    #expect(head.field("Content-Length") == "\(bytes.count)")

    #expect(try await Curl([record]).json["size"] as? Int == bytes.count)
    let list = try await Curl([attach])
    #expect((try list.json["snapshots"] as? [[String: Any]])?.map { $0["id"] as? String } == ["\(id)"])

    #expect(try await Curl(["-X", "DELETE", record]).status == 204)
    #expect(try await Curl([bundle]).status == 410)
    #expect(await server.program.stop() == 0)
  }

  @Test func `a form can contain the bundle and metadata`() async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(storage: folder.file("storage"))
    let (zip, _) = try await Sample.bundle(in: folder)
    let created = try await Curl([
      "-F", "snapshot=@\(zip.path)", "-F", "note=the balance was negative",
      server.address("/v1/reports/%234567/snapshots"),
    ])
    #expect(created.status == 201)
    #expect(try created.json["report"] as? String == "#4567")
    #expect(try created.json["metadata"] as? [String: String] == ["note": "the balance was negative"])
    let id = try #require(try created.json["id"] as? String)
    #expect(try await Curl([server.address("/v1/snapshots/\(id).zip")]).body == Data(contentsOf: zip))
  }

  @Test func `an interrupted download can be continued`() async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(storage: folder.file("storage"))
    let (zip, id) = try await Sample.bundle(in: folder, count: 200)
    _ = try await Curl([
      "-T", zip.path, "-H", "Content-Type: application/zip",
      server.address("/v1/reports/BUG-1/snapshots/\(id)"),
    ])
    let bytes = try Data(contentsOf: zip)
    let partial = try folder.write(bytes.prefix(1000), to: "partial.zip")
    let outcome = try await Tool.run(
      "curl", ["-sSf", "-C", "-", "-o", partial.path, server.address("/v1/snapshots/\(id).zip")])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(try Data(contentsOf: partial) == bytes)
  }

  @Test(
    arguments: [
      (["/v1/nothing"], 404, nil),
      (["-X", "POST", "/healthz"], 405, "GET, HEAD, OPTIONS"),
      (["-X", "BREW", "/healthz"], 501, nil),
      (["/v1/snapshots/not-a-uuid"], 400, nil),
      (["/v1/snapshots/00000000-0000-4000-8000-000000000000.zip"], 404, nil),
      (["/v1/reports/a%20b/snapshots"], 400, nil),
      (["/v1/reports/..%2Fx/snapshots"], 400, nil),
      (
        ["--data-binary", "no zip", "-H", "Content-Type: application/zip", "/v1/reports/B/snapshots"], 422,
        nil
      ),
      (["--data-binary", "{}", "-H", "Content-Type: application/json", "/v1/reports/B/snapshots"], 415, nil),
      (
        [
          "--data-binary", "x", "-H", "Content-Type: application/zip", "-H",
          "Repr-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:", "/v1/reports/B/snapshots",
        ], 400, nil
      ),
    ] as [([String], Int, String?)])
  func `invalid input is answered with a problem document`(arguments: [String], status: Int, allow: String?)
    async throws
  {
    let folder = try TemporaryFolder()
    let server = try await TestServer(storage: folder.file("storage"))
    let path = try #require(arguments.last)
    let answer = try await Curl(arguments.dropLast() + [server.address(path)])
    #expect(answer.status == status)
    #expect(answer.field("Content-Type") == "application/problem+json")
    #expect(try answer.json["status"] as? Int == status)
    #expect((try answer.json["detail"] as? String)?.isEmpty == false)
    #expect(try answer.json["requestID"] is String)
    if let allow { #expect(answer.field("Allow") == allow) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("storage/uploads").path).isEmpty)
    #expect(try await Curl([server.address("/healthz")]).status == 200)
  }

  @Test func `a body over the limit is refused before it is sent`() async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(
      storage: folder.file("storage"), environment: ["SNAPSHOT_SERVER_MAXIMUM_BUNDLE_BYTES": "1000000"])
    let large = try folder.write(Data(count: 1_000_001), to: "large.zip")
    let answer = try await Curl([
      "-T", large.path, "-H", "Content-Type: application/zip", "-H", "Expect: 100-continue", "-w",
      "%{http_code}", server.address("/v1/reports/B/snapshots/\(SnapshotID())"),
    ])
    #expect(answer.status == 413)
    #expect(!answer.head.contains("100 Continue"))
  }

  @Test func `the UUID that pack printed finds every copy of a bundle that was posted`() async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(storage: folder.file("storage"))
    let environment = ["SNAPSHOT_SERVER": server.url.absoluteString]
    let (zip, id) = try await Sample.bundle(in: folder)
    let post = [
      "--data-binary", "@\(zip.path)", "-H", "Content-Type: application/zip",
      server.address("/v1/reports/BUG-1/snapshots"),
    ]
    let created = try await Curl(post)
    #expect(created.status == 201)
    #expect(created.field("Location") == "/v1/snapshots/\(id)")
    let fetch = try await Product.run(
      ["fetch", "\(id)", "--output", folder.file("fetched.zip").path], environment: environment)
    #expect(fetch.status == 0, "\(fetch.errors)")
    #expect(try Data(contentsOf: folder.file("fetched.zip")) == Data(contentsOf: zip))

    let again = try await Curl(post)
    #expect(again.status == 201)
    #expect(try again.json["manifestID"] as? String == "\(id)")
    let found = try await Curl([server.address("/v1/snapshots?text=\(id)")])
    let ids = try #require(found.json["snapshots"] as? [[String: Any]]).compactMap { $0["id"] as? String }
    let other = try #require(again.json["id"] as? String)
    #expect(Set(ids) == ["\(id)", other])
  }
}
