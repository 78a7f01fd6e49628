import AccessControl
import HTTPTypes
import Observability
package import SnapshotFormat

/// The OpenAPI 3.1 document of the API, generated from its endpoints.
///
/// `HEAD` and `OPTIONS` are described wherever they are supported.
package struct APIDescription: Sendable {
  /// The document.
  package let document: JSONValue

  /// The problems of any call, besides those of the engine.
  static let everywhere: [ProblemKind] = [
    .badRequest, .internalError, .busy, .storageUnavailable, .userNotTrusted, .malformedUser,
  ]
  /// The problems of calls that are recorded in the audit log.
  static let audited: [ProblemKind] = [.auditUnavailable]
  /// The statuses of the engine's own responses, which have the type `about:blank`.
  private static let engineStatuses = [400, 408, 413, 414, 417, 431, 500, 501, 503]

  /// Describes the documented `endpoints`, for a store that is open or one that needs tokens. `server` is the server's
  /// URL or path for clients; empty if they use the one of this document.
  package init(_ endpoints: [Endpoint], isOpen: Bool = false, server: String = "") {
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
    var document: [String: JSONValue] = [
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
    if !server.isEmpty { document["servers"] = [["url": .string(server)]] }
    self.document = .object(document)
  }

  private static let introduction = """
    \(about)

    As long as a store has no tokens, every client can make every call, and this document has no security \
    requirements. Once it has a token, each call needs one, except for public calls.
    """

  /// The part of the introduction that describes all calls.
  static let about = """
    Stores snapshots of the data of an app, attached to bug reports.

    Problems are reported as `application/problem+json` (RFC 9457). The `type` never changes; the `detail` is for \
    people. Problems of the type `about:blank` come from the HTTP engine. Every response has the id of its request in \
    `X-Request-Id`: the value that the client sent in this field, if it consists of up to 128 letters, digits and \
    `- _ . : = + / @ ~`, otherwise one that the server generates. `traceparent` (W3C Trace Context) is supported.
    """

  /// Returns a template in OpenAPI's syntax.
  static func path(_ template: String) -> String { template.replacing("...}", with: "}") }

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
      "description": "The field Allow lists the methods of the path.", "headers": headers(["Allow"]),
    ]
    return [
      "operationId": .string("optionsOf" + words.joined()),
      "summary": "Returns the methods of the path.",
      "security": [],
      "parameters": .array(
        documentation.parameters.filter { $0.place == .path }.map { parameter in
          json(
            .init(
              name: parameter.name, place: .path, text: parameter.text,
              schema: ["type": "string", "minLength": 1]))
        }),
      "responses": .object(
        ["204": response].merging(problems([.badRequest, .userNotTrusted, .malformedUser], isHEAD: false)) {
          first, _ in first
        }),
    ]
  }

  private static func responses(
    _ endpoint: Endpoint, _ documentation: Endpoint.Documentation, isHEAD: Bool
  ) -> [String: JSONValue] {
    var responses: [String: JSONValue] = [:]
    var answers = documentation.responses
    // `If-None-Match: *` is possible for any content.
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

  /// Merges the descriptions of two responses with the same status.
  private static func together(_ first: JSONValue, _ second: JSONValue) -> JSONValue {
    switch (first, second) {
    case (.object(let first), .object(let second)): .object(first.merging(second, uniquingKeysWith: together))
    case (.string(let first), .string(let second)) where first != second: .string(first + "\n\n" + second)
    default: first
    }
  }

  /// Returns all problems of a call.
  static func kinds(_ endpoint: Endpoint, _ documentation: Endpoint.Documentation) -> [ProblemKind] {
    documentation.problems + everywhere + (endpoint.audited == .always ? audited : [])
      + problems(endpoint.permission, endpoint.method)
  }

  /// Returns the responses for these kinds of problems and those of the engine, by status.
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
      lines.append("- `about:blank`: a response of the HTTP engine, which only has a status.")
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

  // MARK: - Access

  private static let securitySchemes: [String: JSONValue] = [
    "token": [
      "type": "http", "scheme": "bearer",
      "description": "A token of the store: `snapshot token create --scope read`.",
    ],
    "link": [
      "type": "apiKey", "in": "query", "name": "signature",
      "description": "A link to one bundle, from `createLink`, instead of a token.",
    ],
  ]

  /// Returns the alternative security requirements of a call. An open store has none.
  private static func security(_ permission: Permission, isOpen: Bool) -> JSONValue {
    switch permission {
    case .open: []
    case _ where isOpen: []
    case .bundle: [["token": []], ["link": []]]
    default: [["token": []]]
    }
  }

  /// Returns a sentence about the scopes that allow the call.
  static func scopes(_ permission: Permission) -> String {
    guard permission != .open else { return "" }
    let scopes = Scope.allCases.filter { $0.allows(permission) }.map { "`\($0.rawValue)`" }
    return "Needs a token of the scope \(scopes.joined(separator: " or "))."
  }

  /// The problems of all calls that need a permission.
  static let access: [ProblemKind] = [
    .accessUnavailable, .foreignName, .notPermitted, .rateLimited, .tokenExpired, .tokenInURL, .tokenNeeded,
    .tokenRefused, .tooManyWrongTokens,
  ]

  /// Returns the problems of calls that need this permission.
  private static func problems(_ permission: Permission, _ method: HTTPRequest.Method) -> [ProblemKind] {
    guard permission != .open else { return [] }
    var kinds = access
    if CrossSiteRule.changesState(method) { kinds.append(.crossSite) }
    if permission == .attach { kinds += [.outsideLimits, .linkExpired, .linkUsedUp, .linkBytesExceeded] }
    if permission == .bundle { kinds += [.linkExpired, .linkRefused] }
    return kinds
  }

  /// Returns the fields that any response to a call with this permission can have.
  private static func fields(_ permission: Permission) -> [String] {
    switch permission {
    case .open: []
    case .bundle: ["RateLimit", "RateLimit-Policy", "Referrer-Policy"]
    default: ["RateLimit", "RateLimit-Policy"]
    }
  }
}

// Literals for the values in the document.
extension JSONValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
  /// Creates a string.
  package init(stringLiteral value: String) { self = .string(value) }
}

extension JSONValue: ExpressibleByIntegerLiteral {
  /// Creates an integer.
  package init(integerLiteral value: Int64) { self = .integer(value) }
}

extension JSONValue: ExpressibleByBooleanLiteral {
  /// Creates a boolean.
  package init(booleanLiteral value: Bool) { self = .boolean(value) }
}

extension JSONValue: ExpressibleByArrayLiteral {
  /// Creates an array.
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
  /// Creates an object.
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements) { $1 })
  }
}
