import Foundation
package import S3Client
package import S3Store
package import S3Testing
package import SnapshotStore
import TestSupport

/// A server's store with its local folder.
package struct S3Node: Sendable {
  package let store: S3BundleStore
  private let folder: TemporaryFolder

  package init(
    _ server: FakeS3Server, prefix: String = "", attempts: Int = 5,
    rows: any UploadRows = InMemoryUploadRows(),
    _ configure: (inout S3BundleStore.Configuration) -> Void = { _ in }
  ) async throws {
    try await self.init(try .of(server, prefix: prefix, attempts: attempts), rows: rows, configure)
  }

  package init(
    _ client: S3Client, rows: any UploadRows = InMemoryUploadRows(),
    _ configure: (inout S3BundleStore.Configuration) -> Void = { _ in }
  ) async throws {
    folder = try TemporaryFolder()
    var configuration = S3BundleStore.Configuration(folder: folder.path, validator: .samples)
    configure(&configuration)
    store = try await S3BundleStore.open(configuration, client: client, rows: rows, logger: .quiet)
  }
}
