import Foundation
import HTTPClient
import HTTPTypes
import S3Client
import S3Testing

/// The stores that the tests of the client run with.
enum StoreServer: CaseIterable {
  case fake, bareVersions, ceph

  static let allCases: [StoreServer] = [.fake, .bareVersions] + (CephCluster.isInstalled ? [.ceph] : [])

  /// Runs `body` with a client of an empty folder.
  func withClient(_ body: (S3Client) async throws -> Void) async throws {
    switch self {
    case .fake: try await withFakeS3 { try await body(try S3Client.of($0, prefix: "a folder")) }
    case .bareVersions:
      var defects = FakeS3Server.Defects()
      defects.wantsBareVersions = true
      defects.pageLength = 2
      try await withFakeS3(defects) { try await body(try S3Client.of($0)) }
    case .ceph: try await body(try await CephCluster.shared.client(prefix: UUID().uuidString))
    }
  }
}

/// Sends nothing.
struct NoTransport: Transport {
  func send(
    _ request: HTTPRequest, body: TransportBody, destination: TransportDestination,
    timeouts: TransportTimeouts, events: (@Sendable (TransportEvent) -> Void)?
  ) async throws(TransportError) -> TransportResponse {
    throw .cancelled
  }
}
