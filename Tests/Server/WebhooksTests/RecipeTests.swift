import Foundation
import TestSupport
import Testing

/// The receivers that people copy. `Tests/Webhooks/run` runs them.
@Suite struct RecipeTests {
  private let folder = PackageFolder.url().appending(path: "Config/Webhooks")

  private func article() throws -> String {
    try String(
      contentsOf: PackageFolder.url().appending(
        path: "Sources/Server/SnapshotServer/SnapshotServer.docc/Webhooks.md"), encoding: .utf8)
  }

  @Test func `the article names every receiver, and each has less than 30 lines`() throws {
    let (names, article) = (try FileManager.default.contentsOfDirectory(atPath: folder.path), try article())
    #expect(Set(names) == ["github.py", "gitlab.py", "jira.py", "linear.py", "slack.py"])
    for name in names {
      #expect(article.contains("| `\(name)` |"))
      let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      #expect(text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().count < 30, "\(name)")
    }
  }

  @Test func `the article shows one of them as it is`() throws {
    let text = try String(contentsOf: folder.appending(path: "slack.py"), encoding: .utf8)
    #expect(try article().contains("```python\n\(text)```\n"))
  }
}
