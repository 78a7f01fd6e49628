import Foundation
import Observability
import TestSupport
import Testing
import Yams

/// The dashboard and the alert rules: they use only what a server has on `/metrics`.
@Suite struct MonitoringTests {
  private static let folder = PackageFolder.url().appending(path: "Config/Monitoring")

  /// Every PromQL expression in the dashboard.
  private static func dashboard() throws -> [String] {
    let data = try Data(contentsOf: folder.appending(path: "dashboard.json"))
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let panels = try #require(object["panels"] as? [[String: Any]])
    let variables = try #require((object["templating"] as? [String: Any])?["list"] as? [[String: Any]])
    return panels.flatMap { $0["targets"] as? [[String: Any]] ?? [] }.compactMap { $0["expr"] as? String }
      + variables.compactMap { $0["query"] as? String }.filter { $0.hasPrefix("label_values") }
  }

  /// Every PromQL expression in the alert rules.
  private static func alerts() throws -> [String] {
    let text = try String(contentsOf: folder.appending(path: "alerts.yaml"), encoding: .utf8)
    let groups = (try Yams.load(yaml: text) as? [String: Any])?["groups"] as? [[String: Any]]
    let rules = try #require(groups).flatMap { $0["rules"] as? [[String: Any]] ?? [] }
    for rule in rules {
      #expect((rule["annotations"] as? [String: String])?["summary"]?.isEmpty == false, "\(rule)")
      #expect((rule["labels"] as? [String: String])?["severity"] != nil, "\(rule)")
    }
    return rules.compactMap { $0["expr"] as? String }
  }

  /// The names of the metrics in an expression, without those of Prometheus itself.
  private static func names(in expression: String) -> Set<String> {
    Set(expression.matches(of: /\b(?:snapshot|http)_[a-z_]+\b/).map { String($0.output) })
  }

  @Test func `the dashboard and the alerts use metrics and labels that a server has`() async throws {
    let scratch = try TemporaryFolder()
    // A webhook whose address is not public, so that nothing is sent.
    let secret = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
    let server = try await TestServer(
      storage: scratch.file("storage"),
      environment: [
        "SNAPSHOT_SERVER_WEBHOOKS_ENDPOINTS": "http://127.0.0.1:1/events",
        "SNAPSHOT_SERVER_WEBHOOKS_SECRET_FILE": try scratch.write(Data(secret.utf8), to: "secrets").path,
      ])
    let (zip, _) = try await Sample.bundle(in: scratch)
    let upload = try await Product.run([
      "upload", zip.path, "--report", "BUG-1", "--server", server.url.absoluteString,
    ])
    try #require(upload.status == 0, "\(upload.errors)")
    var text = ""
    // The verification that follows adds the last metrics.
    _ = try await Product.run(["scrub", "--server", server.url.absoluteString])
    text = String(decoding: try await Curl([server.address("/metrics")]).body, as: UTF8.self)
    var labels: [String: Set<String>] = [:]
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      let name = String(line.prefix { $0 != "{" && $0 != " " })
      labels[name, default: []].formUnion(line.matches(of: /([a-z]+)="/).map { String($0.1) })
    }
    let expressions = try Self.dashboard() + Self.alerts()
    #expect(expressions.count > 30)
    for expression in expressions {
      let names = Self.names(in: expression)
      #expect(!names.isEmpty || expression.hasPrefix("up{"), "\(expression)")
      for name in names { #expect(labels[name] != nil, "\(name) in \(expression)") }
      // Prometheus adds the two labels of the server.
      let known = names.reduce(into: Set(["job", "instance"])) { $0.formUnion(labels[$1] ?? []) }
      let used =
        expression.matches(of: /([a-z]+)(?:=~|!=|!~|=)"/).map { String($0.1) }
        + expression.matches(of: /by \(([a-z, ]+)\)/).flatMap {
          $0.1.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }
      for label in used { #expect(known.contains(label), "\(label) in \(expression)") }
    }
    await server.program.stop()
  }

  @Test func `the dashboard shows every metric`() throws {
    let used = try Self.dashboard().reduce(into: Set<String>()) { $0.formUnion(Self.names(in: $1)) }
    for metric in MetricName.allCases {
      #expect(
        used.contains(metric.rawValue) || used.contains(metric.rawValue + "_bucket"), "\(metric.rawValue)")
    }
  }

  @Test func `alerts for uploads name outcomes that exist`() throws {
    let outcomes = try #require(try Self.alerts().first { $0.contains("snapshot_uploads_total") })
      .firstMatch(of: /outcome=~"([^"]+)"/)?.1.split(separator: "|").map(String.init)
    #expect(try #require(outcomes).allSatisfy { ProblemKind(rawValue: $0) != nil })
  }
}
