import HTTPTypes
import Logging

/// Calls the handler for a request, and writes the response to its exchange. Used on the connection's loop.
struct HandlerCall {
  let exchange: Exchange
  let request: HTTPServerRequest

  /// A response, or the error that becomes one.
  private typealias Outcome = Result<HTTPServerResponse, any Error>

  private var loop: EventLoop { exchange.loop }

  /// Calls the handler, and writes the response as soon as it is there.
  func begin() {
    exchange.run {
      let outcome: Outcome
      do { outcome = .success(try await loop.context.handler.respond(to: request)) } catch {
        outcome = .failure(error)
      }
      loop.execute { write(outcome) }
    }
  }

  private func write(_ outcome: Outcome) {
    guard let response = response(to: outcome) else { return exchange.connection.close() }
    if let stream = stream(of: response) {
      exchange.run { await send(response, stream) }
    } else {
      exchange.write(response)
    }
  }

  /// Returns the response for an outcome. Returns `nil` if the client has disconnected.
  private func response(to outcome: Outcome) -> HTTPServerResponse? {
    let problem: HTTPProblem
    switch outcome {
    case .success(let response): return response
    case .failure(let error as HTTPProblem): problem = error
    case .failure(HTTPBodyError.tooLarge(let limit)): problem = Refusal.bodyTooLarge(limit: limit).problem
    case .failure(HTTPBodyError.tooSlow): problem = Refusal.bodyTooSlow.problem
    case .failure(HTTPBodyError.malformed): problem = Refusal.brokenCoding.problem
    case .failure(HTTPBodyError.disconnected): return nil
    case .failure(let error):
      loop.context.logger.error(
        "handler failed",
        metadata: ["id": "\(request.id)", "error": "\(String(describing: error).escapedForLog)"])
      problem = Refusal.internalError.problem
    }
    return problem.response(requestID: request.id)
  }

  // MARK: Streams

  private typealias Stream = (length: Int64?, next: @Sendable () async throws -> [UInt8]?)

  /// Returns the stream that is sent as the body of `response`, or `nil`.
  private func stream(of response: HTTPServerResponse) -> Stream? {
    guard case .stream(let length, let next) = response.body, response.hasBody(inAnswerTo: request.method)
    else { return nil }
    return (length, next)
  }

  private func send(_ response: HTTPServerResponse, _ stream: Stream) async {
    let exchange = exchange
    do {
      try await exchange.perform { exchange.write(response) }
      var sent: Int64 = 0
      while let piece = try await stream.next() {
        sent += Int64(piece.count)
        guard sent <= stream.length ?? .max else { throw WrongLength() }
        if !piece.isEmpty { try await exchange.perform { exchange.writeStreamed(piece) } }
      }
      guard sent == stream.length ?? sent else { throw WrongLength() }
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
