public import DataSnapshots

#if canImport(FoundationNetworking)
  import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension SnapshotMode {
  /// Returns a configuration for sessions whose HTTP exchanges are recorded and replayed.
  ///
  ///     let session = URLSession(configuration: mode.record(.default))
  ///
  /// While recording, requests are sent and answered as without this method, and the exchanges are recorded. While
  /// replaying, they are answered with the recordings and nothing is sent; for a request without a recording, the policy of
  /// its identifier determines what happens. While the state is ``/DataSnapshots/SnapshotMode/State/disabled``, sessions
  /// work as with `configuration`.
  ///
  /// A request belongs to the instance whose method returned its session's configuration. Call this method once for each
  /// session that the app keeps, not for each request: at most 10,000 times in a process. A configuration for background
  /// sessions is returned unchanged, because they do not use protocol classes.
  ///
  /// - Parameters:
  ///   - configuration: the settings for sending requests. It is copied.
  ///   - rules: the identifiers, and how much is kept.
  public func record(
    _ configuration: URLSessionConfiguration, rules: ExchangeRules = ExchangeRules()
  ) -> URLSessionConfiguration {
    guard configuration.identifier == nil, let live = configuration.copy() as? URLSessionConfiguration,
      let recorded = configuration.copy() as? URLSessionConfiguration
    else { return configuration }
    live.protocolClasses = live.protocolClasses?.filter { !($0 is SnapshotURLProtocol.Type) }
    guard let protocolClass = SessionBindings.shared.bind(SessionBinding(self, live, rules)) else {
      refuseExchange(
        "URLSession", .limit, bytes: 0,
        "more than \(SessionBindings.limit) configurations were made; make one for each session")
      return configuration
    }
    recorded.protocolClasses = [protocolClass] + (live.protocolClasses ?? [])
    return recorded
  }
}
