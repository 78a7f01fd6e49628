import Foundation
import TestSupport
import Testing

/// The article shows the lines of the tests.
struct ArticleTests {
  private static let article =
    "Sources/App/DataSnapshots/DataSnapshots.docc/FromAReportToAFailingTest.md"

  @Test(arguments: [("BUG-1", "Total"), ("BUG-2", "Renewal"), ("BUG-2", "Call"), ("BUG-3", "Archive")])
  func `the article shows the lines of the test`(report: String, marker: String) throws {
    let code = PackageFolder.url().appending(path: "Tests/SampleApp/NewsReaderTests/\(report)Tests.swift")
    try DocumentedExample.check(article: Self.article, code: code.path, marker: marker)
  }
}
