import Foundation
import HTTPClient
package import S3Client

extension S3Client {
  /// A client of `server` that never waits between attempts.
  package static func of(
    _ server: FakeS3Server, prefix: String = "", attempts: Int = 5,
    environment: S3Environment = S3Environment(sleep: { _ in })
  ) throws -> S3Client {
    guard let credentials = FakeS3Server.credentials else { throw S3Error.credentials("none") }
    var configuration = try S3Configuration(
      endpoint: server.endpoint, bucket: FakeS3Server.bucket, prefix: prefix)
    configuration.retries.attempts = attempts
    return S3Client(
      configuration, credentials: .constant(credentials), transport: SystemTransport(),
      environment: environment)
  }
}

/// Runs `body` with a server, and stops it.
package func withFakeS3(
  _ defects: FakeS3Server.Defects = FakeS3Server.Defects(), _ body: (FakeS3Server) async throws -> Void
) async throws {
  let server = try await FakeS3Server.start(defects)
  let result: Result<Void, any Error>
  do { result = .success(try await body(server)) } catch { result = .failure(error) }
  await server.stop()
  try result.get()
}
