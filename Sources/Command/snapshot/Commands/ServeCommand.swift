import AccessControl
import ArgumentParser
import Foundation
import HTTPTLS
import Logging
import ServiceLifecycle
import SnapshotServer
import SystemIO
import UnixSignals

struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Runs the server until SIGTERM or SIGINT; SIGHUP reads the settings again.",
    discussion: """
      Prints the line ‘Listening on http://127.0.0.1:8080’ on stdout when it is ready, and logs to stderr. With a \
      certificate it speaks HTTPS. Flags take precedence over environment variables (such as SNAPSHOT_SERVER_PORT), and \
      these over the settings file. At SIGHUP the file and the certificates are read again: limits, rates, retention, \
      trusted proxies and the log level change without a restart. Changed certificates are noticed without it, too.
      """)

  @Option(
    help: ArgumentHelp("The settings file (default: Config/server.yaml, if it exists).", valueName: "file")
  )
  var config: String?

  @Option(help: ArgumentHelp("The address to listen on (default: 127.0.0.1).", valueName: "address"))
  var host: String?

  @Option(help: "The port; 0 selects a free one (default: 8080).")
  var port: Int?

  @Option(
    help: ArgumentHelp(
      "A Unix socket to listen on instead of the address and port, for a proxy.", valueName: "file"))
  var socket: String?

  @Option(help: ArgumentHelp("The folder for bundles (default: Storage).", valueName: "folder"))
  var storage: String?

  @Option(
    help: ArgumentHelp(
      "A PEM file with a certificate and its issuers, for HTTPS. Can be repeated; clients get the one for their name.",
      valueName: "file"))
  var tlsCertificate: [String] = []

  @Option(
    help: ArgumentHelp("The PEM file with the key of each certificate, in the same order.", valueName: "file")
  )
  var tlsKey: [String] = []

  @Option(
    help: ArgumentHelp(
      "A DER file with an OCSP response about each certificate, in the same order.", valueName: "file"))
  var tlsOcsp: [String] = []

  @Option(
    help: ArgumentHelp(
      "A PEM file with the authorities whose certificates identify clients.", valueName: "file"))
  var tlsClientCa: String?

  @Flag(
    help: """
      Make a certificate for a local network, and print the pin that clients need (--pin). It is kept in the storage.
      """)
  var tlsSelfSigned = false

  @Option(help: "A port for plain HTTP that redirects to HTTPS; 0 selects a free one (default: none).")
  var httpPort: Int?

  @Option(
    help: ArgumentHelp(
      "The folder below which certbot or acme.sh write .well-known/acme-challenge, served on --http-port.",
      valueName: "folder"))
  var acmeFolder: String?

  @Flag(
    help:
      "Listen on other addresses than loopback even without a token. Everyone who can connect can then read and write."
  )
  var insecure = false

  @Flag(
    help: """
      If the storage has never had a token, create one with the scope admin and print it on stderr. It cannot be \
      shown again.
      """)
  var createAdminToken = false

  func run() async throws {
    let source = SettingsSource(
      flags: flags, file: config ?? "Config/server.yaml", fileIsRequired: config != nil)
    let read = try source.read()
    var settings = read.settings
    let environment = ProcessInfo.processInfo.environment
    let listeners = try settings.takeListeners(environment)
    ProcessSignals.ignoreBrokenPipeAndFileSizeLimit()
    // The service group handles the signals later. Opening the storage, which comes before, can take long.
    ProcessSignals.endOnTermination()
    DescriptorLimit.raise(to: settings.descriptors)
    // The memory for reading one bundle is reused for the next.
    FreedMemory.keep(upTo: 512 << 10)
    let style: ConsoleLogHandler.Style = Console.errorIsTerminal ? .plain : .json
    let log = LogQueue(output: Console.message)
    defer { log.flush() }
    let level = CommonLogLevel(settings.logLevel)
    let logger = Logger(label: "snapshot") {
      ConsoleLogHandler(label: $0, level: level, style: style, queue: log)
    }
    logger.info("Starting", metadata: ["version": "\(ProductVersion.current)"])
    // From here on SIGHUP no longer ends the process.
    let hangUps = await UnixSignalsSequence(trapping: .sighup)
    let application: ServerApplication
    do {
      if createAdminToken { try await makeFirstToken(settings) }
      application = try await ServerApplication.open(
        settings, listeners: listeners, version: ProductVersion.current, logger: logger)
    } catch {
      let failure: any Error = if let error = error as? ServerError { CommandFailure(error) } else { error }
      // Programs that collect the log find no other line of it that is an error.
      if style == .json { logger.error("The server does not start", metadata: ["error": "\(failure)"]) }
      throw failure
    }
    let reload = SettingsReload(
      source, read, application,
      parts: [
        ReloadablePart { level.value = $0.logLevel },
        ReloadablePart { DescriptorLimit.raise(to: $0.descriptors) },
      ], logger: logger)
    let state = ServiceState(manager: ServiceManager(environment), logger: logger)
    let service = HTTPService(
      application: application, shutdown: .seconds(settings.shutdownSeconds), state: state,
      tasks: [
        { await state.watch(application.server) },
        {
          for await _ in hangUps {
            state.tell(.reloading)
            await reload.hangUp()
            state.tell(.ready)
          }
        },
      ]
    ) { [pin = settings.tls.selfSigned ? application.certificates?.tls.pins.first : nil] address in
      if let pin { Console.message("The pin is \(pin)") }
      Console.print("Listening on \(address)")
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

  /// Creates the storage's first token, so that the storage is never accessible without a token.
  private func makeFirstToken(_ settings: ServerSettings) async throws {
    let secret = try await settings.changingTokens { store -> String? in
      if try store.hasTokens() { return nil }
      return try store.create(
        TokenStore.Request(name: "created at the first start", scopes: [.admin])
      ).secret
    }
    if let secret {
      Console.message("Created the admin token \(secret)\nIt allows everything, and cannot be shown again.")
    }
  }

  private var flags: [String: String] {
    var flags: [String: String] = [:]
    flags["server.host"] = host
    flags["server.port"] = port.map(String.init)
    flags["server.socket"] = socket
    flags["server.storage"] = storage
    if !tlsCertificate.isEmpty { flags["server.tls.certificate"] = tlsCertificate.joined(separator: ",") }
    if !tlsKey.isEmpty { flags["server.tls.key"] = tlsKey.joined(separator: ",") }
    if !tlsOcsp.isEmpty { flags["server.tls.ocsp"] = tlsOcsp.joined(separator: ",") }
    flags["server.tls.clientAuthorities"] = tlsClientCa
    if tlsSelfSigned { flags["server.tls.selfSigned"] = "true" }
    flags["server.tls.httpPort"] = httpPort.map(String.init)
    flags["server.tls.acmeFolder"] = acmeFolder
    if insecure { flags["server.insecure"] = "true" }
    return flags
  }
}

extension ServerSettings {
  /// Takes the sockets that a service manager has opened, if there are any. They replace the address in the settings,
  /// so that a socket that other machines can reach requires a token.
  mutating func takeListeners(_ environment: [String: String]) throws(CommandFailure) -> [Socket] {
    let listeners: [Socket]
    do { listeners = try InheritedSockets.take(from: environment) } catch {
      throw CommandFailure(error.description, status: .refused)
    }
    do {
      var addresses: [ListenAddress] = []
      for listener in listeners { addresses.append(try listener.localAddress) }
      switch addresses.first(where: { !$0.isLocal }) ?? addresses.first {
      case .network(let address): (host, port, socket) = ("\(address.host)", Int(address.port), nil)
      case .unix(let path): socket = path
      case nil: break
      }
    } catch {
      throw CommandFailure("\(error)")
    }
    return listeners
  }
}
