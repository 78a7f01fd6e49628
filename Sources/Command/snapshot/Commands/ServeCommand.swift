import ArgumentParser
import Foundation
import Logging
import ServiceLifecycle
import SystemIO
import UnixSignals

struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Runs the server until it is told to stop (SIGTERM, SIGINT).",
    discussion: """
      Prints one line on stdout when it is ready, ‘Listening on http://127.0.0.1:8080’, and logs on stderr. \
      Settings come from flags over environment (SNAPSHOT_SERVER_PORT) over the file.
      """)

  @Option(
    help: ArgumentHelp("The settings' file (default: Config/server.yaml, if it is there).", valueName: "file")
  )
  var config: String?

  @Option(help: ArgumentHelp("The address to listen on (default: 127.0.0.1).", valueName: "address"))
  var host: String?

  @Option(help: "The port; 0 takes a free one (default: 8080).")
  var port: Int?

  @Option(help: ArgumentHelp("The folder that bundles are kept in (default: Storage).", valueName: "folder"))
  var storage: String?

  @Flag(help: "Listen beyond loopback even without a token: anybody who gets there may read and write then.")
  var insecure = false

  func run() async throws {
    let settings = try ServerSettings(
      flags: flags, file: config ?? "Config/server.yaml", fileIsRequired: config != nil)
    ProcessSignals.ignoreBrokenPipeAndFileSizeLimit()
    DescriptorLimit.raise(to: settings.descriptors)
    // What looking into one bundle takes, the next one takes again.
    FreedMemory.keep(upTo: 512 << 10)
    let style: ConsoleLogHandler.Style = Console.errorIsTerminal ? .plain : .json
    let log = LogQueue(output: Console.note)
    defer { log.flush() }
    let logger = Logger(label: "snapshot") {
      ConsoleLogHandler(label: $0, level: settings.logLevel, style: style, queue: log)
    }
    logger.info("Starting", metadata: ["version": "\(ProductVersion.current)"])
    let application = try await ServerApplication(settings, logger: logger)
    let service = HTTPService(server: application.server, shutdown: .seconds(settings.shutdownSeconds)) {
      url in
      Console.print("Listening on \(url)")
      ProgramCode.releasePages()
    }
    let group = ServiceGroup(
      configuration: .init(services: [service], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
    do {
      try await group.run()
    } catch {
      await application.close()
      throw error
    }
    await application.close()
  }

  private var flags: [String: String] {
    var flags: [String: String] = [:]
    flags["server.host"] = host
    flags["server.port"] = port.map(String.init)
    flags["server.storage"] = storage
    if insecure { flags["server.insecure"] = "true" }
    return flags
  }
}
