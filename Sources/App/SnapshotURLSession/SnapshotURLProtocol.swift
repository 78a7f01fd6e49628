import DataSnapshots
import Synchronization

#if canImport(FoundationNetworking)
  import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// The protocol class that records and replays the exchanges of a session.
///
/// ``DataSnapshots/SnapshotMode/record(_:rules:)`` makes a subclass for each configuration. It is not registered for other
/// sessions, and changes nothing in requests.
public class SnapshotURLProtocol: URLProtocol {
  private let loader = Mutex<ExchangeLoader?>(nil)

  /// Whether the request is for HTTP, and the mode records or replays.
  public override class func canInit(with request: URLRequest) -> Bool {
    guard let scheme = request.url?.scheme?.lowercased(), scheme == "http" || scheme == "https",
      let mode = SessionBindings.shared[self]?.mode
    else { return false }
    return !mode.isPassingExchanges
  }

  /// Returns `request`.
  public override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  /// Returns `false`: the session that sends requests has the cache.
  public override class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool { false }

  /// Begins to answer the request. On Linux, the session calls this method again for each call of `resume`.
  public override func startLoading() {
    let (loader, isNew) = loader.withLock { loader -> (ExchangeLoader?, Bool) in
      if let loader { return (loader, false) }
      guard let binding = SessionBindings.shared[type(of: self)], let mode = binding.mode else {
        return (nil, false)
      }
      loader = ExchangeLoader(self, binding, mode)
      return (loader, true)
    }
    guard let loader else {
      client?.urlProtocol(self, didFailWithError: URLError(.cancelled))
      return
    }
    if isNew { loader.start() } else { loader.client.drain() }
  }

  /// Stops answering the request.
  public override func stopLoading() {
    let loader = loader.withLock { $0 }
    #if canImport(FoundationNetworking)
      // A suspended task, or one that was resumed since, only waits for its answer. The request goes on.
      if task?.state == .running { return }
      if task?.state == .suspended {
        loader?.client.pause()
        return
      }
    #endif
    loader?.stop()
  }
}
