import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotStore

/// Why an upload that may be resumed does not do what a request asked, and by which protocol it did.
struct UploadFailure: Error, CustomStringConvertible {
  /// Protocols disagree about the status of some failures.
  enum Language: Sendable { case tus, draft }

  let cause: UploadError
  let language: Language
  /// What goes along with the answer.
  var fields: HTTPFields

  init(_ cause: UploadError, in language: Language = .draft, _ fields: HTTPFields = [:]) {
    self.cause = cause
    self.language = language
    self.fields = fields
  }

  var description: String { "\(cause)" }

  /// What the client is told; `nil` where the connection knows best, for the body broke off.
  var problem: HTTPProblem? {
    var problem = HTTPProblem.problem(of: cause, in: language)
    for field in fields { problem?.headerFields[field.name] = field.value }
    return problem
  }
}

/// An upload that has all of its bytes was refused, and is whenever somebody asks.
struct RefusedUpload: Error {
  let refusal: UploadRefusal
  var fields: HTTPFields

  var problem: HTTPProblem {
    var problem = HTTPProblem.problem(of: refusal)
    for field in fields { problem.headerFields[field.name] = field.value }
    return problem
  }
}
