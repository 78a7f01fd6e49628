import Foundation
import Observability
import SystemIO
import TestSupport
import Testing

@testable import snapshot

/// The log lines and metrics of requests to the built command.
@Suite struct ObservabilityTests {
  @Test func `requests are counted, logged and audited with the id of the client`() async throws {
    let folder = try TemporaryFolder()
    let storage = folder.file("storage")
    let server = try await TestServer(storage: storage)
    let answer = try await Curl([
      "-H", "X-Request-Id: mine-1", "-H",
      "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      server.address("/v1/scrub?token=none"),
    ])
    #expect(answer.status == 200)
    let metrics = try await Curl([server.address("/metrics")])
    #expect(metrics.status == 200)
    let text = String(decoding: metrics.body, as: UTF8.self)
    #expect(text.contains("http_requests_total{code=\"200\",route=\"GET /v1/scrub\"} 1\n"))
    #expect(text.contains("\nsnapshot_build_info{version=\"\(ProductVersion.current)\"} 1\n"))
    #expect(text.contains("\nsnapshot_store_bundles 0\n"))
    #expect(text.contains("\nsnapshot_queue_depth{queue=\"audit\"} 0\n"))
    #expect(text.contains("\nhttp_connections_open 1\n"))
    #expect(text.contains("\nsnapshot_catalog_lag_records 0\n"))
    #expect(await server.program.stop(SIGKILL) != 0)
    // The line was written before the response, so that it survives any end of the process.
    let audit = try String(contentsOf: storage.appending(path: "audit.log"), encoding: .utf8)
    #expect(audit.contains(#""request":"mine-1","action":"readScrub""#))
    #expect(audit.split(separator: "\n").count == 1)
  }

  @Test func `the article describes every metric`() throws {
    let root = PackageFolder.url().appending(path: "Sources/Server")
    let article = try String(
      contentsOf: root.appending(path: "SnapshotServer/SnapshotServer.docc/Observability.md"), encoding: .utf8
    )
    let names = MetricName.allCases.map(\.rawValue)
    #expect(names.count > 10)
    for name in names { #expect(article.contains("`\(name)`"), "\(name)") }
    #expect(article.matches(of: /\| `(http|snapshot)_/).count <= names.count)
  }
}
