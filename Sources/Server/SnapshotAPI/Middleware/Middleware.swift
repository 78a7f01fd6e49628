package import HTTPEngine
import Observability

/// A step in the processing of a request, such as the audit log or authentication.
///
/// A step can change the type of its input: authentication receives a request, and passes on a request with its caller.
///
/// A step of many parts whose closures need it is a class: they would copy each part of a struct for every request.
package protocol Middleware<Input, Output>: Sendable {
  associatedtype Input
  associatedtype Output

  /// Returns the response to `input`, usually by calling `next`. Must not block.
  func respond(to input: Input, next: Responder<Output>) async throws -> HTTPServerResponse
}

/// Returns the response to a request. Its error is one that ``SnapshotProblem`` converts to a response. Must not block.
package typealias Responder<Input> = @Sendable (Input) async throws -> HTTPServerResponse

/// A chain of steps, outermost first. It is composed once, not for each request.
package struct Steps<Input, Output>: Sendable {
  private let compose: @Sendable (@escaping Responder<Output>) -> Responder<Input>

  /// Creates a chain with the outermost step.
  package init<First: Middleware>(_ first: First) where First.Input == Input, First.Output == Output {
    compose = { next in { input in try await first.respond(to: input, next: next) } }
  }

  private init(compose: @escaping @Sendable (@escaping Responder<Output>) -> Responder<Input>) {
    self.compose = compose
  }

  /// Adds a step inside the last one.
  package func then<Next: Middleware>(_ step: Next) -> Steps<Input, Next.Output> where Next.Input == Output {
    Steps<Input, Next.Output> { [compose] next in
      compose { input in try await step.respond(to: input, next: next) }
    }
  }

  /// Returns all steps around `handler`.
  package func around(_ handler: @escaping Responder<Output>) -> Responder<Input> { compose(handler) }
}

/// Gives a request its ``RequestContext``, which all other steps use.
package struct RequestContextMiddleware: Middleware {
  package init() {}

  package func respond(
    to request: HTTPServerRequest, next: Responder<HTTPServerRequest>
  ) async throws -> HTTPServerResponse {
    request.userInfo = RequestContext()
    return try await next(request)
  }
}
