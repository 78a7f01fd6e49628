package import HTTPEngine
package import HTTPTypes
package import SnapshotStore

/// The failure of a request to an upload, and its response.
package struct UploadFailure: Error, CustomStringConvertible {
  package let cause: UploadError
  /// The response; `nil` if the body failed and the connection determines the response.
  let problem: HTTPProblem?

  /// - Parameters:
  ///   - problem: the protocol's own response to `cause`, if it has one.
  ///   - fields: header fields to add to the response.
  package init(_ cause: UploadError, as problem: HTTPProblem? = nil, _ fields: HTTPFields = [:]) {
    self.cause = cause
    var problem = problem ?? HTTPProblem.problem(of: cause)
    for field in fields { problem?.headerFields[field.name] = field.value }
    self.problem = problem
  }

  package var description: String { "\(cause)" }
}

/// A complete upload whose bundle was refused. All later requests to it get the same response.
package struct RefusedUpload: Error {
  let problem: HTTPProblem

  /// - Parameter fields: header fields to add to the response.
  package init(_ refusal: UploadRefusal, _ fields: HTTPFields) {
    var problem = HTTPProblem.problem(of: refusal)
    for field in fields { problem.headerFields[field.name] = field.value }
    self.problem = problem
  }
}
