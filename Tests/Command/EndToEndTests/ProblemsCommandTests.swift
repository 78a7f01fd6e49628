import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// The list of what is wrong with the recordings of a snapshot.
@Suite struct ProblemsCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func problems(of files: [String: String], _ options: String...) async throws -> Tool.Outcome {
    for (name, text) in files { try folder.write(Data(text.utf8), to: "app/\(name)") }
    let zip = folder.file("app.zip").path
    let packed = try await Product.run(["pack", folder.file("app").path, "--output", zip])
    try #require(packed.status == 0, "\(packed.errors)")
    return try await Product.run(["problems", zip] + options)
  }

  @Test func `each problem has a line, and the exit status is 1`() async throws {
    let outcome = try await problems(of: [
      "good.json": "{}", "broken.json": "{\"a\":\n,}", "empty": "", "cut.json": "[1,",
      "page": "<html><title>503 Service Unavailable</title>",
    ])
    #expect(outcome.status == 1)
    #expect(
      outcome.lines == [
        "broken.json: invalid JSON, 2:1", "cut.json: cut off after 3 bytes", "empty: empty",
        "page: error page, 503",
      ])
  }

  @Test func `a snapshot without problems gives nothing and 0, also as JSON`() async throws {
    let outcome = try await problems(of: ["good.json": "{}", "log": "line"], "--json")
    #expect(outcome.status == 0)
    #expect(try JSONDecoder().decode([String].self, from: Data(outcome.text.utf8)) == [])
  }

  @Test func `what is no snapshot is named in one sentence`() async throws {
    let outcome = try await Product.run(["problems", folder.file("none").path])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("There is no file or folder at"))
  }
}
