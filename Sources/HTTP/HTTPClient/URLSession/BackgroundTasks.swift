#if canImport(Darwin)
  import Foundation
  import HTTPTypes
  import SystemIO

  /// The tasks of a background session, by the names in their descriptions.
  final class BackgroundTasks: NSObject, URLSessionDataDelegate {
    /// The maximum size of a response's body in bytes.
    private static let bodyBytes = 8 * 1024 * 1024

    private struct State {
      var tasks: [String: URLSessionTask] = [:]
      var bodies: [Int: Data] = [:]
      /// The identifiers of the tasks that have ended or were cancelled. The session can still list them.
      var done: Set<Int> = []
    }

    let exchanges = BackgroundExchanges()
    private let state = Lock(State())
    private let trust: ServerTrust

    init(trust: ServerTrust) { self.trust = trust }

    /// Takes over a task of this process or an earlier one.
    func adopt(_ task: URLSessionTask) {
      guard let name = task.taskDescription else { return }
      let isNew = state.withLock { state in
        guard state.tasks[name] == nil, !state.done.contains(task.taskIdentifier) else { return false }
        state.tasks[name] = task
        return true
      }
      if isNew { exchanges.add(name) }
    }

    func cancel(_ name: String) {
      let task = state.withLock { state in
        let task = state.tasks.removeValue(forKey: name)
        if let task { state.done.insert(task.taskIdentifier) }
        return task
      }
      exchanges.remove(name)
      task?.cancel()
    }

    // MARK: - Events of the session

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
      totalBytesExpectedToSend: Int64
    ) {
      if let name = task.taskDescription { exchanges.sent(totalBytesSent, of: name) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      state.withLock { state in
        let body = state.bodies[dataTask.taskIdentifier] ?? Data()
        // One byte more than permitted is enough to know that there are too many.
        state.bodies[dataTask.taskIdentifier] = body + data.prefix(Self.bodyBytes + 1 - body.count)
      }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      let (body, isExpected) = state.withLock { state in
        let body = state.bodies.removeValue(forKey: task.taskIdentifier) ?? Data()
        let isExpected = state.done.insert(task.taskIdentifier).inserted
        if isExpected, let name = task.taskDescription { state.tasks[name] = nil }
        return (body, isExpected)
      }
      guard isExpected, let name = task.taskDescription else { return }
      exchanges.end(name, outcome(of: task, body, error))
    }

    func urlSession(
      _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      let (disposition, credential) = challenge.answer(trust)
      completionHandler(disposition, credential)
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { exchanges.endEvents() }

    private func outcome(
      of task: URLSessionTask, _ body: Data, _ error: (any Error)?
    ) -> BackgroundExchanges.Outcome {
      do throws(TransportError) {
        if let error {
          let error = TransportError(error)
          // The system or the user has ended it, not the caller.
          throw error == .cancelled ? .interrupted("the system ended the transfer") : error
        }
        guard body.count <= Self.bodyBytes else { throw .responseTooLarge(limit: Int64(Self.bodyBytes)) }
        guard let response = task.response else { throw .interrupted("no response") }
        return .success(TransportResponse(head: try HTTPResponse(response), body: body))
      } catch {
        return .failure(error)
      }
    }
  }
#endif
