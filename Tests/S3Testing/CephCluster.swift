import Foundation
import HTTPClient
import HTTPTypes
package import S3Client
import TestSupport

/// Ceph with its gateway for S3, which runs until the tests end. Debian's packages ceph-mon, ceph-osd, radosgw and
/// ceph-common provide it.
package final class CephCluster: Sendable {
  /// Whether the programs are installed.
  package static let isInstalled = ["ceph", "ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "setpriv"]
    .allSatisfy { Tool.find($0) != nil }

  private static let starting = Task { try await CephCluster() }

  /// The cluster of all tests of this process, which is started when it is first needed.
  package static var shared: CephCluster {
    get async throws { try await starting.value }
  }

  private let program: RunningProgram
  private let folder: TemporaryFolder
  private let endpoint: URL
  private let credentials: S3Credentials

  private init() async throws {
    folder = try TemporaryFolder()
    program = try await RunningProgram(
      PackageFolder.url().appending(path: "Tests/S3Testing/start-ceph").path, [folder.path])
    (endpoint, credentials) = try program.store()
    try await makeBucket()
  }

  /// A client of a folder in the bucket.
  package func client(prefix: String) throws -> S3Client {
    S3Client(
      try S3Configuration(endpoint: endpoint, bucket: Self.bucket, prefix: prefix),
      credentials: .constant(credentials), transport: SystemTransport())
  }

  private static let bucket = "tests"

  private func makeBucket() async throws {
    let request = HTTPRequest(
      method: .put, scheme: "http", authority: "127.0.0.1:\(endpoint.port ?? 80)", path: "/\(Self.bucket)")
    let signed = RequestSigner(credentials: credentials, region: "us-east-1")
      .signed(request, bodyDigest: RequestSigner.emptyBody, at: Date())
    let response = try await SystemTransport().send(
      signed, body: .none, destination: .memory(limit: 1 << 16), timeouts: TransportTimeouts(), events: nil)
    guard response.head.status == .ok else { throw URLError(.badServerResponse) }
  }
}
