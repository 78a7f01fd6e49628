import Foundation
import TestSupport
import Testing
import Yams

/// The files for several servers in containers. `make cluster-test` runs servers behind the same `haproxy.cfg`.
@Suite struct ClusterFileTests {
  private let services: [String: [String: Any]]
  private let balancing: String

  init() throws {
    let folder = PackageFolder.url().appending(path: "docker")
    let text = try String(contentsOf: folder.appending(path: "cluster.yaml"), encoding: .utf8)
    let file = try #require(try Yams.load(yaml: text) as? [String: Any])
    services = try #require(file["services"] as? [String: [String: Any]])
    balancing = try String(contentsOf: folder.appending(path: "haproxy.cfg"), encoding: .utf8)
  }

  /// The services that run `snapshot serve`.
  private var servers: [String: [String: Any]] {
    services.filter { ($0.value["command"] as? [String])?.first == "serve" }
  }

  @Test func `the balancer sends requests to all servers, and to nothing else`() {
    let named = balancing.matches(of: /(?m)^  server (\w+) (\w+):8080$/)
    #expect(named.allSatisfy { $0.1 == $0.2 })
    #expect(named.map { String($0.1) } == servers.keys.sorted() && servers.count == 3)
    #expect(
      services["balancer"]?["volumes"] as? [String] == ["./haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro"]
    )
  }

  @Test func `every service is checked, and servers start after what they need and end before it`() throws {
    for (name, service) in services {
      let check = try #require(service["healthcheck"] as? [String: Any], "\(name)")
      // The service that creates the bucket ends.
      #expect(check["test"] is [String] || name == "bucket", "\(name)")
    }
    for (name, server) in servers {
      let needed = try #require(server["depends_on"] as? [String: Any], "\(name)")
      #expect(Set(["database", "store", "bucket"]).isSubset(of: needed.keys), "\(name)")
    }
  }

  @Test func `secrets are only in the environment`() throws {
    var count = 0
    for (name, service) in services {
      for (variable, value) in service["environment"] as? [String: Any] ?? [:]
      where variable.contains(/KEY|SECRET|PASSWORD|_USER$/) && variable != "POSTGRES_USER" {
        #expect("\(value)".contains(/^\$\{SNAPSHOT_[A-Z_]+:\?is not set\}$/), "\(name): \(variable)")
        count += 1
      }
    }
    #expect(count == 14)
  }

  @Test func `the settings and options of the servers exist`() async throws {
    let help = try await Product.run(["help", "serve"]).text
    for (name, server) in servers {
      for option in try #require(server["command"] as? [String]) where option.hasPrefix("--") {
        #expect(help.contains(option), "\(name): \(option)")
      }
      // The command refuses unknown variables of its own, and reports the first part that does not answer.
      let settings = try #require(server["environment"] as? [String: String])
        .filter { !$0.value.hasPrefix("$") && $0.key != "SNAPSHOT_SERVER_STORAGE" }
      let folder = try TemporaryFolder()
      let outcome = try await Product.run(
        ["serve", "--storage", folder.path, "--port", "0"],
        environment: settings.merging([
          "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
          "SNAPSHOT_SERVER_SHARED_DATABASE": "postgres://snapshot@127.0.0.1:1/snapshot",
        ]) { $1 })
      #expect(outcome.status == 1 && outcome.errors.contains("database"), "\(outcome.errors)")
    }
  }
}
