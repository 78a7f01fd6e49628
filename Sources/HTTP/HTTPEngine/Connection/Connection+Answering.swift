import HTTPTypes
import Logging

extension Connection {
  /// Has the handler answer the request `number`: at once, or by a task.
  func answer(_ request: HTTPServerRequest, number: UInt64) {
    let answer: HTTPAnswer
    do {
      answer = try loop.context.handler.answer(to: request)
    } catch {
      guard let response = response(to: error, request) else { return close() }
      return writeAtOnce(response)
    }
    switch answer {
    case .now(let response):
      if response.isStreamed(inAnswerTo: request) {
        beginTask(request, number: number) { response }
      } else {
        writeAtOnce(response)
      }
    case .later(let respond): beginTask(request, number: number, respond)
    }
  }

  /// Sends the response to a request that has just begun.
  func writeAtOnce(_ response: HTTPServerResponse) {
    isAnswering = true
    write(response)
    isAnswering = false
  }

  // MARK: The handler's task

  private func beginTask(
    _ request: HTTPServerRequest, number: UInt64,
    _ respond: @escaping @Sendable () async throws -> HTTPServerResponse
  ) {
    loop.beginTask()
    task = Task(executorPreference: loop) {
      await self.serve(request, number: number, respond)
      self.loop.endTask()
    }
  }

  /// Waits for the response and sees to it that it gets out; runs as the request's task.
  private func serve(
    _ request: HTTPServerRequest, number: UInt64,
    _ respond: @Sendable () async throws -> HTTPServerResponse
  ) async {
    let response: HTTPServerResponse?
    do {
      response = try await respond()
    } catch {
      response = self.response(to: error, request)
    }
    guard let response else {
      loop.execute { self.close() }
      return
    }
    if case .stream(let next) = response.body, response.isStreamed(inAnswerTo: request) {
      await stream(response, next, number: number)
    } else if loop.isCurrent {
      write(response)
    } else {
      loop.execute { self.write(response) }
    }
  }

  /// What a client is told of a failure; `nil` where there is nobody to tell.
  private func response(to error: any Error, _ request: HTTPServerRequest) -> HTTPServerResponse? {
    let problem: HTTPProblem
    switch error {
    case let error as HTTPProblem: problem = error
    case HTTPBodyError.tooLarge(let limit): problem = Refusal.bodyTooLarge(limit: limit).problem
    case HTTPBodyError.tooSlow: problem = Refusal.bodyTooSlow.problem
    case HTTPBodyError.malformed:
      problem = Refusal.brokenCoding.problem
    case HTTPBodyError.disconnected: return nil
    default:
      loop.context.logger.error(
        "handler failed",
        metadata: ["id": "\(request.id)", "error": "\(String(describing: error).escapedForLog)"])
      problem = Refusal.internalError.problem
    }
    return problem.response(requestID: request.id)
  }

  private func stream(
    _ response: HTTPServerResponse, _ next: @Sendable () async throws -> [UInt8]?, number: UInt64
  ) async {
    do {
      try await onLoop(number) { self.write(response) }
      while let piece = try await next() {
        if !piece.isEmpty { try await onLoop(number) { self.writeStreamed(piece) } }
      }
      loop.execute { if self.isStreaming(number) { self.endStream() } }
    } catch {
      if !(error is HTTPBodyError) {
        loop.context.logger.error("stream failed", metadata: ["error": "\("\(error)".escapedForLog)"])
      }
      // The status is out: a connection that ends early is all that can still tell.
      loop.execute { if self.isStreaming(number) { self.abort() } }
    }
  }

  /// Whether the response to that request is still being written: a stream never gets into another's response.
  private func isStreaming(_ number: UInt64) -> Bool {
    phase == .request && exchange.number == number && !exchange.isQueued
  }

  /// Writes on the loop and waits until the queue is empty.
  func onLoop(_ number: UInt64, _ action: @escaping @Sendable () -> Void) async throws {
    try await withCheckedThrowingContinuation { continuation in
      let isOpen = loop.execute {
        if self.isStreaming(number) { action() }
        if self.isStreaming(number) {
          self.waitForRoom(continuation)
        } else {
          continuation.resume(throwing: HTTPBodyError.disconnected)
        }
      }
      if !isOpen { continuation.resume(throwing: HTTPBodyError.disconnected) }
    }
  }
}

extension HTTPServerResponse {
  /// Whether a body has to be made while it is sent.
  fileprivate func isStreamed(inAnswerTo request: HTTPServerRequest) -> Bool {
    guard case .stream = body else { return false }
    return hasBody(inAnswerTo: request.method)
  }
}
