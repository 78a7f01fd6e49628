/// Which networks uploads may use.
///
/// What a network costs only the app can know, from `NWPathMonitor` say, so it is asked before each upload, and again
/// whenever ``UploadQueue/networkChanged()`` tells that the answer may be another:
///
///     let policy = NetworkPolicy { _ in monitor.currentPath.status == .satisfied && !monitor.currentPath.isExpensive }
///     monitor.pathUpdateHandler = { _ in queue.networkChanged() }
public struct NetworkPolicy: Sendable {
  let permits: @Sendable (QueuedUpload) -> Bool

  /// Permits an upload where `permits` says so for it. Called from any thread, and to return quickly.
  public init(_ permits: @escaping @Sendable (QueuedUpload) -> Bool) { self.permits = permits }

  /// Permits every network.
  public static let any = Self { _ in true }

  /// Permits only networks of which `isWiFi` says that they are Wi-Fi, or cost nothing in some other way.
  public static func onlyWiFi(_ isWiFi: @escaping @Sendable () -> Bool) -> Self { Self { _ in isWiFi() } }
}
