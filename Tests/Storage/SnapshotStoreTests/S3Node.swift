import Foundation
import S3Client
import S3Store
import S3Testing
import SnapshotStore
import StoreTesting
import TestSupport

/// The object stores that several servers share in a test.
enum SharedStore: CaseIterable {
  case memory, ceph

  static let allCases: [SharedStore] = CephCluster.isInstalled ? [.memory, .ceph] : [.memory]

  /// Runs `body` with a client of an empty folder.
  func withClient(_ body: (S3Client) async throws -> Void) async throws {
    switch self {
    case .memory: try await withFakeS3 { try await body(try .of($0)) }
    case .ceph: try await body(try await CephCluster.shared.client(prefix: UUID().uuidString))
    }
  }
}

/// A server's store with its local folder.
struct Node: Sendable {
  let store: S3BundleStore
  private let folder: TemporaryFolder

  init(
    _ server: FakeS3Server, prefix: String = "", attempts: Int = 5,
    rows: any UploadRows = InMemoryUploadRows(),
    _ configure: (inout S3BundleStore.Configuration) -> Void = { _ in }
  ) async throws {
    try await self.init(try .of(server, prefix: prefix, attempts: attempts), rows: rows, configure)
  }

  init(
    _ client: S3Client, rows: any UploadRows = InMemoryUploadRows(),
    _ configure: (inout S3BundleStore.Configuration) -> Void = { _ in }
  ) async throws {
    folder = try TemporaryFolder()
    var configuration = S3BundleStore.Configuration(folder: folder.path, validator: .samples)
    configure(&configuration)
    store = try await S3BundleStore.open(configuration, client: client, rows: rows, logger: .quiet)
  }
}
