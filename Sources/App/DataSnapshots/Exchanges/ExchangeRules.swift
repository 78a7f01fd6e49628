public import Foundation
package import Redaction
import SnapshotFormat

/// How HTTP exchanges are recorded: their identifiers, and how much of them is kept.
///
/// The identifier of an exchange is its method and URL, and for a request with a body the name of the GraphQL operation,
/// if it is one, and a digest of the body:
///
///     GET https://example.com/feed?page=2
///     POST https://example.com/graphql Feed #0f1e2d3c4b5a6978
///
/// Redaction rules for text apply to it. Exchanges with the same identifier are a history, and are replayed in the order in
/// which they ended. The app and the build that replays must have the same rules.
public struct ExchangeRules: Sendable {
  /// The names of query items that are left out of identifiers, in lower case, because they differ at every call.
  public var volatileQueryItems: Set<String> = [
    "_", "cachebuster", "cb", "nonce", "oauth_nonce", "oauth_signature", "oauth_timestamp", "rnd",
    "timestamp",
    "ts", "x-amz-credential", "x-amz-date", "x-amz-expires", "x-amz-security-token", "x-amz-signature",
  ]
  /// How many exchanges with the same identifier are kept, unless the ``SnapshotMode/Policy`` of the identifier specifies
  /// a history.
  public var historyLimit = 100
  /// The maximum size of a response's body in bytes. The app gets a larger one, but the exchange is not recorded.
  public var bodyLimit = 16 << 20
  /// The maximum size of a request's body in bytes. A larger one is sent, but the exchange is not recorded.
  public var requestBodyLimit = 4 << 20
  /// Changes an identifier, for example to leave out the digest of a body that is different at every call. It must return
  /// the same text for the same request at every launch. It gets the identifier and the request's body.
  public var rewrite: @Sendable (_ identifier: String, _ body: Data) -> String = { identifier, _ in identifier
  }

  /// Creates rules with the default values.
  public init() {}

  /// The maximum size of a body that is redacted before its digest is computed, so that a secret that differs at every
  /// call makes no difference.
  static let redactedDigestLimit = 64 << 10

  /// Returns the identifier of a request, redacted.
  package func identifier(method: String, url: URL, body: Data, _ redactor: Redactor) -> String {
    var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) ?? URLComponents()
    let items = (parts.percentEncodedQuery ?? "").split(separator: "&").map(String.init)
    // Dictionaries, from which many queries are made, have another order at every launch. `sorted` keeps the order of
    // items with the same name.
    let query = items.map { (name: $0.prefix { $0 != "=" }, item: $0) }
      .filter { !volatileQueryItems.contains($0.name.lowercased()) }
      .sorted { $0.name < $1.name }.map(\.item)
    let path = parts.percentEncodedPath
    (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
    (parts.host, parts.percentEncodedPath) = (parts.host?.lowercased(), "")
    let identifier = ExchangeIdentifier(
      method: method.uppercased(), host: parts.string ?? "", path: path, query: query,
      operation: GraphQLOperation.name(in: body), body: nil)
    let digest = digest(of: body, as: identifier.description, redactor).map { " #" + $0 } ?? ""
    return redactor.redact(identifier: rewrite(identifier.description + digest, body))
  }

  /// The first 16 digits of the digest of a redacted body; `nil` if it is empty, or can't be redacted: then it is not
  /// recorded, and the identifier among what was dropped tells nothing about it.
  private func digest(of body: Data, as identifier: String, _ redactor: Redactor) -> String? {
    guard !body.isEmpty else { return nil }
    var body = body
    if body.count <= Self.redactedDigestLimit {
      do { body = try redactor.redactUniformly(body, as: identifier) } catch { return nil }
    }
    return String(ContentDigest.of(body).description.prefix(16))
  }
}

/// A GraphQL request in JSON, as in the specification *GraphQL over HTTP*.
private struct GraphQLOperation: Decodable {
  let operationName: String?
  let query: String?

  /// The name of the operation in the body of a request; `nil` if there is none.
  static func name(in body: Data) -> String? {
    guard body.first == UInt8(ascii: "{"), body.count <= 1 << 20 else { return nil }
    let operation: GraphQLOperation
    do { operation = try JSONDecoder().decode(GraphQLOperation.self, from: body) } catch { return nil }
    if let name = operation.operationName { return isName(name) ? name : nil }
    let words = (operation.query ?? "").split { !isNameCharacter($0) }
    guard words.count > 1, ["query", "mutation", "subscription"].contains(words[0]),
      operation.query?.contains("\(words[0]) \(words[1])") == true
    else { return nil }
    return String(words[1])
  }

  private static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 200 && text.allSatisfy(isNameCharacter)
  }

  private static func isNameCharacter(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || character == "_")
  }
}
