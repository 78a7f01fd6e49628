import Foundation
import HTTPTransport
import HTTPTypes

/// The one place where statuses and the transport's errors become the client's.
extension SnapshotClientError {
  /// What a transport's error means.
  init(_ error: TransportError) {
    switch error {
    case .invalidRequest(let text): self.init(.invalidRequest, text, cause: error)
    case .connectionFailed(let text): self.init(.connectionFailed, text, cause: error)
    case .timedOut: self.init(.timedOut, cause: error)
    case .interrupted(let text): self.init(.interrupted, text, cause: error)
    case .unexpectedRange:
      self.init(.unexpectedAnswer, "it holds another part of the file than the one asked for", cause: error)
    case .responseTooLarge(let limit):
      self.init(.unexpectedAnswer, "it is larger than \(limit) bytes", cause: error)
    case .file(let text): self.init(.file, text, cause: error)
    case .cancelled: self.init(.cancelled, cause: error)
    }
  }

  /// What an answer means that is no success; `now` is for a `Retry-After` that is a date, `hint` what is said of an
  /// answer that does not explain itself.
  init(_ response: TransportResponse, now: Date, hint: String? = nil) {
    let status = response.head.status.code
    let retryAfter = response.head.headerFields[.retryAfter].flatMap { RetryAfter.seconds($0, now: now) }
    guard !(300...399).contains(status) else {
      self.init(.unexpectedAnswer, "the server sends elsewhere and is not followed there", status: status)
      return
    }
    self.init(
      Self.code(for: status), hint, status: status, problem: ServerProblem(response.body),
      retryAfter: retryAfter)
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
