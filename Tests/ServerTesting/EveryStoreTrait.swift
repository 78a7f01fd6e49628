import Foundation
import Logging
import S3Client
package import S3Store
import S3Testing
package import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
package import Testing

/// Runs every test of a suite with a store in memory, and again with an object store. The first ``TestAPI`` of a test
/// uses that store, unless it has limits of its own.
package struct EveryStoreTrait: SuiteTrait, TestTrait, TestScoping {
  /// A store for one ``TestAPI``.
  private final class Supply: Sendable {
    private let store: Lock<S3BundleStore?>

    init(_ store: S3BundleStore) { self.store = Lock(store) }

    func take() -> S3BundleStore? { store.withLock { $0.take() } }
  }

  @TaskLocal private static var supply: Supply?

  /// The checks of bundles in every store.
  package static let validator = UploadValidator(wholeUpTo: 0)

  /// The object store of this test; `nil` if it uses memory, or has taken the store already.
  package static func takeStore() -> S3BundleStore? { supply?.take() }

  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await function()
    try await withFakeS3 { server in
      let folder = try TemporaryFolder()
      let store = try await S3BundleStore.open(
        .init(folder: folder.path, validator: Self.validator), client: .of(server),
        rows: InMemoryUploadRows(),
        logger: .quiet)
      try await Self.$supply.withValue(Supply(store)) { try await function() }
      await store.close()
    }
  }
}

extension Trait where Self == EveryStoreTrait {
  /// Runs every test with a store in memory, and again with an object store.
  package static var everyStore: Self { Self() }
}
