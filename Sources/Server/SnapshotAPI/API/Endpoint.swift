package import AccessControl
package import HTTPEngine
package import HTTPTypes
package import Observability
package import SnapshotFormat

/// A call of the API or a web page, with its documentation and handler.
///
/// The router, the OpenAPI document, the list of calls at `/`, `Allow`, the cross-origin fields, the names in the audit
/// log and the labels of metrics are derived from the list of endpoints. To add a call, write its endpoint beside its
/// handler, add it to the list of its routes, and its name to ``/Observability/AuditAction``:
///
///     Endpoint(
///       .pinSnapshot, .put, "/v1/snapshots/{id}/pin", .delete, "Keeps a snapshot until it is unpinned.",
///       parameters: [.id], responses: [.noContent("It is pinned.")],
///       problems: [.malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted], handler: pin)
///
/// A `GET` endpoint also answers `HEAD`.
package struct Endpoint: Sendable {
  /// Handles the call of an admitted caller.
  package typealias CallHandler = @Sendable (APIRequest) async throws -> HTTPServerResponse
  /// Handles the request of an admitted visitor.
  package typealias PageHandler = @Sendable (PageCall) async throws -> HTTPServerResponse

  package enum Handler: Sendable {
    /// A call, authenticated by a token or a link.
    case call(CallHandler)
    /// A web page or the action of a form, authenticated by a session. It is not part of the API.
    case page(PageHandler)
  }

  /// The OpenAPI operation id: the name of the ``action``, if there is one.
  package let id: String
  /// What the audit log records; `nil` if it never does.
  package let action: AuditAction?
  package let method: HTTPRequest.Method
  /// The path template, in the syntax of ``Route``.
  package let template: String
  /// The permission that a caller needs.
  package let permission: Permission
  /// When the audit log records a request.
  package let audited: Audited
  /// The upload protocol that responses announce. Pages of other origins may call such endpoints.
  package let uploads: UploadProtocol?
  /// The documentation for OpenAPI; `nil` for endpoints that are not part of the API.
  package let documentation: Documentation?
  package let handler: Handler

  /// Creates a call of the API.
  package init(
    _ action: AuditAction, _ method: HTTPRequest.Method, _ template: String, _ permission: Permission,
    _ summary: String, detail: String = "", audited: Audited = .always, uploads: UploadProtocol? = nil,
    parameters: [Parameter] = [], body: [String: JSONValue]? = nil, responses: [Response],
    problems: [ProblemKind] = [], fields: [String] = [],
    handler: @escaping CallHandler
  ) {
    self.init(
      action.rawValue, action, method, template, permission, audited, uploads,
      Documentation(
        summary: summary, detail: detail, parameters: parameters, body: body, responses: responses,
        problems: problems, fields: fields), .call(handler))
  }

  /// Creates a public call of the API that is not audited.
  package init(
    unaudited id: String, _ template: String, _ summary: String, detail: String = "",
    parameters: [Parameter] = [], responses: [Response], problems: [ProblemKind] = [], fields: [String] = [],
    handler: @escaping CallHandler
  ) {
    self.init(
      id, nil, .get, template, .open, .never, nil,
      Documentation(
        summary: summary, detail: detail, parameters: parameters, body: nil, responses: responses,
        problems: problems, fields: fields), .call(handler))
  }

  private init(
    _ id: String, _ action: AuditAction?, _ method: HTTPRequest.Method, _ template: String,
    _ permission: Permission, _ audited: Audited, _ uploads: UploadProtocol?, _ documentation: Documentation?,
    _ handler: Handler
  ) {
    self.id = id
    self.action = action
    self.method = method
    self.template = template
    self.permission = permission
    self.audited = audited
    self.uploads = uploads
    self.documentation = documentation
    self.handler = handler
  }

  /// Creates a web page, or the action of a form.
  package static func page(
    _ action: AuditAction, _ method: HTTPRequest.Method, _ template: String, _ permission: Permission,
    handler: @escaping PageHandler
  ) -> Endpoint {
    Endpoint(action.rawValue, action, method, template, permission, .always, nil, nil, .page(handler))
  }

  /// Creates a public web page that is not audited.
  package static func page(
    unaudited id: String, _ template: String, handler: @escaping PageHandler
  ) -> Endpoint {
    Endpoint(id, nil, .get, template, .open, .never, nil, nil, .page(handler))
  }

  /// Creates an endpoint for a public resource of web pages, such as a style sheet.
  package static func asset(_ id: String, _ template: String, handler: @escaping CallHandler) -> Endpoint {
    Endpoint(id, nil, .get, template, .open, .never, nil, nil, .call(handler))
  }

  /// The method and template, which identify the endpoint in logs and metrics.
  package var name: String { "\(method.rawValue) \(template)" }

  /// Whether this is a web page or the action of a form.
  package var isPage: Bool { if case .page = handler { true } else { false } }

  /// Whether requests contain a bundle, or a part of one.
  package var isUpload: Bool { permission == .attach && [.post, .put, .patch].contains(method) }

  /// When the audit log records a request.
  package enum Audited: String, Sendable {
    /// Always: the endpoint reads or changes snapshots.
    case always
    /// Only refused requests: the endpoint discloses the state of the server.
    case refusals
    /// Never: the endpoint is public.
    case never
  }
}

/// The role of an endpoint in resumable uploads.
package enum UploadProtocol: Sendable {
  /// It attaches snapshots. Uploads of the IETF draft are created here.
  case attach
  /// It belongs to tus.
  case tus
  /// It is the resource of an upload of the IETF draft.
  case draft
}

extension Endpoint {
  /// The OpenAPI documentation of a call. ``APIDescription`` adds everything that follows from the permission, and the
  /// responses that any call can have.
  package struct Documentation: Sendable {
    /// One sentence.
    package let summary: String
    /// Further information for clients, in Markdown.
    package let detail: String
    package let parameters: [Parameter]
    /// The accepted media types of the body, each with its media type object.
    package let body: [String: JSONValue]?
    /// The responses that are not problems.
    package let responses: [Response]
    /// The kinds of problems that can occur, besides those of every call.
    package let problems: [ProblemKind]
    /// The names of header fields that any response can have, including problems.
    package let fields: [String]
  }

  /// A parameter in the path, the query or the head.
  package struct Parameter: Sendable {
    package enum Place: String, Sendable { case path, query, header }

    package let name: String
    package let place: Place
    package let text: String
    package let schema: JSONValue
    /// Whether the parameter is required. Path parameters always are.
    package let isRequired: Bool

    package init(
      name: String, place: Place, text: String, schema: JSONValue, isRequired: Bool = false
    ) {
      self.name = name
      self.place = place
      self.text = text
      self.schema = schema
      self.isRequired = isRequired
    }
  }

  /// A response that is not a problem.
  package struct Response: Sendable {
    package let status: Int
    package let text: String
    /// The names of header fields that it can have, from ``APIDescription/fields``.
    package let fields: [String]
    /// The media types, each with the schema of its content.
    package let content: [String: JSONValue]

    package init(
      status: Int, text: String, fields: [String] = [], content: [String: JSONValue] = [:]
    ) {
      self.status = status
      self.text = text
      self.fields = fields
      self.content = content
    }
  }
}

// Definitions that several endpoints share.

extension Endpoint.Parameter {
  package static func query(_ name: String, _ text: String, _ schema: JSONValue) -> Self {
    Self(name: name, place: .query, text: text, schema: schema)
  }

  package static func header(_ name: String, _ text: String, _ schema: JSONValue = ["type": "string"]) -> Self
  {
    Self(name: name, place: .header, text: text, schema: schema)
  }

  package static let id = Self(
    name: "id", place: .path, text: "The snapshot's UUID.",
    schema: .schema("SnapshotID"))
  static let report = Self(
    name: "report", place: .path, text: "The bug report's id, with percent-encoded slashes.",
    schema: .schema("ReportID"))
  // Malformed values of these fields are ignored (RFC 9110), so their schemas accept any text.
  static let ifMatch = header("If-Match", "Succeeds only if the content has one of these entity tags.")
  package static let ifNoneMatch = header(
    "If-None-Match", "Succeeds only if the content has none of these entity tags.")
  static let ifModifiedSince = header(
    "If-Modified-Since", "Succeeds only if the content is newer. Ignored if there is an If-None-Match.")
  static let ifUnmodifiedSince = header(
    "If-Unmodified-Since", "Succeeds only if the content is not newer. Ignored if there is an If-Match.")
  static let range = header("Range", "Ranges of bytes (RFC 9110 §14).")
  static let ifRange = header(
    "If-Range", "Ranges are sent only if the content has this entity tag, else the whole content.")
}

extension Endpoint.Response {
  package static func json(_ status: Int, _ text: String, _ schema: JSONValue, fields: [String] = []) -> Self
  {
    Self(
      status: status, text: text, fields: fields + ["Cache-Control"], content: ["application/json": schema])
  }

  static func text(_ text: String, fields: [String]) -> Self {
    Self(status: 200, text: text, fields: fields, content: ["text/plain": ["type": "string"]])
  }

  package static func noContent(_ text: String) -> Self { Self(status: 204, text: text) }

  static let notModified = Self(
    status: 304, text: "The content still has the entity tag of If-None-Match.",
    fields: ["Cache-Control", "ETag", "Last-Modified"])
}

extension JSONValue {
  /// Returns a reference to a schema of ``APIDescription/schemas``.
  package static func schema(_ name: String) -> JSONValue { ["$ref": "#/components/schemas/\(name)"] }
}
