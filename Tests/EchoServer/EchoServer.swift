import ArgumentParser
import Foundation
import HTTPEngine
import HTTPTLS
import HTTPTypes
import Logging
import SystemIO
import UnixSignals

/// A server on `HTTPEngine` alone, to hold the engine against suites from elsewhere.
@main
struct EchoServer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "echo-server",
    abstract: "Answers GET / with 200, POST / with the body that came, and serves files under /static/.",
    discussion: """
      Prints one line on stdout when it is ready, ‘Listening on http://127.0.0.1:8080’, and runs until it is told \
      to stop (SIGTERM, SIGINT). It keeps to the engine's defaults in all that it puts up with, unless it is told \
      otherwise.
      """)

  @Option(help: ArgumentHelp("The address to listen on.", valueName: "address"))
  var host = "127.0.0.1"

  @Option(help: "The port; 0 takes a free one.")
  var port: UInt16 = 8080

  @Option(help: ArgumentHelp("The folder whose files are served under /static/.", valueName: "folder"))
  var root: String?

  @Option(help: ArgumentHelp("The most connections from one address.", valueName: "number"))
  var connectionsPerAddress = HTTPLimits().connectionsPerAddress

  @Option(help: ArgumentHelp("How many event loops; one a core without it.", valueName: "number"))
  var eventLoops: Int?

  @Option(help: ArgumentHelp("How long slow, stalled and idle clients are borne.", valueName: "seconds"))
  var patience: Int?

  @Option(
    help: ArgumentHelp("A PEM file with a certificate and its key: the server uses TLS.", valueName: "file"))
  var tls: String?

  @Flag(help: "Log every request.")
  var verbose = false

  func run() async throws {
    ProcessSignals.ignoreBrokenPipeAndFileSizeLimit()
    var routes: [Route] = [
      Route(.get, "/") { _ in
        HTTPServerResponse(
          status: .ok, headerFields: [.contentType: "text/plain"], body: .bytes(Array("hello\n".utf8)))
      },
      Route(.post, "/") { try await Echo.response(to: $0.request) },
    ]
    if let root {
      let files = try StaticFiles(root: root)
      routes.append(Route(.get, "/static/{path...}") { try await files.response(to: $0) })
    }
    DescriptorLimit.raise(to: 65_536)
    var logger = Logger(label: "echo-server", factory: { StreamLogHandler.standardError(label: $0) })
    logger.logLevel = verbose ? .info : .notice
    let server = HTTPServer(configuration: try configuration(), handler: Router(routes), logger: logger)
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    let address = try await server.start()
    FileHandle.standardOutput.write(Data("Listening on \(tls == nil ? "http" : "https")://\(address)\n".utf8))
    for await _ in signals {
      await server.shutdown()
      break
    }
  }

  private func configuration() throws -> HTTPServer.Configuration {
    var configuration = HTTPServer.Configuration(host: host, port: port)
    configuration.limits.connectionsPerAddress = connectionsPerAddress
    if let eventLoops { configuration.eventLoops = eventLoops }
    if let tls {
      configuration.security = try TLSServer(
        TLSConfiguration(files: [TLSFiles(certificate: tls, key: tls)]))
    }
    if let patience {
      let time = Duration.seconds(patience)
      configuration.limits.handshakeTime = time
      configuration.limits.headTime = time
      configuration.limits.bodyGrace = time
      configuration.limits.bodyWindow = time
      configuration.limits.idleTime = time
      configuration.limits.writeStallTime = time
    }
    return configuration
  }
}
