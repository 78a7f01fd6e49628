import Foundation
import SystemIO

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The session that sends the requests of one configuration.
final class LiveSession: NSObject, URLSessionDataDelegate {
  private let open = Lock<URLSession?>(nil)
  private let queue = OperationQueue()
  private let loaders = Lock<[Int: ExchangeLoader]>([:])

  init(_ configuration: URLSessionConfiguration) {
    super.init()
    queue.maxConcurrentOperationCount = 1
    let made = URLSession(configuration: configuration, delegate: self, delegateQueue: queue)
    open.withLock { $0 = made }
  }

  /// `nil` after ``close()``.
  var session: URLSession? { open.withLock { $0 } }

  /// Runs `body` on the queue of the callbacks. In FoundationNetworking, all sessions share a queue on which they call
  /// protocols, and for which the methods of tasks wait: a protocol must not call these where it is called.
  func perform(_ body: @escaping @Sendable () -> Void) { queue.addOperation(body) }

  /// Makes a task for `request`. The session's callbacks go to `loader`.
  /// - Returns: the task, which is not resumed; `nil` if the session was closed.
  func makeTask(_ request: URLRequest, _ loader: ExchangeLoader) -> URLSessionTask? {
    open.withLock { session in
      guard let task = session?.dataTask(with: request) else { return nil }
      loaders.withLock { $0[task.taskIdentifier] = loader }
      return task
    }
  }

  /// Lets the requests under way end, and releases the session.
  func close() { open.withLock { $0.take() }?.finishTasksAndInvalidate() }

  private subscript(task: URLSessionTask) -> ExchangeLoader? {
    loaders.withLock { $0[task.taskIdentifier] }
  }

  // MARK: - URLSessionDataDelegate

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    guard let loader = self[task] else { return completionHandler(request) }
    loader.redirect(response, request, in: session, completionHandler)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler:
      @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    guard let loader = self[task] else { return completionHandler(.performDefaultHandling, nil) }
    loader.authenticate(challenge, in: session, completionHandler)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    completionHandler(self[task]?.makeBodyStream())
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    self[dataTask]?.receive(response)
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    self[dataTask]?.receive(data)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    loaders.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.complete(error)
  }
}
