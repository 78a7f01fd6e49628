public import Foundation
public import HTTPEngine
public import Logging
import Synchronization
import SystemIO

/// Serves the page of ``BetaSettings`` on this machine's loopback, while it is wanted.
///
///     let server = BetaSettingsServer(settings)
///     let link = try await server.start()   // open it, or show it
///     await server.stop()
///
/// The page reaches a browser in a simulator and on the same machine as it is; from a device, forward a port that
/// ``Configuration/port`` fixes. On a shared machine other users reach the port too, but get nothing without a link.
/// One instance is for one start; all methods may be called from any thread.
public final class BetaSettingsServer: Sendable {
  /// What may be set.
  public struct Configuration: Sendable {
    /// The port; 0 takes a free one.
    public var port: UInt16 = 0
    /// The page's headline.
    public var title = "Beta Settings"
    /// Where requests are logged, without what is secret in them; nowhere unless set.
    public var logger = Logger(label: "beta-settings") { _ in SwiftLogNoOpLogHandler() }

    /// The defaults above.
    public init() {}
  }

  private let page: BetaSettingsPage
  private let server: HTTPServer
  private let port = Mutex<UInt16?>(nil)

  /// A server that does not listen yet.
  public init(_ settings: BetaSettings, configuration: Configuration = Configuration()) {
    page = BetaSettingsPage(settings, title: configuration.title)
    var server = HTTPServer.Configuration(host: "127.0.0.1", port: configuration.port)
    server.eventLoops = 1
    server.limits.bodyBytes = PageForm.limit
    server.limits.connections = 64
    self.server = HTTPServer(configuration: server, handler: page, logger: configuration.logger)
  }

  /// Listens, and answers the link that opens the page, in one browser, once.
  /// - Throws: where the port can't be had.
  public func start() async throws(HTTPServerError) -> URL {
    let address = try await server.start()
    port.withLock { $0 = address.port }
    return link(address.port)
  }

  /// Another such link; `nil` before the start.
  public func makeLink() -> URL? { port.withLock { $0 }.map(link) }

  /// Stops at once, and closes every connection.
  public func stop() async { await server.shutdown(deadline: .seconds(1)) }

  private func link(_ port: UInt16) -> URL {
    let link = "http://127.0.0.1:\(port)/?token=\(page.makeToken())"
    guard let url = URL(string: link) else { preconditionFailure("digits need no encoding in a URL") }
    return url
  }
}
