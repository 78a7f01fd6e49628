import Foundation
import HTTPClient
package import S3Client
import TestSupport

/// moto, a simulation of Amazon's S3, which runs until the tests end. `Tests/S3Testing/start-moto install` installs it.
///
/// Its error answers have the form and the codes of Amazon's. It does not execute conditional writes atomically, and
/// refuses correct signatures of lists with a prefix.
package final class MotoServer: Sendable {
  /// Whether it is installed.
  package static let isInstalled = FileManager.default.isExecutableFile(
    atPath: PackageFolder.url().appending(path: ".build-moto/bin/moto_server").path)

  private static let starting = Task { try await MotoServer() }

  /// The server of all tests of this process, which is started when it is first needed.
  package static var shared: MotoServer {
    get async throws { try await starting.value }
  }

  private let program: RunningProgram
  private let endpoint: URL
  /// The credentials that the server accepts.
  package let credentials: S3Credentials

  private init() async throws {
    program = try await RunningProgram(
      PackageFolder.url().appending(path: "Tests/S3Testing/start-moto").path, [])
    (endpoint, credentials) = try program.store()
  }

  /// A client that sends each request once.
  /// - Parameters:
  ///   - bucket: the bucket, by default one that exists.
  ///   - credentials: the credentials; `nil` for those that the server accepts.
  package func client(
    bucket: String = "tests", prefix: String = UUID().uuidString, credentials: S3Credentials? = nil
  ) throws -> S3Client {
    var configuration = try S3Configuration(endpoint: endpoint, bucket: bucket, prefix: prefix)
    configuration.retries.attempts = 1
    return S3Client(
      configuration, credentials: .constant(credentials ?? self.credentials),
      transport: SystemTransport())
  }
}
