import DataSnapshots
import SystemIO

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
  private struct State {
    var hasBegun = false
    var loader: ExchangeLoader?
  }

  private let state = Lock(State())
  #if canImport(FoundationNetworking)
    /// Used only where the session calls the protocol.
    private struct Native: @unchecked Sendable {
      let loader: URLProtocol
    }

    /// The system's protocol, if it answers.
    private let native = Lock<Native?>(nil)
  #endif

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
    #if canImport(FoundationNetworking)
      if let native = native.withLock({ $0 }) { return native.loader.startLoading() }
    #endif
    let (loader, isNew) = state.withLock { state -> (ExchangeLoader?, Bool) in
      guard !state.hasBegun else { return (state.loader, false) }
      state.hasBegun = true
      if let binding = SessionBindings.shared[type(of: self)], let mode = binding.mode {
        state.loader = ExchangeLoader(self, binding, mode)
      }
      return (state.loader, true)
    }
    if isNew, loader == nil { client?.urlProtocol(self, didFailWithError: URLError(.cancelled)) }
    if isNew { loader?.start() } else { loader?.client.drain() }
  }

  /// Stops answering the request.
  public override func stopLoading() {
    #if canImport(FoundationNetworking)
      if let native = native.withLock({ $0 }) { return native.loader.stopLoading() }
      // A suspended task, or one that was resumed since, only waits for its answer. The request goes on.
      if task?.state == .running || task?.state == .suspended { return }
    #endif
    release()?.stop()
  }

  /// Lets go of the loader, which refers to this object: the client is not called any more.
  @discardableResult
  func release() -> ExchangeLoader? { state.withLock { $0.loader.take() } }

  #if canImport(FoundationNetworking)
    /// Lets the system's protocol `loader` answer.
    func handOver(to loader: URLProtocol) {
      release()
      nonisolated(unsafe) let kept = loader
      native.withLock { unsafe $0 = Native(loader: kept) }
      loader.startLoading()
    }
  #endif
}
