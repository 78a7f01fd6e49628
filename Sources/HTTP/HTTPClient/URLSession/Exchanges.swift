#if canImport(Darwin) || DEBUG
  import Dispatch

  #if canImport(FoundationNetworking)
    import Foundation
    import FoundationNetworking
  #else
    import Foundation
  #endif

  /// Maps the session's tasks to their exchanges.
  ///
  /// - Invariant: `running` and every started exchange are accessed only on the serial queue `serial`, which is also the
  ///   session's delegate queue. This makes `@unchecked Sendable` correct.
  final class Exchanges: NSObject, @unchecked Sendable {
    let queue = OperationQueue()
    private let serial = DispatchQueue(label: "snapshot.urlsession")
    private var running: [Int: Exchange] = [:]

    private let trust: ServerTrust

    init(trust: ServerTrust) {
      self.trust = trust
      super.init()
      queue.maxConcurrentOperationCount = 1
      queue.underlyingQueue = serial
    }

    func start(_ exchange: Exchange, in session: URLSession) {
      serial.async { [self] in
        do throws(TransportError) {
          let task = try exchange.makeTask(in: session)
          running[task.taskIdentifier] = exchange
          exchange.watch(on: serial) { [weak self, weak exchange] in
            guard let self, let exchange else { return }
            end(exchange, .failure(.timedOut))
          }
          task.resume()
        } catch {
          exchange.complete(.failure(error))
        }
      }
    }

    func cancel(_ exchange: Exchange) {
      serial.async { [self] in
        exchange.isCancelled = true
        end(exchange, .failure(.cancelled))
      }
    }

    /// Completes the exchange with `outcome` and cancels its task.
    private func end(_ exchange: Exchange, _ outcome: Exchange.Outcome) {
      guard let task = exchange.task, running.removeValue(forKey: task.taskIdentifier) != nil else { return }
      exchange.complete(outcome)
      task.cancel()
    }
  }

  extension Exchanges: URLSessionDataDelegate {
    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      completionHandler(nil)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
      totalBytesExpectedToSend: Int64
    ) {
      running[task.taskIdentifier]?.sent(totalBytesSent)
    }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
      attempt(for: dataTask) { (exchange) throws(TransportError) in try exchange.begin(response) }
      completionHandler(running[dataTask.taskIdentifier] == nil ? .cancel : .allow)
    }

    #if canImport(Darwin)
      func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
      ) {
        let (disposition, credential) = challenge.answer(trust)
        completionHandler(disposition, credential)
      }

      func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
      ) {
        attempt(for: task) { (exchange) throws(TransportError) in try exchange.begin(response) }
      }
    #endif

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      attempt(for: dataTask) { (exchange) throws(TransportError) in try exchange.take(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      guard let exchange = running.removeValue(forKey: task.taskIdentifier) else { return }
      exchange.complete(exchange.outcome(of: error))
    }

    private func attempt(for task: URLSessionTask, _ work: (Exchange) throws(TransportError) -> Void) {
      guard let exchange = running[task.taskIdentifier] else { return }
      do { try work(exchange) } catch { end(exchange, .failure(error)) }
    }
  }
#endif
