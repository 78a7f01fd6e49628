import Foundation
package import S3Client
import S3Testing

/// The object stores that several servers share in a test.
package enum SharedStore: CaseIterable, Sendable {
  case memory, ceph

  package static let allCases: [SharedStore] = CephCluster.isInstalled ? [.memory, .ceph] : [.memory]

  /// Runs `body` with a client of an empty folder.
  package func withClient(_ body: (S3Client) async throws -> Void) async throws {
    switch self {
    case .memory: try await withFakeS3 { try await body(try .of($0)) }
    case .ceph: try await body(try await CephCluster.shared.client(prefix: UUID().uuidString))
    }
  }
}
