import Foundation
import HTTPSemantics
import HTTPClient
import HTTPTypes

/// The mapping of responses and transport errors to the client's errors.
extension SnapshotClientError {
  /// Converts a transport error.
  init(_ error: TransportError) {
    switch error {
    case .invalidRequest(let text): self.init(.invalidRequest, text, cause: error)
    case .connectionFailed(let text): self.init(.connectionFailed, text, cause: error)
    case .untrusted(let text): self.init(.untrustedServer, text, cause: error)
    case .timedOut: self.init(.timedOut, cause: error)
    case .interrupted(let text): self.init(.interrupted, text, cause: error)
    case .unexpectedRange:
      self.init(.unexpectedAnswer, "it contains a different part of the file than requested", cause: error)
    case .responseTooLarge(let limit):
      self.init(.unexpectedAnswer, "it is larger than \(limit) bytes", cause: error)
    case .file(let text): self.init(.file, text, cause: error)
    case .cancelled: self.init(.cancelled, cause: error)
    }
  }

  /// Converts a response that is not a success.
  /// - Parameters:
  ///   - address: the server to which the request was sent.
  ///   - now: the time by which a `Retry-After` date is interpreted if the response has no `Date`.
  ///   - hint: what to do if something else than the server answered.
  init(_ response: TransportResponse, from address: ServerAddress, now: Date, hint: String? = nil) {
    let status = response.head.status.code
    let fields = response.head.headerFields
    // A date of the server is compared with the server's clock, because that of the device can be wrong.
    let clock = fields[.date].flatMap(HTTPDate.init).map {
      Date(timeIntervalSince1970: Double($0.secondsSince1970))
    }
    let retryAfter = fields[.retryAfter].flatMap { RetryAfter.seconds($0, now: clock ?? now) }
    guard let foreign = ForeignAnswer(failure: response) else {
      let problem = ServerProblem(response)
      self.init(
        Self.code(for: status), mend: problem.flatMap(Self.mend), status: status, problem: problem,
        retryAfter: retryAfter)
      return
    }
    if let target = address.redirection(to: response.head) {
      self.init(
        .unexpectedAnswer, "\(foreign.description) redirects to \(target.text)",
        mend: target.isServer ? "use that address" : nil, status: status, isForeign: true)
      return
    }
    // Of what others say about the request, only "not now" can be relied on.
    let isTemporary = RetryPolicy.retriedStatuses.contains(status)
    self.init(
      isTemporary ? Self.code(for: status) : .unexpectedAnswer, foreign.description,
      mend: hint ?? (isTemporary ? nil : "check the server's address, and the proxies on the way to it"),
      status: status, isForeign: true, retryAfter: retryAfter)
  }

  /// What to do about `problem`, if that differs from other problems with its status.
  private static func mend(_ problem: ServerProblem) -> String? {
    guard problem.isOf(kind: "no-such-path") else { return nil }
    return "check the server's address, and that a proxy before it keeps %2F in paths"
  }

  private static func code(for status: Int) -> Code {
    switch status {
    case 401, 407: .unauthorized
    case 403: .forbidden
    case 404: .notFound
    case 408: .timedOut
    case 409: .conflict
    case 410: .gone
    case 413: .bundleTooLarge
    case 429: .rateLimited
    case 400...499: .refused
    case 502, 503, 504: .unavailable
    case 507: .serverFull
    case 500...599: .serverFailed
    default: .unexpectedAnswer
    }
  }
}
