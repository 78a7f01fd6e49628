import Foundation
import SystemIO

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Calls the client of a protocol, in order and where the session expects it.
///
/// ``drain()`` and ``stop()`` are called where the session calls the protocol, everything else where it does not.
final class LoadingClient: Sendable {
  typealias Event = @Sendable (SnapshotURLProtocol) -> Void

  private struct State {
    var events: [Event] = []
    var isStopped = false
    #if canImport(FoundationNetworking)
      var response: URLResponse?
      var received = Data()
    #endif
  }

  // The properties that are used from several threads never change. The client is called only by `deliver`.
  private nonisolated(unsafe) let owner: SnapshotURLProtocol
  private let state = Lock(State())
  #if !canImport(FoundationNetworking)
    // `perform` can be called from any thread.
    private nonisolated(unsafe) let loop = RunLoop.current
    private let modes: [RunLoop.Mode]
  #endif

  /// Called by `startLoading`, on the thread on which the session wants the client to be called.
  init(_ owner: SnapshotURLProtocol) {
    unsafe self.owner = owner
    #if !canImport(FoundationNetworking)
      modes = [.default] + [RunLoop.current.currentMode].compactMap { $0 == .default ? nil : $0 }
    #endif
  }

  var request: URLRequest { unsafe owner.request }
  /// The task of the app.
  var task: URLSessionTask? { unsafe owner.task }

  // MARK: - The session's calls

  /// Delivers the events.
  func drain() {
    let events = state.withLock { state in
      defer { state.events = [] }
      return state.events
    }
    for event in events { deliver(event) }
  }

  /// Delivers nothing more.
  func stop() { state.withLock { $0.isStopped = true } }

  private func deliver(_ event: Event) {
    guard !state.withLock({ $0.isStopped }) else { return }
    unsafe event(owner)
  }

  /// Delivers an event after those that were posted before.
  func post(_ event: @escaping Event) {
    #if canImport(FoundationNetworking)
      // FoundationNetworking wants its client to be called on a queue of the session, on which it calls `startLoading`. It
      // does so for each call of `resume`, also if the task runs already.
      state.withLock { $0.events.append(event) }
      if let task, task.state == .running { task.resume() }
    #else
      unsafe loop.perform(inModes: modes) { [self] in deliver(event) }
    #endif
  }

  #if canImport(FoundationNetworking)
    /// Lets the first of `classes` that can do so answer the request.
    func handOver(to classes: [AnyClass]) {
      post { owner in
        let native = classes.lazy.compactMap { $0 as? URLProtocol.Type }.first {
          $0.canInit(with: owner.request)
        }
        guard let task = owner.task, let native else {
          owner.client?.urlProtocol(owner, didFailWithError: URLError(.unsupportedURL))
          owner.release()
          return
        }
        owner.handOver(to: native.init(task: task, cachedResponse: nil, client: owner.client))
      }
    }
  #endif

  // MARK: - Events

  func receive(_ response: URLResponse) {
    #if canImport(FoundationNetworking)
      state.withLock { $0.response = response }
    #else
      post { $0.client?.urlProtocol($0, didReceive: response, cacheStoragePolicy: .notAllowed) }
    #endif
  }

  func receive(_ data: Data) {
    #if canImport(FoundationNetworking)
      // Of several pieces, FoundationNetworking would pass only the last one to a completion handler.
      state.withLock { $0.received += data }
    #else
      post { $0.client?.urlProtocol($0, didLoad: data) }
    #endif
  }

  /// Ends the exchange, with an error if it is not `nil`.
  func finish(_ error: (any Error)?) {
    #if canImport(FoundationNetworking)
      let (response, data) = state.withLock { ($0.response, $0.received) }
    #endif
    post { owner in
      #if canImport(FoundationNetworking)
        if let response {
          owner.client?.urlProtocol(owner, didReceive: response, cacheStoragePolicy: .notAllowed)
        }
        if !data.isEmpty { owner.client?.urlProtocol(owner, didLoad: data) }
      #endif
      if let error {
        owner.client?.urlProtocol(owner, didFailWithError: error)
      } else {
        owner.client?.urlProtocolDidFinishLoading(owner)
      }
      owner.release()
    }
  }

  /// Ends the exchange with an error.
  func fail(_ error: any Error) { finish(error) }

  /// Asks the app whether to follow a redirect.
  /// - Parameters:
  ///   - response: the redirect.
  ///   - request: the request that would follow.
  ///   - session: the session that is passed to the app's delegate if its own is not known.
  ///   - decide: called with the request that follows; with `nil` if the redirect itself is the answer.
  ///   - isRestarted: called instead if the client makes another protocol for the request.
  func redirect(
    _ response: HTTPURLResponse, _ request: URLRequest, in session: URLSession,
    decide: @escaping @Sendable (URLRequest?) -> Void, isRestarted: () -> Void
  ) {
    #if canImport(FoundationNetworking)
      guard let task, let delegate = task.delegate else { return decide(request) }
      delegate.urlSession(
        session, task: task, willPerformHTTPRedirection: response, newRequest: request,
        completionHandler: decide)
    #else
      post { owner in
        owner.client?.urlProtocol(owner, wasRedirectedTo: request, redirectResponse: response)
        owner.client?.urlProtocol(owner, didFailWithError: URLError(.cancelled))
        owner.release()
      }
      isRestarted()
    #endif
  }

  /// Asks the app how to authenticate.
  func authenticate(
    _ challenge: URLAuthenticationChallenge, in session: URLSession,
    _ completion:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    #if canImport(FoundationNetworking)
      guard let task, let delegate = task.delegate else { return completion(.performDefaultHandling, nil) }
      delegate.urlSession(session, task: task, didReceive: challenge, completionHandler: completion)
    #else
      let forwarded = URLAuthenticationChallenge(
        authenticationChallenge: challenge, sender: ChallengeSender(completion))
      post { $0.client?.urlProtocol($0, didReceive: forwarded) }
    #endif
  }
}

#if !canImport(FoundationNetworking)
  /// Passes the app's answer to the session that sends the request.
  private final class ChallengeSender: NSObject, URLAuthenticationChallengeSender {
    private let completion: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

    init(
      _ completion: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      self.completion = completion
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
      completion(.useCredential, credential)
    }
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {
      completion(.useCredential, nil)
    }
    func cancel(_ challenge: URLAuthenticationChallenge) { completion(.cancelAuthenticationChallenge, nil) }
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {
      completion(.performDefaultHandling, nil)
    }
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
      completion(.rejectProtectionSpace, nil)
    }
  }
#endif
