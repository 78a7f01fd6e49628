import Foundation
import TestSupport
import Testing

/// `Sources/README.md` names only targets, files and functions that exist, and describes every target.
@Suite struct ArchitecturePageTests {
  private static let sources = PackageFolder.url().appending(path: "Sources")

  private static func page() throws -> String {
    try String(contentsOf: sources.appending(path: "README.md"), encoding: .utf8)
  }

  @Test func `every target is described`() throws {
    let named = try Self.page().matches(of: #/(?m)^\| `(\w+)` \| /#).map { String($0.1) }
    var targets: [String] = []
    for group in try FileManager.default.contentsOfDirectory(atPath: Self.sources.path)
    where group != "README.md" {
      targets += try FileManager.default.contentsOfDirectory(atPath: Self.sources.appending(path: group).path)
    }
    #expect(named.sorted() == targets.sorted())
  }

  @Test func `every step of a path through the code is a function in the named file`() throws {
    let steps = try Self.page().matches(of: #/(?m)^\d+\. `([\w/+.]+\.swift)`, `(\w+)`/#)
    #expect(steps.count > 40)
    for step in steps {
      let file = Self.sources.appending(path: String(step.1))
      let text = try String(contentsOf: file, encoding: .utf8)
      let name = step.2 == "init" ? "init(" : "func \(step.2)"
      #expect(text.contains(name), "\(step.1) has no \(step.2)")
    }
  }

  @Test func `every numbered line is a step`() throws {
    let numbered = try Self.page().matches(of: #/(?m)^\d+\. /#).count
    let steps = try Self.page().matches(of: #/(?m)^\d+\. `([\w/+.]+\.swift)`, `(\w+)`/#).count
    #expect(numbered == steps)
  }
}
