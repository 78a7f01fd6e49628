import Foundation
import SnapshotFormat
import TestSupport
import Testing

@testable import snapshot

/// The version of the product, and where it is shown.
@Suite struct VersionTests {
  @Test func `the command prints only its version`() async throws {
    let outcome = try await Product.run(["--version"])
    #expect(outcome.status == 0)
    #expect(outcome.text == ProductVersion.current + "\n")
    #expect(outcome.errors.isEmpty)
    #expect(try await Product.run(["--help"]).text.contains("--version"))
  }

  @Test func `the version option of a subcommand does not print the product's version`() async throws {
    let outcome = try await Product.run(["list", "--version", "3.1", "--after", "nonsense"])
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains("‘nonsense’"))
    #expect(outcome.output.isEmpty)
    #expect(try await Product.run(["serve", "--version"]).status == 64)
  }

  @Test func `the server logs its version`() async throws {
    let folder = try TemporaryFolder()
    let server = try await TestServer(storage: folder.file("storage"))
    await server.program.stop()
    #expect(try server.program.errors.contains(#""version":"\#(ProductVersion.current)""#))
  }

  @Test func `the changelog has the same version`() throws {
    #expect(ProductVersion.current.wholeMatch(of: /\d+\.\d+\.\d+/) != nil)
    let changelog = try String(
      contentsOf: DockerTests.root.appending(path: "CHANGELOG.md"), encoding: .utf8)
    let latest = try #require(changelog.split(separator: "\n").first { $0.hasPrefix("## ") })
    #expect(latest.contains("Unreleased") || latest.contains(ProductVersion.current))
  }
}
