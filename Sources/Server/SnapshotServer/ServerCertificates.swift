import Foundation
package import HTTPTLS
package import Logging
import SystemIO

/// The certificates of a server, which are read again when their files change, or on request. Connections continue.
/// Files that can't be used are logged, and the former certificates stay.
package final class ServerCertificates: Sendable {
  /// Names the files, after it has made or renewed those that the server makes itself.
  package typealias Source = @Sendable () throws(TLSError) -> TLSConfiguration

  private struct State {
    var source: Source
    /// A digest of the files in use.
    var digest: Int
    /// The error that was logged last, so that it is logged once.
    var failure: String?
  }

  /// Protects connections with these certificates.
  package let tls: TLSServer
  private let state: Lock<State>
  private let logger: Logger

  /// Reads the files of `source`.
  ///
  /// - Throws: ``/HTTPTLS/TLSError`` if a file can't be used.
  package init(_ source: @escaping Source, logger: Logger) throws(TLSError) {
    let configuration = try source()
    // A change during the reading is found the next time.
    let digest = Self.digest(of: configuration)
    tls = try TLSServer(configuration)
    state = Lock(State(source: source, digest: digest))
    self.logger = logger
  }

  /// Looks for changes and renews until the task is cancelled.
  package func run(every interval: Duration = .seconds(10)) async {
    while !Task.isCancelled {
      do { try await Task.sleep(for: interval) } catch { return }
      reloadIfChanged()
    }
  }

  /// Reads the files again, or those of another source, and changes nothing. The returned closure applies what was read.
  ///
  /// - Throws: ``/HTTPTLS/TLSError`` if a file can't be used.
  package func prepareReload(_ source: Source? = nil) throws(TLSError) -> @Sendable () -> Void {
    let source = source ?? state.withLock { $0.source }
    let configuration = try source()
    let digest = Self.digest(of: configuration)
    let apply = try tls.prepareReload(configuration)
    return { [self] in
      apply()
      state.withLock { $0 = State(source: source, digest: digest) }
      logger.notice("The certificates were read again")
    }
  }

  /// Reads the files again if they have changed or were renewed.
  package func reloadIfChanged() {
    do {
      let (source, known) = state.withLock { ($0.source, $0.digest) }
      // Files that can't be used are tried again: a certificate can become valid without a change.
      if Self.digest(of: try source()) != known { try prepareReload()() }
    } catch {
      let isNew = state.withLock { state in
        defer { state.failure = error.description }
        return state.failure != error.description
      }
      if isNew {
        logger.error("The certificates stay as they are, because the new ones can't be used: \(error)")
      }
    }
  }

  private static func digest(of configuration: TLSConfiguration) -> Int {
    var hasher = Hasher()
    for path in configuration.paths { hasher.combine(contents(path)) }
    return hasher.finalize()
  }

  /// The bytes of a file; `nil` if it can't be read, which is an error when it is used.
  private static func contents(_ path: String) -> [UInt8]? {
    do {
      return try NamedFile.read(path, limit: TLSConfiguration.maximumFileBytes)
    } catch {
      return nil
    }
  }
}
