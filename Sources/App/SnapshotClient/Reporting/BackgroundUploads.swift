#if canImport(Darwin)
  public import HTTPClient
#else
  package import HTTPClient
#endif

/// Lets the system send the bundles of an ``UploadQueue`` while the app is suspended or does not run.
///
/// Bundles of any size are then uploaded resumably (``ResumptionPolicy``). The app itself creates each upload on the
/// server, and asks it for its offset after a failure; the system sends the pieces. A bundle that can't be sent in pieces
/// is sent while the app runs.
public struct BackgroundUploads: Sendable {
  /// The maximum size of a piece in bytes, within the limits of server and proxies
  /// (``ResumptionPolicy/maximumRequestBody``). It halves with each failure in succession, to a 64th at most.
  ///
  /// The system wakes the app after each piece, later each time, so that a bundle should be one piece. A piece that is
  /// not the whole bundle is copied. Behind a proxy that forwards only complete requests, an interruption can lose one
  /// piece.
  public var pieceBytes: Int64 = 64 * 1024 * 1024

  let transport: any BackgroundTransport

  #if canImport(Darwin)
    /// Creates a background session of the system, and takes over its transfers from earlier launches. Only one with the
    /// same identifier can be created while the app runs, for one queue.
    /// - Parameters:
    ///   - identifier: identifies the session in this app; it must not change between launches.
    ///   - trust: how the server is recognized, as for the client of the queue. ``ServerTrust/authorities(_:)`` is not
    ///     supported.
    ///   - usesExpensiveNetworks: whether the system may use cellular networks, personal hotspots and networks in Low
    ///     Data Mode. ``NetworkPolicy`` is evaluated only while the app runs.
    public init(identifier: String, trust: ServerTrust = .system, usesExpensiveNetworks: Bool = true) {
      transport = URLSessionBackgroundTransport(
        identifier: identifier, usesExpensiveNetworks: usesExpensiveNetworks, trust: trust)
    }
  #endif

  package init(_ transport: any BackgroundTransport) { self.transport = transport }

  /// The size of a piece after `failures` failures in succession.
  func pieceBytes(afterFailures failures: Int) -> Int64 { max(1, pieceBytes >> max(0, min(failures, 6))) }
}
