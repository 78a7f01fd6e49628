public import ArgumentParser
public import DataSnapshots
import Foundation
import HTTPEngine
import Logging
import ReplayServer
import SnapshotClient
import SnapshotFormat
import SystemIO

struct ReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Replays a snapshot as an HTTP server, for an app in any language or a browser.",
    discussion: """
      Prints ‘Replaying UUID at http://127.0.0.1:8090’ when it is ready, and a line on stderr for each request. The app \
      uses this address as its base URL. Recorded exchanges answer by method, path, query and body; the recorded host does \
      not count. Other recordings answer by --map or --rules. The page /__snapshot/ shows what was asked, answered and \
      missing. What was not recorded is answered with 404 and the nearest recorded request. Runs until SIGTERM or SIGINT.

        snapshot replay BUG-123 --port 8090
        snapshot replay BUG-123 --map 'news/feed=/api/feed' --map 'images/*=/img/*'
        snapshot replay BUG-123 --upstream https://api.example.com --delays
      """)

  @Argument(
    help: "A snapshot on a server (UUID or its beginning, report, address), a bundle, or a snapshot's folder."
  )
  var snapshot: String

  @Option(help: "The port; 0 selects a free one.")
  var port: UInt16 = 8090

  @Option(
    help: ArgumentHelp(
      "The address to listen on. Anyone who can reach another address than loopback can read the snapshot.",
      valueName: "address"))
  var host = "127.0.0.1"

  @Option(
    help: ArgumentHelp(
      "Answer a path with the recordings of an identifier; a method can precede the path, and * can end both. Can be repeated.",
      valueName: "identifier=/path"))
  var map: [String] = []

  @Option(help: ArgumentHelp("A file with such rules, one a line; # begins a comment.", valueName: "file"))
  var rules: String?

  @Option(
    help: ArgumentHelp("Only exchanges with this host, such as api.example.com.", valueName: "host"))
  var fromHost: String?

  @Option(help: ArgumentHelp("A query item that does not count. Can be repeated.", valueName: "name"))
  var ignoreQuery: [String] = []

  @Option(
    help: "What follows the last recorded answer to a request: repeat it, fail, or ask the live server.")
  var afterLast = SnapshotMode.Policy.AfterLast.repeat

  @Flag(help: "Exit with status 2 if anything was missing.")
  var strict = false

  @Option(help: ArgumentHelp("The live server that answers what was not recorded.", valueName: "url"))
  var upstream: String?

  @Flag(help: "Answer as slowly as the recorded server did.")
  var delays = false

  @Option(
    help: ArgumentHelp(
      "Let pages of this origin read the answers, besides those of this machine; * for all. Can be repeated.",
      valueName: "origin"))
  var allowOrigin: [String] = []

  @OptionGroup var options: ReadingOptions

  func validate() throws {
    if strict, upstream != nil {
      throw ValidationError(
        "--strict and --upstream exclude each other: with a live server nothing is missing.")
    }
    if afterLast == .live, upstream == nil {
      throw ValidationError("--after-last live needs the live server: --upstream URL.")
    }
  }

  func run() async throws {
    ProcessSignals.ignoreBrokenPipeAndFileSizeLimit()
    let ruleMap = try makeMap()
    var handling = ReplayHandler.Configuration()
    handling.delays = delays
    handling.origins = ReplayOrigins(allowed: allowOrigin)
    handling.upstream = try liveServer()

    let opened = try await options.open(snapshot)
    var matching = ReplayTable.Configuration(map: ruleMap)
    matching.host = fromHost
    matching.ignoredQueryItems = Set(ignoreQuery.map { $0.lowercased() })
    matching.afterLast = afterLast
    let table = ReplayTable(opened.manifest, matching)
    try check(table, opened.manifest)

    let lines = LogQueue(output: Console.message)
    defer { lines.flush() }
    let log = ReplayLog { entry in lines.write { Console.escaped("\(entry)") } }
    var configuration = HTTPServer.Configuration(host: host, port: port)
    configuration.limits = ReplayLimits.http
    configuration.eventLoops = 1
    configuration.logsExchanges = false
    let logger = Logger(label: "replay") {
      ConsoleLogHandler(label: $0, level: CommonLogLevel(.warning), style: .plain, queue: lines)
    }
    let server = HTTPServer(
      configuration: configuration, handler: ReplayHandler(opened, table, log, handling), logger: logger)
    try await start(server, table, opened.manifest)
    Interruption.stop { Task { await server.shutdown(deadline: .seconds(1)) } }
    do { try await server.run() } catch { throw CommandFailure(error.description) }
    try finish(log.state)
  }

  // MARK: - Input

  /// The rules of the command line, and then those of the file.
  private func makeMap() throws -> ReplayMap {
    do {
      var all: [ReplayMap.Rule] = []
      for text in map { all.append(try ReplayMap.Rule(text)) }
      return try ReplayMap(all + fileRules())
    } catch let malformed as ReplayMap.Malformed {
      throw CommandFailure(malformed.description, status: .refused)
    }
  }

  private func fileRules() throws -> [ReplayMap.Rule] {
    guard let rules else { return [] }
    do {
      let bytes = try NamedFile.read(rules, limit: ReplayLimits.ruleFileBytes)
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw CommandFailure("The file \(rules) with rules is not text in UTF-8.", status: .refused)
      }
      return try ReplayMap.rules(in: text)
    } catch let malformed as ReplayMap.Malformed {
      throw CommandFailure("In the file \(rules): \(malformed)", status: .refused)
    } catch let failure as NamedFile.Failure {
      throw CommandFailure("Cannot read the file \(rules) with rules: \(failure).", status: .refused)
    }
  }

  private func liveServer() throws(CommandFailure) -> ReplayUpstream? {
    guard let upstream else { return nil }
    guard let url = URL(string: upstream),
      let server = ReplayUpstream(url, transport: SnapshotAPIClient.makeDefaultTransport())
    else {
      throw CommandFailure(
        "‘\(upstream)’ is not an address such as https://api.example.com for --upstream.", status: .refused)
    }
    return server
  }

  /// Throws if a rule of the command line fits nothing, or if nothing would be answered.
  private func check(_ table: ReplayTable, _ manifest: Manifest) throws(CommandFailure) {
    let given = Set(map)
    for rule in table.unusedRules {
      guard given.contains(rule.text) else {
        Console.message("No recording has the identifier of the rule \(Console.escaped(rule.text))")
        continue
      }
      let nearest = NearestIdentifiers.find(rule.identifier, among: table.unmapped).first
      throw CommandFailure(
        "No recording has the identifier of the rule ‘\(rule.text)’"
          + (nearest.map { "; the nearest is ‘\($0)’." } ?? "."), status: .refused)
    }
    guard table.histories.isEmpty else { return }
    if let fromHost {
      let hosts = table.hosts.sorted().prefix(5).joined(separator: ", ")
      throw CommandFailure(
        "No exchange was recorded from the host ‘\(fromHost)’"
          + (hosts.isEmpty ? "." : "; there are \(hosts)."), status: .refused)
    }
    guard let first = table.unmapped.first else {
      throw CommandFailure("The snapshot \(manifest.id) has no recordings to replay.", status: .refused)
    }
    throw CommandFailure(
      "The snapshot has no exchanges, and no rule gives one of its identifiers a path; pass --map '\(first)=/path'.",
      status: .refused)
  }

  // MARK: - The server

  private func start(_ server: HTTPServer, _ table: ReplayTable, _ manifest: Manifest) async throws {
    let address: ListenAddress
    do { address = try await server.start() } catch {
      throw CommandFailure(error.description, status: error.isAboutInput ? .refused : .failed)
    }
    let exchanges = table.histories.count { !$0.host.isEmpty }
    let mapped = table.histories.count - exchanges
    Console.message(
      "\(Console.count(exchanges, "recorded request")) and \(Console.count(mapped, "mapped identifier")); "
        + "what was asked and missing: http://\(address)/__snapshot/")
    if !table.unmapped.isEmpty {
      let shown = table.unmapped.prefix(5).map { Console.escaped(String($0.prefix(200))) }
      let rest = table.unmapped.count - shown.count
      Console.message(
        "No rule gives a path to: \(shown.joined(separator: ", "))" + (rest > 0 ? " and \(rest) more" : ""))
    }
    if table.ambiguities > 0 {
      Console.message(
        "\(Console.count(table.ambiguities, "request")) recorded from several hosts; the first recorded host answers, "
          + "unless Host or --from-host says another: \(table.hosts.sorted().prefix(5).joined(separator: ", "))"
      )
    }
    if !address.isLocal {
      Console.message("Warning: anyone who can reach \(address) can read this snapshot.")
    }
    Console.print("Replaying \(manifest.id) at http://\(address)")
  }

  private func finish(_ state: ReplayLog.State) throws(CommandFailure) {
    guard strict, state.missing > 0 else { return }
    let shown = state.misses.prefix(3).map { "\($0.method) \($0.target)" }.joined(separator: ", ")
    throw CommandFailure(
      "\(Console.count(state.missing, "request")) had no recorded answer: \(shown)"
        + (state.misses.count > 3 ? " and others." : "."), status: .refused)
  }
}

extension HTTPServerError {
  /// Whether another argument mends it.
  fileprivate var isAboutInput: Bool { if case .invalidHost = self { true } else { false } }
}

extension SnapshotMode.Policy.AfterLast: ExpressibleByArgument {}
