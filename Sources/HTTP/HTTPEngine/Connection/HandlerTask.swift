import HTTPTypes
import Logging

/// Calls the handler for a request, and writes the response to its exchange.
struct HandlerTask {
  let exchange: Exchange
  let request: HTTPServerRequest

  private var loop: EventLoop { exchange.loop }

  /// Starts the task on the connection's loop.
  func start() -> Task<Void, Never> {
    loop.beginTask()
    return Task(executorPreference: loop) {
      await run()
      loop.endTask()
    }
  }

  /// Waits for the response and sends it.
  private func run() async {
    let response: HTTPServerResponse?
    do {
      response = try await loop.context.handler.respond(to: request)
    } catch {
      response = self.response(to: error)
    }
    let exchange = exchange
    guard let response else {
      loop.execute { exchange.connection.close() }
      return
    }
    if case .stream(let length, let next) = response.body, response.hasBody(inAnswerTo: request.method) {
      await stream(response, length, next)
    } else if loop.isCurrent {
      exchange.write(response)
    } else {
      loop.execute { exchange.write(response) }
    }
  }

  /// Returns the response for an error. Returns `nil` if the client has disconnected.
  private func response(to error: any Error) -> HTTPServerResponse? {
    let problem: HTTPProblem
    switch error {
    case let error as HTTPProblem: problem = error
    case HTTPBodyError.tooLarge(let limit): problem = Refusal.bodyTooLarge(limit: limit).problem
    case HTTPBodyError.tooSlow: problem = Refusal.bodyTooSlow.problem
    case HTTPBodyError.malformed: problem = Refusal.brokenCoding.problem
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
    _ response: HTTPServerResponse, _ length: Int64?, _ next: @Sendable () async throws -> [UInt8]?
  ) async {
    let exchange = exchange
    do {
      try await exchange.perform { exchange.write(response) }
      var sent: Int64 = 0
      while let piece = try await next() {
        sent += Int64(piece.count)
        guard sent <= length ?? .max else { throw WrongLength() }
        if !piece.isEmpty { try await exchange.perform { exchange.writeStreamed(piece) } }
      }
      guard sent == length ?? sent else { throw WrongLength() }
      loop.execute { if exchange.isOpen { exchange.endStream() } }
    } catch {
      if !(error is HTTPBodyError) {
        loop.context.logger.error("stream failed", metadata: ["error": "\("\(error)".escapedForLog)"])
      }
      // The status was sent. Only an incomplete response can signal the failure.
      loop.execute { if exchange.isOpen { exchange.breakStream() } }
    }
  }
}

/// The pieces of a stream are more or fewer bytes than its `Content-Length`.
private struct WrongLength: Error, CustomStringConvertible {
  var description: String { "The stream has another length than the response states." }
}
