import DataSnapshots
import Foundation
import SnapshotURLSession
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Runs the article's examples as they are printed.
struct ArticleTests {
  private static let article = "Sources/App/SnapshotURLSession/SnapshotURLSession.docc/SnapshotURLSession.md"

  @Test func `the article's lines work`() throws {
    let folder = try TemporaryFolder()
    let storage = folder.file("storage")
    let configuration = SnapshotMode.Configuration()

    // example: Session begin
    let mode = SnapshotMode(folder: storage, configuration: configuration)
    let session = URLSession(configuration: mode.record(.default))
    // example: Session end

    // example: Rules begin
    var rules = ExchangeRules()
    rules.volatileQueryItems.insert("request_id")
    rules.rewrite = { identifier, body in
      identifier.contains("/search") ? String(identifier.prefix { $0 != "#" }) : identifier
    }
    let searching = URLSession(configuration: mode.record(.ephemeral, rules: rules))
    // example: Rules end

    for session in [session, searching] {
      #expect(session.configuration.protocolClasses?.first is SnapshotURLProtocol.Type)
      session.invalidateAndCancel()
    }
  }

  @Test(arguments: ["Session", "Rules"]) func `the article shows the lines of the test`(marker: String) throws
  {
    try DocumentedExample.check(article: Self.article, code: #filePath, marker: marker)
  }
}
