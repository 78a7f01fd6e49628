import Foundation
package import HTTPTLS
package import Logging
import Synchronization

/// Reads the certificates again when their files change, or on request. Connections continue. Files that can't be used
/// are logged, and the former certificates stay.
package final class CertificateWatch: Sendable {
  private let tls: TLSServer
  private let paths: [String]
  private let logger: Logger
  /// A digest of the files that were read last.
  private let read: Mutex<Int>

  /// - Parameter paths: the files that `tls` has read just now.
  package init(_ tls: TLSServer, paths: [String], logger: Logger) {
    self.tls = tls
    self.paths = paths
    self.logger = logger
    read = Mutex(Self.digest(of: paths))
  }

  /// Looks for changes until the task is cancelled.
  package func run(every interval: Duration = .seconds(10)) async {
    while !Task.isCancelled {
      do { try await Task.sleep(for: interval) } catch { return }
      if Self.digest(of: paths) != read.withLock({ $0 }) { reload() }
    }
  }

  /// Reads the files again, and changes nothing. The returned closure applies what was read.
  ///
  /// - Throws: ``/HTTPTLS/TLSError`` if a file can't be used.
  package func prepareReload() throws(TLSError) -> @Sendable () -> Void {
    // A change during the reading is found the next time.
    let digest = Self.digest(of: paths)
    let apply = try tls.prepareReload()
    return { [self] in
      apply()
      read.withLock { $0 = digest }
      logger.notice("The certificates were read again")
    }
  }

  /// Reads the files again, and logs those that can't be used once.
  package func reload() {
    read.withLock { $0 = Self.digest(of: paths) }
    do throws(TLSError) {
      try prepareReload()()
    } catch {
      logger.error("The certificates stay as they are, because the new ones can't be used: \(error)")
    }
  }

  private static func digest(of paths: [String]) -> Int {
    var hasher = Hasher()
    for path in paths { hasher.combine(FileManager.default.contents(atPath: path)) }
    return hasher.finalize()
  }
}
