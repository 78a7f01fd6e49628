import PostgreSQLClient
import PostgreSQLTesting
import TestSupport
import Testing

/// The address of a database.
@Suite struct PostgreSQLConfigurationTests {
  @Test(arguments: [
    "", "postgres", "mysql://host/database", "host=here", "postgres://host/x?unknown=1",
    "postgres://user:secret@[host/x", "postgres://user:secret%zz@host/x",
  ])
  func `a text that is no URI of a database is rejected without repeating it`(uri: String) {
    let failure = #expect(throws: PostgreSQLError.invalidURI) { try PostgreSQLConfiguration(uri: uri) }
    #expect(failure.map { "\($0)".contains("secret") } == false)
  }

  @Test func `the description contains neither user nor password`() throws {
    let uri = "postgres://somebody:secret@db.example:6432/snapshots?sslmode=require"
    #expect(try PostgreSQLConfiguration(uri: uri).description == "db.example:6432/snapshots")
  }

  @Test(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed"))
  func `a failure to connect does not contain the password`() async throws {
    let server = try await PostgreSQLServer.shared
    for (database, port) in [("secret", server.port), ("postgres", 1)] {
      let configuration = try PostgreSQLConfiguration(
        uri: "postgres://tests:secret@127.0.0.1:\(port)/\(database)")
      let failure = #expect(throws: PostgreSQLError.self) { _ = try PostgreSQLConnection(configuration) }
      guard case .unavailable(let reason) = failure else {
        Issue.record("\(String(describing: failure))")
        return
      }
      #expect(!reason.contains("secret"))
    }
  }
}
