import HTTPTypes
import Observability
import SnapshotFormat

/// The OpenAPI 3.1 document of the API, made from its endpoints.
///
/// `HEAD` and `OPTIONS` are described wherever they are answered.
struct APIDescription: Sendable {
  /// The document.
  let document: JSONValue

  /// Problems that any call may end in, besides those that only the engine knows of.
  static let everywhere: [ProblemKind] = [.badRequest, .internalError, .busy, .storageUnavailable]
  /// Problems of calls that are accounted for.
  static let audited: [ProblemKind] = [.auditUnavailable]
  /// What the engine answers by itself, as `about:blank`: the status says it all.
  static let engineStatuses = [400, 408, 413, 414, 417, 431, 500, 501, 503]

  /// Describes those of `endpoints` that have a documentation, for a store that needs tokens, or none where it `isOpen`.
  init(_ endpoints: [Endpoint], isOpen: Bool = false) {
    var paths: [String: [String: JSONValue]] = [:]
    for endpoint in endpoints {
      guard let documentation = endpoint.documentation else { continue }
      let path = Self.path(endpoint.template)
      paths[path, default: [:]][endpoint.method.rawValue.lowercased()] = Self.json(
        endpoint, documentation, isOpen: isOpen)
      if endpoint.method == .get {
        paths[path]?["head"] = Self.json(endpoint, documentation, isOpen: isOpen, isHEAD: true)
      }
      paths[path]?["options"] = Self.options(path, documentation)
    }
    document = [
      "openapi": "3.1.0",
      "info": ["title": "Data Snapshots", "version": "1", "description": .string(Self.introduction)],
      "paths": .object(paths.mapValues(JSONValue.object)),
      "components": [
        "schemas": .object(Self.schemas),
        "headers": .object(
          Self.fields.mapValues { ["description": .string($0), "schema": ["type": "string"]] }),
        "securitySchemes": .object(Self.securitySchemes),
      ],
    ]
  }

  private static let introduction = """
    Keeps snapshots of what an app worked with, attached to bug reports.

    Problems are told as `application/problem+json` (RFC 9457); the `type` never changes, the `detail` is for people. \
    Those of the type `about:blank` are the HTTP engine's own. Every answer names its request in `X-Request-Id`: by \
    what the client sent in this field, if that is made of up to 128 letters, digits and `- _ . : = + / @ ~`, and else \
    by a name of the server's making. `traceparent` (W3C Trace Context) is heeded.

    As long as a store has no tokens every call is open to all who reach the server, and this document says so; from \
    the first token on each call needs one, but for those that are open to all.
    """

  /// A template as OpenAPI writes it.
  private static func path(_ template: String) -> String { template.replacing("...}", with: "}") }

  private static func json(
    _ endpoint: Endpoint, _ documentation: Endpoint.Documentation, isOpen: Bool, isHEAD: Bool = false
  ) -> JSONValue {
    let name = isHEAD ? "head" + endpoint.id.prefix(1).uppercased() + endpoint.id.dropFirst() : endpoint.id
    var json: [String: JSONValue] = [
      "operationId": .string(name), "summary": .string(documentation.summary),
      "responses": .object(responses(endpoint, documentation, isHEAD: isHEAD)),
      "security": security(endpoint.permission, isOpen: isOpen),
    ]
    let detail = [documentation.detail, scopes(endpoint.permission)].filter { !$0.isEmpty }.joined(
      separator: "\n\n")
    if !detail.isEmpty { json["description"] = .string(detail) }
    var parameters = documentation.parameters
    // Only GET has ranges (RFC 9110 §14.2).
    if isHEAD { parameters.removeAll { $0.name == "Range" || $0.name == "If-Range" } }
    if !parameters.isEmpty { json["parameters"] = .array(parameters.map(Self.json)) }
    if let body = documentation.body { json["requestBody"] = ["required": true, "content": .object(body)] }
    return .object(json)
  }

  private static func json(_ parameter: Endpoint.Parameter) -> JSONValue {
    [
      "name": .string(parameter.name), "in": .string(parameter.place.rawValue),
      "required": .boolean(parameter.place == .path || parameter.isRequired),
      "description": .string(parameter.text), "schema": parameter.schema,
    ]
  }

  private static func options(_ path: String, _ documentation: Endpoint.Documentation) -> JSONValue {
    let words = path.split { !$0.isLetter }.map { $0.prefix(1).uppercased() + $0.dropFirst() }
    let response: JSONValue = [
      "description": "The field Allow names what the path answers.", "headers": headers(["Allow"]),
    ]
    return [
      "operationId": .string("optionsOf" + words.joined()),
      "summary": "Tells which methods the path answers.",
      "security": [],
      "parameters": .array(
        documentation.parameters.filter { $0.place == .path }.map { parameter in
          json(
            .init(
              name: parameter.name, place: .path, text: parameter.text,
              schema: ["type": "string", "minLength": 1]))
        }),
      "responses": .object(
        ["204": response].merging(problems([.badRequest], isHEAD: false)) { first, _ in first }),
    ]
  }

  private static func responses(
    _ endpoint: Endpoint, _ documentation: Endpoint.Documentation, isHEAD: Bool
  ) -> [String: JSONValue] {
    var responses: [String: JSONValue] = [:]
    var answers = documentation.responses
    // `If-None-Match: *` can be said of whatever there is.
    if endpoint.method == .get, !answers.contains(where: { $0.status == 304 }) {
      answers.append(.notModified)
    }
    for answer in answers where !(isHEAD && answer.status == 206) {
      var response: [String: JSONValue] = [
        "description": .string(answer.text),
        "headers": headers(answer.fields + documentation.fields + fields(endpoint.permission)),
      ]
      if !answer.content.isEmpty, !isHEAD {
        response["content"] = .object(answer.content.mapValues { ["schema": $0] })
      }
      responses["\(answer.status)"] = .object(response)
    }
    return responses.merging(
      problems(kinds(endpoint, documentation), documentation.fields, isHEAD: isHEAD),
      uniquingKeysWith: together)
  }

  /// What describes two answers of one status.
  private static func together(_ first: JSONValue, _ second: JSONValue) -> JSONValue {
    switch (first, second) {
    case (.object(let first), .object(let second)): .object(first.merging(second, uniquingKeysWith: together))
    case (.string(let first), .string(let second)) where first != second: .string(first + "\n\n" + second)
    default: first
    }
  }

  /// All problems that a call may end in.
  static func kinds(_ endpoint: Endpoint, _ documentation: Endpoint.Documentation) -> [ProblemKind] {
    documentation.problems + everywhere + (endpoint.audited == .always ? audited : [])
      + problems(endpoint.permission, endpoint.method)
  }

  /// Answers for the problems of these kinds and those of the engine, by status.
  private static func problems(
    _ kinds: [ProblemKind], _ fields: [String] = [], isHEAD: Bool
  ) -> [String: JSONValue] {
    var byStatus: [Int: [ProblemKind]] = [:]
    for status in engineStatuses { byStatus[status] = [] }
    for kind in kinds {
      for status in kind.statuses { byStatus[status.code, default: []].append(kind) }
    }
    return Dictionary(
      uniqueKeysWithValues: byStatus.map { status, kinds in
        ("\(status)", response(status, kinds.sorted { $0.rawValue < $1.rawValue }, fields, isHEAD: isHEAD))
      })
  }

  private static func response(
    _ status: Int, _ kinds: [ProblemKind], _ fields: [String], isHEAD: Bool
  ) -> JSONValue {
    var types: [JSONValue] = kinds.map { .string($0.type) }
    var lines = kinds.map { "- `\($0.rawValue)`: \($0.text)" }
    if engineStatuses.contains(status) {
      types.append("about:blank")
      lines.append("- `about:blank`: the HTTP engine's own answer, of which the status says all.")
    }
    var response: [String: JSONValue] = [
      "description": .string(lines.joined(separator: "\n")),
      "headers": headers((Self.fieldsOfProblems[status] ?? []) + fields),
    ]
    if !isHEAD {
      let specific: JSONValue = [
        "type": "object",
        "properties": ["type": ["enum": .array(types)], "status": ["const": .integer(Int64(status))]],
      ]
      response["content"] = [
        "application/problem+json": [
          "schema": ["allOf": [["$ref": "#/components/schemas/Problem"], specific]]
        ]
      ]
    }
    return .object(response)
  }

  private static func headers(_ names: [String]) -> JSONValue {
    .object(
      Dictionary(
        uniqueKeysWithValues: Set(names + ["X-Content-Type-Options", "X-Request-Id"]).map {
          ($0, ["$ref": .string("#/components/headers/\($0)")])
        }))
  }
}
