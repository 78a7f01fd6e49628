extension UploadQueue {
  /// The maximum time without a byte in either direction, in seconds, if that of the client is longer.
  static let longestIdle: Double = 45

  /// Options with default values.
  public struct Configuration: Sendable {
    /// The limits on bundles and outcomes.
    public var limits = Limits()
    /// The delay after a failure.
    public var backOff = BackOff()
    /// The networks that uploads can use.
    public var network = NetworkPolicy.any
    /// The maximum number of concurrent uploads, at least 1.
    public var concurrentUploads = 1
    /// Lets the system send the bundles while the app is suspended or does not run; `nil` sends them only while it runs.
    public var background: BackgroundUploads?
    /// The sources of time and randomness.
    public var environment = ClientEnvironment()

    /// Creates a configuration with the default values.
    public init() {}
  }

  /// The limits of a queue.
  ///
  /// If a new bundle would exceed a limit, the bundles of permanently failed uploads are removed first, oldest first;
  /// these uploads remain in the list. Bundles of other uploads are never removed: if there is still no room, the new
  /// bundle is rejected (``ReportingError/full(_:)``).
  public struct Limits: Sendable, Hashable {
    /// The maximum size of all bundles together, in bytes.
    public var bytes: Int64 = 512 * 1024 * 1024
    /// The maximum number of bundles.
    public var items = 100
    /// The maximum number of listed uploads without a bundle. The oldest ones are removed from the list first.
    public var outcomes = 100

    /// Creates limits with the default values.
    public init() {}
  }
}

/// Determines which networks uploads can use.
///
/// Only the app knows the cost of a network, for example from `NWPathMonitor`. The policy is evaluated before each
/// upload, and again after each call of ``UploadQueue/networkChanged()``:
///
///     let policy = NetworkPolicy { _ in monitor.currentPath.status == .satisfied && !monitor.currentPath.isExpensive }
///     monitor.pathUpdateHandler = { _ in queue.networkChanged() }
public struct NetworkPolicy: Sendable {
  let permits: @Sendable (QueuedUpload) -> Bool

  /// Creates a policy that permits an upload if `permits` returns true. The closure is called on any thread and must
  /// return quickly.
  public init(_ permits: @escaping @Sendable (QueuedUpload) -> Bool) { self.permits = permits }

  /// Permits all networks.
  public static let any = Self { _ in true }

  /// Permits uploads while `isWiFi` returns true, for Wi-Fi and other networks without extra cost.
  public static func onlyWiFi(_ isWiFi: @escaping @Sendable () -> Bool) -> Self { Self { _ in isWiFi() } }
}
