import Foundation
import SystemIO

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A session's delegate that collects answers.
final class TaskDelegate: NSObject, URLSessionDataDelegate {
  private struct State {
    var status = 0
    var data = Data()
    var outcomes: [String] = []
    var redirects = 0
    var completion: CheckedContinuation<Void, any Error>?
  }

  private let state = Lock(State())
  private let followsRedirects: Bool

  init(followsRedirects: Bool = true) { self.followsRedirects = followsRedirects }

  /// The status and body of each answer.
  var outcomes: [String] { state.withLock { $0.outcomes } }
  var redirects: Int { state.withLock { $0.redirects } }

  /// Returns when `task` has ended.
  func run(_ task: URLSessionDataTask) async throws {
    try await withCheckedThrowingContinuation { continuation in
      state.withLock { state in
        state.completion = continuation
        (state.status, state.data) = (0, Data())
      }
      task.resume()
    }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    state.withLock { $0.redirects += 1 }
    completionHandler(followsRedirects ? request : nil)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    state.withLock { $0.status = (response as? HTTPURLResponse)?.statusCode ?? 0 }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    state.withLock { $0.data += data }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let completion = state.withLock { state in
      state.outcomes.append("\(state.status) \(String(decoding: state.data, as: UTF8.self))")
      return state.completion.take()
    }
    if let error { completion?.resume(throwing: error) } else { completion?.resume() }
  }
}
