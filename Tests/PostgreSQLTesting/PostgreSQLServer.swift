import Foundation
package import PostgreSQLClient
import TestSupport

/// A PostgreSQL server that runs until the tests end. Debian's package postgresql provides it.
package final class PostgreSQLServer: Sendable {
  /// Whether the programs are installed.
  package static let isInstalled =
    ["setpriv", "python3"].allSatisfy { Tool.find($0) != nil }
    && (Tool.find("postgres") != nil || Tool.find("pg_ctl") != nil)

  private static let starting = Task { try await PostgreSQLServer() }

  /// The server of all tests of this process, which is started when it is first needed. Nothing is flushed.
  package static var shared: PostgreSQLServer {
    get async throws { try await starting.value }
  }

  private let program: RunningProgram
  private let folder: TemporaryFolder
  /// The port on the loopback address.
  package let port: UInt16
  /// The process id of the server.
  package let identifier: Int32

  /// Starts a server.
  /// - Parameter flushes: whether commits are flushed to the disk.
  package init(flushes: Bool = false) async throws {
    folder = try TemporaryFolder()
    program = try await RunningProgram(
      PackageFolder.url().appending(path: "Tests/PostgreSQLTesting/start-postgresql").path, [folder.path],
      environment: ["SNAPSHOT_PG_FSYNC": flushes ? "on" : "off"])
    let words = program.firstLine.split(separator: " ")
    guard words.count == 2, let port = UInt16(words[0]), let identifier = Int32(words[1]) else {
      throw PostgreSQLError.unexpectedResult(program.firstLine)
    }
    (self.port, self.identifier) = (port, identifier)
  }

  /// The settings for connections to a database. The limits of time are long, because the machine can be busy.
  package func configuration(
    database: String = "postgres", options: String = ""
  ) throws -> PostgreSQLConfiguration {
    var configuration = try PostgreSQLConfiguration(
      uri: "postgres://tests@127.0.0.1:\(port)/\(database)\(options)")
    (configuration.statementTimeout, configuration.waitTimeout) = (.seconds(300), .seconds(300))
    return configuration
  }

  /// Stops the server.
  package func stop() async { await program.stop() }
}

/// Runs `body` with an empty database of its own.
package func withDatabase(
  _ body: (PostgreSQLConfiguration) async throws -> Void
) async throws {
  let server = try await PostgreSQLServer.shared
  let name = "test_\(UUID().uuidString.replacing("-", with: "").lowercased())"
  let pool = PostgreSQLPool(try server.configuration())
  try await pool.perform { try $0.execute("CREATE DATABASE \(name)") }
  let result: Result<Void, any Error>
  do { result = .success(try await body(try server.configuration(database: name))) } catch {
    result = .failure(error)
  }
  try await pool.perform { try $0.execute("DROP DATABASE \(name) WITH (FORCE)") }
  pool.close()
  try result.get()
}
