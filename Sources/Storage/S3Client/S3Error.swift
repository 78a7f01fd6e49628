package import HTTPClient

/// The reason why an operation failed. No description contains a secret, a signature or a body.
package enum S3Error: Error, Sendable, Hashable {
  /// The store answered with an error.
  case refused(S3Refusal)
  /// There is no answer.
  case transport(TransportError)
  /// The answer is not one of S3, for the stated reason.
  case malformedAnswer(String)
  /// There are no usable credentials, for the stated reason.
  case credentials(String)
  /// The request can't be made, for the stated reason. Nothing was sent.
  case invalidRequest(String)
  /// The store lacks what it must have, for the stated reason.
  case unsuitableStore(String)

  /// The object, the upload or the bucket does not exist.
  package var isNotFound: Bool {
    if case .refused(let refusal) = self { refusal.status == 404 } else { false }
  }

  /// Whether the object ends before the requested range.
  package var isBeyondEnd: Bool {
    if case .refused(let refusal) = self { refusal.status == 416 } else { false }
  }

  /// Whether the request was possibly executed although it failed.
  var isUndecided: Bool {
    switch self {
    case .refused(let refusal): refusal.status >= 500
    case .transport(let error): error.isUndecided
    case .malformedAnswer: true
    case .credentials, .invalidRequest, .unsuitableStore: false
    }
  }

  /// Whether the same request can succeed later.
  var isTemporary: Bool {
    switch self {
    case .refused(let refusal): refusal.isTemporary
    case .transport(.connectionFailed), .transport(.timedOut), .transport(.interrupted): true
    case .transport, .malformedAnswer, .credentials, .invalidRequest, .unsuitableStore: false
    }
  }
}

/// An error that a store answered with.
package struct S3Refusal: Sendable, Hashable {
  /// The status of the response.
  package let status: Int
  /// The code, such as `NoSuchKey`; empty if the answer has none, as that to `HEAD`.
  package let code: String
  /// The store's text for people; empty if the answer has none.
  package let message: String
  /// The id under which the store's operator finds the request.
  package let requestID: String?

  /// Creates an error from its parts.
  package init(status: Int, code: String = "", message: String = "", requestID: String? = nil) {
    self.status = status
    self.code = code
    self.message = message
    self.requestID = requestID
  }

  /// Whether the store asks to try again, or failed for a reason of its own.
  var isTemporary: Bool {
    status >= 500 && status != 501 || status == 429 || code == "SlowDown" || code == "RequestTimeout"
      || isConflict
  }

  /// Whether another conditional write to the same key was being executed.
  var isConflict: Bool { status == 409 && code == "ConditionalRequestConflict" }
}

extension S3Error: CustomStringConvertible {
  /// A sentence for the log.
  package var description: String {
    switch self {
    case .refused(let refusal):
      "The object store answered with status \(refusal.status)"
        + (refusal.code.isEmpty ? "" : " and \(refusal.code)")
        + (refusal.message.isEmpty ? "" : " (\(refusal.message))")
        + (refusal.requestID.map { ", request \($0)" } ?? "") + "."
    case .transport(let error): "The object store does not answer: \(error)."
    case .malformedAnswer(let reason): "The answer is not one of an object store: \(reason)."
    case .credentials(let reason): "There are no credentials for the object store: \(reason)."
    case .invalidRequest(let reason): "The request to the object store can't be sent: \(reason)."
    case .unsuitableStore(let reason): "The object store can't be used: \(reason)."
    }
  }
}

extension TransportError {
  /// Whether the server possibly received the request.
  fileprivate var isUndecided: Bool {
    switch self {
    case .timedOut, .interrupted, .unexpectedRange, .responseTooLarge, .cancelled, .file: true
    case .invalidRequest, .connectionFailed, .untrusted: false
    }
  }
}
