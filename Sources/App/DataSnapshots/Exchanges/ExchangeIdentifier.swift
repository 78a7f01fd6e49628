import Foundation

/// The identifier of an HTTP exchange, in its parts: `POST https://example.com/graphql?v=2 Feed #0f1e2d3c4b5a6978`.
package struct ExchangeIdentifier: Hashable, CustomStringConvertible, Sendable {
  /// Something in which two requests differ.
  enum Part: String { case method, host, path, query, operation, body }

  /// The maximum number of results of ``nearest(among:)``.
  static let most = 3

  package let method: String
  /// The scheme, host and port, such as `https://example.com`.
  package let host: String
  package let path: String
  /// The items of the query, each `name=value`.
  package let query: [String]
  /// The name of the GraphQL operation.
  package let operation: String?
  /// The first digits of the body's digest.
  package let body: String?

  package init(
    method: String, host: String, path: String, query: [String], operation: String?, body: String?
  ) {
    self.method = method
    self.host = host
    self.path = path
    self.query = query
    self.operation = operation
    self.body = body
  }

  /// Parses an identifier; `nil` if it is not that of an exchange.
  package init?(_ identifier: String) {
    var words = identifier.split(separator: " ", omittingEmptySubsequences: false)[...]
    guard 2...4 ~= words.count, let method = words.popFirst(), let url = words.popFirst(),
      !method.isEmpty, method.allSatisfy({ $0.isUppercase || $0 == "-" }), let scheme = url.range(of: "://")
    else { return nil }
    let rest = url[scheme.upperBound...]
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    let parts = rest[end...].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let body = words.last.flatMap { $0.hasPrefix("#") ? String($0.dropFirst()) : nil }
    if body != nil { words.removeLast() }
    guard words.count <= 1 else { return nil }
    self.init(
      method: String(method), host: String(url[..<end]), path: parts.first.map(String.init) ?? "",
      query: parts.count > 1 ? parts[1].split(separator: "&").map(String.init) : [],
      operation: words.first.map(String.init), body: body)
  }

  /// The identifier without the digest of the body.
  package var withoutBody: ExchangeIdentifier {
    ExchangeIdentifier(
      method: method, host: host, path: path, query: query, operation: operation, body: nil)
  }

  package var description: String {
    let items = query.isEmpty ? "" : "?" + query.joined(separator: "&")
    let operation = operation.map { " " + $0 } ?? ""
    return "\(method) \(host)\(path)\(items)\(operation)\(body.map { " #" + $0 } ?? "")"
  }

  // MARK: - Comparing

  /// The parts that differ from `other`, in the order in which they occur.
  func parts(differingFrom other: ExchangeIdentifier) -> [Part] {
    var parts: [Part] = []
    if method != other.method { parts.append(.method) }
    if host != other.host { parts.append(.host) }
    if path != other.path { parts.append(.path) }
    if query != other.query { parts.append(.query) }
    if operation != other.operation { parts.append(.operation) }
    // Other operations have other bodies.
    if body != other.body, operation == other.operation { parts.append(.body) }
    return parts
  }

  /// The parts that differ in words, such as `the query (page=2 instead of page=1) and the body`.
  package func difference(from recorded: ExchangeIdentifier) -> String {
    parts(differingFrom: recorded).map { part in
      switch part {
      case .method: "the method (\(method) instead of \(recorded.method))"
      case .host: "the host (\(host) instead of \(recorded.host))"
      case .path: "the path (\(path) instead of \(recorded.path))"
      case .query:
        "the query (\(Self.rest(query, recorded.query)) instead of \(Self.rest(recorded.query, query)))"
      case .operation: "the operation (\(operation ?? "none") instead of \(recorded.operation ?? "none"))"
      case .body: "the body"
      }
    }.joined(separator: " and ")
  }

  /// The items of one query that another does not have.
  private static func rest(_ items: [String], _ others: [String]) -> String {
    let rest = items.filter { !others.contains($0) }
    return rest.isEmpty ? "nothing" : rest.joined(separator: "&")
  }

  /// Returns the identifiers in `recorded` with the fewest differences, nearest first. The path or the method, host and
  /// beginning of the path are the same.
  package func nearest(among recorded: [String]) -> [String] {
    let length = max(2, min(8, path.utf8.count / 4))
    return recorded.prefix(NearestIdentifiers.mostCandidates).compactMap {
      name -> (name: String, cost: Int)? in
      guard let other = ExchangeIdentifier(name) else { return nil }
      var cost = 0
      for part in parts(differingFrom: other) {
        switch part {
        case .body: cost += 10
        case .query: cost += 20 + Set(query).symmetricDifference(other.query).count
        case .operation, .method: cost += 100
        case .host: cost += 400
        case .path:
          let distance = NearestIdentifiers.distance(Array(path.utf8), Array(other.path.utf8), upTo: length)
          guard let distance, host == other.host else { return nil }
          cost += 200 + distance
        }
      }
      return (name, cost)
    }
    .sorted { ($0.cost, $0.name) < ($1.cost, $1.name) }.prefix(Self.most).map(\.name)
  }
}
