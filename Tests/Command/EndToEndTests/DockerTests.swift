import Foundation
import TestSupport
import Testing
import Yams

/// Container engines are not available to these tests, so the files are checked against the project. `make image` builds
/// the image and tests it.
@Suite struct DockerTests {
  static let root = PackageFolder.url()

  let instructions: [(name: String, value: String)]

  init() throws {
    let text = try String(contentsOf: Self.root.appending(path: "docker/Dockerfile"), encoding: .utf8)
    instructions =
      text
      .replacing("\\\n", with: " ")
      .split(separator: "\n")
      .filter { !$0.hasPrefix("#") }
      .map { line in
        let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        return (String(parts[0]), parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
      }
  }

  @Test func `the Dockerfile has only known instructions`() {
    let known: Set = [
      "FROM", "ARG", "RUN", "WORKDIR", "COPY", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK",
      "ENTRYPOINT",
      "CMD",
    ]
    for (name, _) in instructions { #expect(known.contains(name), "\(name)") }
    #expect(instructions.filter { $0.name == "FROM" }.count == 2)
    for base in values(of: "FROM") {
      #expect(base.contains(/^[a-z]+:[a-z0-9.-]+@sha256:[0-9a-f]{64}( AS build)?$/), "\(base)")
    }
  }

  @Test func `copied files exist and are not excluded by the ignore file`() throws {
    let allowed = try String(contentsOf: Self.root.appending(path: ".dockerignore"), encoding: .utf8)
      .split(separator: "\n").filter { $0.hasPrefix("!") }.map { String($0.dropFirst()) }
    let copied = values(of: "COPY").filter { !$0.hasPrefix("--from") }
      .flatMap { $0.split(separator: " ").dropLast().map(String.init) }
    #expect(!copied.isEmpty)
    // A path with a pattern is allowed to match nothing.
    for path in copied where !path.contains("[") {
      #expect(FileManager.default.fileExists(atPath: Self.root.appending(path: path).path), "\(path)")
      #expect(allowed.contains { path == $0 || path.hasPrefix($0 + "/") }, "\(path)")
    }
  }

  @Test func `the built product is copied and started by a user other than root`() throws {
    let build = try #require(values(of: "RUN").first { $0.contains("swift build") })
    #expect(build.contains("--product snapshot"))
    #expect(FileManager.default.isExecutableFile(atPath: Tool.products.appending(path: "snapshot").path))
    #expect(
      values(of: "COPY").contains("--from=build /build/.build/release/snapshot /usr/local/bin/snapshot"))
    #expect(try words(of: "ENTRYPOINT") == ["snapshot"])
    let user = try #require(values(of: "USER").last)
    #expect(try #require(Int(user)) > 0)
    #expect(values(of: "RUN").contains { $0.contains("useradd") && $0.contains("--uid \(user) ") })
  }

  @Test func `image and release are linked with full RELRO and verify it`() throws {
    let makefile = try String(contentsOf: Self.root.appending(path: "Makefile"), encoding: .utf8)
    let build = try #require(values(of: "RUN").first { $0.contains("swift build") })
    for text in [makefile, build] {
      #expect(text.contains("-Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now"))
      #expect(text.contains("readelf -d"))
    }
    let builds = makefile.split(separator: "\n").filter { $0.contains("-c release --product snapshot ") }
    #expect(builds.count == 1)
    #expect(builds.allSatisfy { $0.contains("$(LINK)") })
  }

  @Test func `the command line of the image is valid`() async throws {
    let command = try words(of: "CMD")
    let help = try await Tool.run(Tool.products.appending(path: "snapshot").path, ["help", command[0]])
    #expect(help.status == 0)
    for option in command where option.hasPrefix("--") { #expect(help.text.contains(option), "\(option)") }
    let config = try #require(command.firstIndex(of: "--config").map { command[$0 + 1] })
    #expect(values(of: "COPY").contains("Config/server.yaml \(config)"))
    // Otherwise everyone who can connect could read and write.
    #expect(command.contains("--create-admin-token") && !command.contains("--insecure"))
    let storage = try #require(command.firstIndex(of: "--storage").map { command[$0 + 1] })
    #expect(values(of: "VOLUME") == [storage])
  }

  @Test func `the health check uses the exposed port and an installed program`() throws {
    let check = try #require(values(of: "HEALTHCHECK").first)
    let port = try #require(values(of: "EXPOSE").first)
    #expect(check.contains("http://127.0.0.1:\(port)/healthz"))
    #expect(check.contains(#"CMD ["curl""#))
    #expect(values(of: "RUN").last?.contains(" curl ") == true)
    let settings = try compose(at: "Config/server.yaml")
    #expect((settings["server"] as? [String: Any])?["port"] as? Int == Int(port))
  }

  @Test func `compose builds this Dockerfile and stores bundles in a declared volume`() throws {
    let file = try compose(at: "docker/compose.yaml")
    let services = try #require(file["services"] as? [String: [String: Any]])
    let service = try #require(services["snapshot"])
    let build = try #require(service["build"] as? [String: String])
    let context = Self.root.appending(path: "docker").appending(path: try #require(build["context"]))
      .standardized
    #expect(context.path == Self.root.standardized.path)
    let dockerfile = context.appending(path: try #require(build["dockerfile"]))
    #expect(FileManager.default.fileExists(atPath: dockerfile.path))
    let volume = try #require((service["volumes"] as? [String])?.first).split(separator: ":")
    #expect((file["volumes"] as? [String: Any])?.keys.contains(String(volume[0])) == true)
    #expect(values(of: "VOLUME") == [String(volume[1])])
    let command = try #require(service["command"] as? [String])
    // Like the image's own command, with another port and HTTPS.
    let port = try #require(command.firstIndex(of: "--port"))
    #expect(service["ports"] as? [String] == ["\(command[port + 1]):\(command[port + 1])"])
    #expect(command.contains("--tls-self-signed"))
    let plain = command.enumerated().filter { ![port, port + 1].contains($0.offset) }.map(\.element)
    #expect(try plain.filter { $0 != "--tls-self-signed" } == words(of: "CMD"))
    let check = try #require((service["healthcheck"] as? [String: Any])?["test"] as? [String])
    #expect(check.last == "https://127.0.0.1:\(command[port + 1])/healthz")
  }

  private func values(of name: String) -> [String] { instructions.filter { $0.name == name }.map(\.value) }

  private func words(of name: String) throws -> [String] {
    try JSONDecoder().decode([String].self, from: Data(try #require(values(of: name).last).utf8))
  }

  private func compose(at path: String) throws -> [String: Any] {
    let text = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    return try #require(try Yams.load(yaml: text) as? [String: Any])
  }
}
