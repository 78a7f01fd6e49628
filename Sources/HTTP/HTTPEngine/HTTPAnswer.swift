/// The response to a request, as a handler gives it: at once, or later.
///
/// A response that is there at once costs no task. For a server of small responses, a task with its asynchronous calls
/// costs as much as everything else.
public enum HTTPAnswer: Sendable {
  /// A response, or the error that becomes one.
  public typealias Outcome = Result<HTTPServerResponse, any Error>

  /// The response is there.
  case ready(Outcome)
  /// The response waits for something outside the request, such as a line in a log. The closure starts the wait, and
  /// passes the outcome to its argument once, on any thread.
  ///
  /// The server calls the closure on the event loop, after the handlers of all requests that arrived together, so that
  /// one action can end the waits of all of them.
  case waiting(@Sendable (@escaping @Sendable (Outcome) -> Void) -> Void)
  /// A task makes the response, on the event loop.
  case pending(@Sendable () async throws -> HTTPServerResponse)

  /// Returns the answer of `next`, which gets the outcome as soon as it is there.
  public func then(_ next: @escaping @Sendable (Outcome) -> HTTPAnswer) -> HTTPAnswer {
    switch self {
    case .ready(let outcome): next(outcome)
    case .waiting(let begin): .waiting { completion in begin { next($0).complete(completion) } }
    case .pending(let make): .pending { try await next(await Self.outcome(of: make)).response() }
    }
  }

  /// Returns the answer with a response that `change` has changed. An error stays as it is.
  public func changing(_ change: @escaping @Sendable (inout HTTPServerResponse) -> Void) -> HTTPAnswer {
    then { outcome in
      .ready(
        outcome.map { response in
          var response = response
          change(&response)
          return response
        })
    }
  }

  /// Waits for the response.
  public func response() async throws -> HTTPServerResponse {
    switch self {
    case .ready(let outcome): return try outcome.get()
    case .pending(let make): return try await make()
    case .waiting(let begin):
      // Lets other tasks on this thread come to the same point first, so that one action can end the waits of all.
      await Task.yield()
      return try await withCheckedContinuation { continuation in
        begin { continuation.resume(returning: $0) }
      }.get()
    }
  }

  /// Passes the outcome to `completion`, from any thread.
  private func complete(_ completion: @escaping @Sendable (Outcome) -> Void) {
    switch self {
    case .ready(let outcome): completion(outcome)
    case .waiting(let begin): begin(completion)
    case .pending(let make): Task { completion(await Self.outcome(of: make)) }
    }
  }

  static func outcome(of make: @Sendable () async throws -> HTTPServerResponse) async -> Outcome {
    do { return .success(try await make()) } catch { return .failure(error) }
  }
}
