package import AccessControl
package import HTTPEngine
package import HTTPTypes
package import Observability
package import SnapshotFormat

/// One call of the API, or one web page, with everything that the server states about it.
///
/// The router, the OpenAPI document, the list of calls at `/`, `Allow`, the cross-origin fields, the names in the audit log
/// and the labels of metrics are derived from the list of endpoints. To add a call, write its endpoint beside its handler
/// and add it to the list of its routes:
///
///     Endpoint(
///       "pinSnapshot", .put, "/v1/snapshots/{id}/pin", .delete, "Keeps a snapshot until it is unpinned.",
///       parameters: [.id], responses: [.noContent("It is pinned.")],
///       problems: [.malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted], handler: pin)
///
/// A `GET` endpoint answers `HEAD` too.
package struct Endpoint: Sendable {
  /// Answers an admitted caller.
  package typealias CallHandler = @Sendable (APIRequest) async throws -> HTTPServerResponse
  /// Answers an admitted visitor.
  package typealias PageHandler = @Sendable (PageCall) async throws -> HTTPServerResponse

  package enum Handler: Sendable {
    /// A call, authenticated by a token or a link.
    case call(CallHandler)
    /// A web page or the action of a form, authenticated by a session. It is no part of the API.
    case page(PageHandler)
  }

  /// The OpenAPI operation id, and the action in the audit log. A page has that of the call that reads or changes as much.
  package let id: String
  package let method: HTTPRequest.Method
  /// The template of the path, as ``Route`` reads it.
  package let template: String
  /// What a caller needs.
  package let permission: Permission
  /// When the audit log records a request.
  package let audited: Audited
  /// The upload protocol that responses announce. Pages of other origins may make such a call.
  let uploads: UploadProtocol?
  /// What OpenAPI says; `nil` for what is no part of the API.
  package let documentation: Documentation?
  package let handler: Handler

  /// A call of the API.
  package init(
    _ id: String, _ method: HTTPRequest.Method, _ template: String, _ permission: Permission,
    _ summary: String, detail: String = "", audited: Audited = .always, uploads: UploadProtocol? = nil,
    parameters: [Parameter] = [], body: [String: JSONValue]? = nil, responses: [Response],
    problems: [ProblemKind] = [], fields: [String] = [], handler: @escaping CallHandler
  ) {
    self.init(
      id, method, template, permission, audited, uploads,
      Documentation(
        summary: summary, detail: detail, parameters: parameters, body: body, responses: responses,
        problems: problems, fields: fields), .call(handler))
  }

  private init(
    _ id: String, _ method: HTTPRequest.Method, _ template: String, _ permission: Permission,
    _ audited: Audited, _ uploads: UploadProtocol?, _ documentation: Documentation?, _ handler: Handler
  ) {
    self.id = id
    self.method = method
    self.template = template
    self.permission = permission
    self.audited = audited
    self.uploads = uploads
    self.documentation = documentation
    self.handler = handler
  }

  /// A web page, or the action of a form in one.
  package static func page(
    _ id: String, _ method: HTTPRequest.Method, _ template: String, _ permission: Permission,
    audited: Audited = .always, handler: @escaping PageHandler
  ) -> Endpoint {
    Endpoint(id, method, template, permission, audited, nil, nil, .page(handler))
  }

  /// What web pages consist of besides their HTML, open to everybody.
  package static func asset(_ id: String, _ template: String, handler: @escaping CallHandler) -> Endpoint {
    Endpoint(id, .get, template, .open, .never, nil, nil, .call(handler))
  }

  /// The method and the template, as logs and metrics name the endpoint.
  package var name: String { "\(method.rawValue) \(template)" }

  /// Whether it is a web page or the action of a form.
  package var isPage: Bool { if case .page = handler { true } else { false } }

  /// Whether requests bring the bytes of a bundle, or some of them.
  package var isUpload: Bool { !isPage && permission == .attach && [.post, .put, .patch].contains(method) }

  /// When the audit log records a request.
  package enum Audited: String, Sendable {
    /// Always: the endpoint reads or changes snapshots.
    case always
    /// When it is refused: the endpoint reveals the state of the server.
    case refusals
    /// Never: the endpoint is open to everybody.
    case never
  }
}

/// How an endpoint takes part in resumable uploads.
package enum UploadProtocol: Sendable {
  /// It attaches snapshots, where the IETF's draft opens uploads.
  case attach
  /// It belongs to tus.
  case tus
  /// It is the resource of an upload by the IETF's draft.
  case draft
}

extension Endpoint {
  /// What the OpenAPI document says of a call. ``APIDescription`` adds what follows from the permission, and what may
  /// happen to any call.
  package struct Documentation: Sendable {
    /// One sentence.
    package let summary: String
    /// Anything else that a client must know, in Markdown.
    let detail: String
    let parameters: [Parameter]
    /// The accepted media types of the body, each with its media type object.
    let body: [String: JSONValue]?
    /// The responses without a problem.
    let responses: [Response]
    /// The kinds of problems that may occur, besides those of every call.
    let problems: [ProblemKind]
    /// The names of fields that any response may have, problems included.
    let fields: [String]
  }

  /// A parameter of the path, the query or the head.
  package struct Parameter: Sendable {
    package enum Place: String, Sendable { case path, query, header }

    let name: String
    let place: Place
    let text: String
    let schema: JSONValue
    /// Whether there is no call without it; a segment of the path is always there.
    var isRequired = false
  }

  /// A response that is no problem.
  package struct Response: Sendable {
    let status: Int
    let text: String
    /// The names of the fields that it may have, from ``APIDescription/fields``.
    var fields: [String] = []
    /// Its media types, each with the schema of its content.
    var content: [String: JSONValue] = [:]
  }
}

// What several endpoints have in common.

extension Endpoint.Parameter {
  static func query(_ name: String, _ text: String, _ schema: JSONValue) -> Self {
    Self(name: name, place: .query, text: text, schema: schema)
  }

  static func header(_ name: String, _ text: String, _ schema: JSONValue = ["type": "string"]) -> Self {
    Self(name: name, place: .header, text: text, schema: schema)
  }

  static let id = Self(
    name: "id", place: .path, text: "The snapshot's UUID.",
    schema: .schema("SnapshotID"))
  static let report = Self(
    name: "report", place: .path, text: "The bug report's id, its slashes percent-encoded.",
    schema: .schema("ReportID"))
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

extension Endpoint.Response {
  static func json(_ status: Int, _ text: String, _ schema: JSONValue, fields: [String] = []) -> Self {
    Self(
      status: status, text: text, fields: fields + ["Cache-Control"], content: ["application/json": schema])
  }

  static func text(_ text: String, fields: [String]) -> Self {
    Self(status: 200, text: text, fields: fields, content: ["text/plain": ["type": "string"]])
  }

  static func noContent(_ text: String) -> Self { Self(status: 204, text: text) }

  static let notModified = Self(
    status: 304, text: "The content still has the entity tag of If-None-Match.",
    fields: ["Cache-Control", "ETag", "Last-Modified"])
}

extension JSONValue {
  /// A reference to a schema of ``APIDescription/schemas``.
  static func schema(_ name: String) -> JSONValue { ["$ref": "#/components/schemas/\(name)"] }
}
