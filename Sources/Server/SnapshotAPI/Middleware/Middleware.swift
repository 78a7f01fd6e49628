package import HTTPEngine

/// One step around the answering of a request, such as the audit log or authentication.
///
/// A step may change what it hands on: authentication takes a request and hands on a request with its caller.
package protocol Middleware<Input, Output>: Sendable {
  associatedtype Input
  associatedtype Output

  /// Answers `input`, as a rule by `next`.
  func respond(to input: Input, next: Responder<Output>) async throws -> HTTPServerResponse
}

/// Answers a request, or throws what ``SnapshotProblem`` turns into an answer.
package typealias Responder<Input> = @Sendable (Input) async throws -> HTTPServerResponse

/// Steps in their order, the outermost first. They are put together once, not for each request.
package struct Steps<Input, Output>: Sendable {
  private let compose: @Sendable (@escaping Responder<Output>) -> Responder<Input>

  /// Begins with the outermost step.
  package init<First: Middleware>(_ first: First) where First.Input == Input, First.Output == Output {
    compose = { next in { input in try await first.respond(to: input, next: next) } }
  }

  private init(compose: @escaping @Sendable (@escaping Responder<Output>) -> Responder<Input>) {
    self.compose = compose
  }

  /// Adds a step inside of these.
  package func then<Next: Middleware>(_ step: Next) -> Steps<Input, Next.Output> where Next.Input == Output {
    Steps<Input, Next.Output> { [compose] next in
      compose { input in try await step.respond(to: input, next: next) }
    }
  }

  /// All of them around `handler`.
  package func around(_ handler: @escaping Responder<Output>) -> Responder<Input> { compose(handler) }
}
