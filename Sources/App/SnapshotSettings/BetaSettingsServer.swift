public import Foundation
public import HTTPEngine
public import Logging
import SystemIO

/// Serves the page of ``BetaSettings`` on this machine's loopback interface.
///
///     let server = BetaSettingsServer(settings)
///     let link = try await server.start()   // open it, or show it
///     await server.stop()
///
/// A simulator's browser and browsers on the same machine reach the page directly. To reach it on a device, set
/// ``Configuration/port`` and forward that port. On a shared machine, other users can connect to the port, but get no
/// access without a link. An instance can be started once; all methods are thread-safe.
public final class BetaSettingsServer: Sendable {
  /// Options with default values.
  public struct Configuration: Sendable {
    /// The port; 0 selects a free one.
    public var port: UInt16 = 0
    /// The page's heading.
    public var title = "Beta Settings"
    /// Logs requests without their secrets; discards log messages by default.
    public var logger = Logger(label: "beta-settings") { _ in SwiftLogNoOpLogHandler() }

    /// Creates a configuration with the default values.
    public init() {}
  }

  private let page: BetaSettingsPage
  private let server: HTTPServer
  private let port = Lock<UInt16?>(nil)

  /// Creates a server that is not listening yet.
  public init(_ settings: BetaSettings, configuration: Configuration = Configuration()) {
    page = BetaSettingsPage(settings, title: configuration.title)
    var server = HTTPServer.Configuration(host: "127.0.0.1", port: configuration.port)
    server.eventLoops = 1
    server.limits.bodyBytes = PageForm.limit
    server.limits.connections = 64
    self.server = HTTPServer(configuration: server, handler: page, logger: configuration.logger)
  }

  /// Starts to listen, and returns a link that opens the page once, in one browser.
  /// - Throws: if the server can't listen on the port.
  public func start() async throws(HTTPServerError) -> URL {
    let address = try await server.start()
    port.withLock { $0 = address.port }
    return link(address.port)
  }

  /// Returns a new one-time link; `nil` before the start.
  public func makeLink() -> URL? { port.withLock { $0 }.map(link) }

  /// Stops listening, and closes all connections within a second.
  public func stop() async { await server.shutdown(deadline: .seconds(1)) }

  private func link(_ port: UInt16) -> URL {
    let link = "http://127.0.0.1:\(port)/?token=\(page.makeToken())"
    guard let url = URL(string: link) else { preconditionFailure("digits need no encoding in a URL") }
    return url
  }
}
