import HTTPTypes
package import Observability
package import SnapshotFormat

/// The description of the API for people, with the same contents as the OpenAPI document.
package struct APIReference: Sendable {
  /// A documented call.
  package struct Call: Sendable {
    /// The operation id.
    package let id: String
    /// The method and the path in OpenAPI's syntax.
    package let name: String
    package let documentation: Endpoint.Documentation
    /// A sentence about the scopes that allow the call.
    package let access: String
    /// The kinds of problems that can occur, besides those in ``APIReference/problems``.
    package let problems: [ProblemKind]
  }

  /// What applies to all calls, in Markdown.
  package let introduction: String
  /// The calls in the order of the endpoints.
  package let calls: [Call]
  /// The problems of many calls, with the calls that can have them.
  package let problems: [(calls: String, kinds: [ProblemKind])]
  /// The schemas of the JSON, by name.
  package let schemas: [String: JSONValue]

  private static let access = """
    As long as a store has no tokens, every client can make every call. Once it has a token, each call needs one, \
    except for public calls. Every `GET` call also answers `HEAD`, and every path answers `OPTIONS`.
    """

  /// Describes the documented `endpoints`.
  package init(_ endpoints: [Endpoint]) {
    let shared = APIDescription.everywhere + APIDescription.audited + APIDescription.access
    introduction = APIDescription.about + "\n\n" + Self.access
    calls = endpoints.compactMap { endpoint in
      guard let documentation = endpoint.documentation else { return nil }
      let kinds = Set(APIDescription.kinds(endpoint, documentation)).subtracting(shared)
      let scopes = APIDescription.scopes(endpoint.permission)
      return Call(
        id: endpoint.id, name: "\(endpoint.method.rawValue) \(APIDescription.path(endpoint.template))",
        documentation: documentation, access: scopes.isEmpty ? "Needs no token." : scopes,
        problems: kinds.sorted { ($0.statuses[0].code, $0.rawValue) < ($1.statuses[0].code, $1.rawValue) })
    }
    problems = [
      ("Every call", APIDescription.everywhere),
      ("Calls that the audit log records", APIDescription.audited),
      ("Calls that need a token", APIDescription.access),
    ]
    schemas = APIDescription.schemas
  }
}
