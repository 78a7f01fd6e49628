import HTTPClient
package import S3Client
package import SnapshotStore

/// An object store in a migration, with the local folder through which its bundles pass.
package struct MigratedStore: Sendable {
  /// Reads and writes the objects.
  let client: S3Client
  /// A local folder for bundles that are read. What it contains can be deleted at any time.
  let scratch: String

  /// Describes an object store. Sends nothing.
  /// - Parameters:
  ///   - client: the bucket, and the prefix in it.
  ///   - scratch: an existing local folder, which must have space for
  ///     ``/SnapshotStore/SnapshotMigration/concurrentCopies`` bundles.
  package init(_ client: S3Client, scratch: String) {
    self.client = client
    self.scratch = scratch
  }

  /// Names the store in messages: `s3://bucket/prefix`.
  var name: String { client.configuration.place }

  /// Runs `body`, and describes its error.
  func access<Value>(
    _ body: (S3Client) async throws(S3Error) -> Value
  ) async throws(TransferError) -> Value {
    do { return try await body(client) } catch {
      throw TransferError(error, at: client.configuration)
    }
  }
}

extension TransferError {
  /// The failure of an object store, with what an operator can do about it.
  package init(_ error: S3Error, at configuration: S3Configuration) {
    if let advice = error.advice(at: configuration) {
      self = .unusable(advice)
      return
    }
    switch error {
    case .credentials, .invalidRequest, .unsuitableStore: self = .unusable(error.description)
    case .transport(.file(let reason)):
      self = .unavailable("A bundle of \(configuration.place) can't be read into a local file: \(reason)")
    case .transport(let reason):
      self = .unavailable(
        """
        The object store at \(configuration.endpoint) does not answer (\(reason)): correct the setting \
        server.shared.endpoint, or run the command again later.
        """)
    case .refused, .malformedAnswer: self = .unavailable("\(error.description) Run the command again.")
    }
  }

  /// The failure of an operation on a state in an object store.
  init(_ error: StoreError, at configuration: S3Configuration) {
    self = .unavailable("The copy to \(configuration.place) failed: \(error) Run the command again.")
  }
}
