import HTTPTypes
import SnapshotFormat

/// One call of the API in words: what OpenAPI tells of it.
///
/// What follows from the route's permission, and what may happen to any call, is added by ``APIDescription``; a
/// `HEAD` is described by the `GET` that it goes to. To describe a new call, add an operation to one of the lists that
/// ``all`` is made of:
///
///     Operation(
///       "pinSnapshot", .put, "/v1/snapshots/{id}/pin", "Keeps a snapshot until it is unpinned.",
///       parameters: [.id], answers: [.noContent("It is pinned.")],
///       problems: [.malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted])
struct Operation: Sendable {
  /// The name, in camel case; also the action that the audit log tells of.
  let id: String
  let method: HTTPRequest.Method
  let template: String
  /// One sentence.
  let summary: String
  /// Whatever else is worth knowing, in Markdown.
  var detail = ""
  var parameters: [Parameter] = []
  /// The media types that a body may have, each with its media type object.
  var body: [String: JSONValue]?
  /// What it is answered with where all goes well.
  let answers: [Answer]
  /// The kinds of problems that may come up; those of ``APIDescription/everywhere`` go without saying.
  var problems: [ProblemKind] = []
  /// The names of the fields that may come with any answer, problems included.
  var fields: [String] = []
  /// When the audit log tells of it.
  var audited = Audited.always

  init(
    _ id: String, _ method: HTTPRequest.Method, _ template: String, _ summary: String, detail: String = "",
    parameters: [Parameter] = [], body: [String: JSONValue]? = nil, answers: [Answer],
    problems: [ProblemKind] = [], fields: [String] = [], audited: Audited = .always
  ) {
    self.id = id
    self.method = method
    self.template = template
    self.summary = summary
    self.detail = detail
    self.parameters = parameters
    self.body = body
    self.answers = answers
    self.problems = problems
    self.fields = fields
    self.audited = audited
  }

  /// Every call of the server.
  static let all: [Operation] = snapshots + files + uploads + lists + maintenance + operations
  /// The same by method and template.
  static let byRoute = Dictionary(all.map { (route($0.method, $0.template), $0) }) { first, _ in first }

  /// What names a route.
  static func route(_ method: HTTPRequest.Method, _ template: String) -> String {
    "\(method.rawValue) \(template)"
  }

  /// When the audit log tells of a call.
  enum Audited: Sendable {
    /// Always: it gives away or changes what users saw.
    case always
    /// When it was refused: it gives away how the server fares.
    case refusals
    /// Never: it is open to all.
    case never
  }

  /// A parameter of the path, the query or the head.
  struct Parameter: Sendable {
    enum Place: String, Sendable { case path, query, header }

    let name: String
    let place: Place
    let text: String
    let schema: JSONValue
    /// Whether there is no call without it; a segment of the path is always there.
    var isRequired = false
  }

  /// An answer that is no problem.
  struct Answer: Sendable {
    let status: Int
    let text: String
    /// The names of the fields that may come with it, from ``APIDescription/fields``.
    var fields: [String] = []
    /// Its media types, each with the schema of its content.
    var content: [String: JSONValue] = [:]
  }
}

extension Operation.Parameter {
  static func query(_ name: String, _ text: String, _ schema: JSONValue) -> Self {
    Self(name: name, place: .query, text: text, schema: schema)
  }

  static func header(_ name: String, _ text: String, _ schema: JSONValue = ["type": "string"]) -> Self {
    Self(name: name, place: .header, text: text, schema: schema)
  }

  static let id = Self(
    name: "id", place: .path, text: "The snapshot's UUID.",
    schema: ["$ref": "#/components/schemas/SnapshotID"])
  static let report = Self(
    name: "report", place: .path, text: "The bug report's id, its slashes percent-encoded.",
    schema: ["$ref": "#/components/schemas/ReportID"])
  // What is malformed in these counts as not there (RFC 9110), so that any text is right.
  static let ifMatch = header("If-Match", "Goes on only where the content has one of these entity tags.")
  static let ifNoneMatch = header(
    "If-None-Match", "Goes on only where the content has none of these entity tags.")
  static let ifModifiedSince = header(
    "If-Modified-Since", "Goes on only where the content came later; ignored beside If-None-Match.")
  static let ifUnmodifiedSince = header(
    "If-Unmodified-Since", "Goes on only where the content came no later; ignored beside If-Match.")
  static let range = header("Range", "Ranges of bytes (RFC 9110 §14).")
  static let ifRange = header(
    "If-Range", "The entity tag that the ranges are wanted of; of another the whole is sent.")
}

extension Operation.Answer {
  static func json(_ status: Int, _ text: String, _ schema: JSONValue, fields: [String] = []) -> Self {
    Self(
      status: status, text: text, fields: fields + ["Cache-Control"], content: ["application/json": schema])
  }

  static func noContent(_ text: String) -> Self { Self(status: 204, text: text) }

  static let notModified = Self(
    status: 304, text: "The content still has the entity tag of If-None-Match.",
    fields: ["Cache-Control", "ETag", "Last-Modified"])
}
