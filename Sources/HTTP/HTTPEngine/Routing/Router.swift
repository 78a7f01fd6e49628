import HTTPSemantics
import HTTPTypes

/// Passes each request to the route whose template matches its path.
///
/// The path is split at its slashes first, then each segment is decoded exactly once. A segment that can't be decoded,
/// or is `.` or `..`, is rejected with 400. An unknown path gets 404, a method that the path does not allow 405 with
/// `Allow`, and a method that no resource supports 501. Routes for `GET` also receive `HEAD`. The router responds to
/// `OPTIONS` itself.
public struct Router: HTTPHandler {
  /// All routes, in the order given.
  public let routes: [Route]
  private let tree: RouteTree
  // An array, because comparing with the first few elements is faster than hashing, and nearly every request has one of
  // these methods.
  private let methods: [HTTPRequest.Method]

  /// Creates a router. Traps if two routes have the same method and template, which is a programming error.
  public init(_ routes: [Route]) {
    self.routes = routes
    var tree = RouteTree()
    for route in routes { tree.insert(route) }
    self.tree = tree
    methods = Self.knownMethods + Set(routes.map(\.method)).subtracting(Self.knownMethods)
  }

  /// The methods of RFC 9110 §9 and RFC 5789, and `QUERY`. If a path does not allow one of them, the response is 405,
  /// not 501.
  private static let knownMethods: [HTTPRequest.Method] =
    [.get, .put, .post, .head, .patch, .delete, .options, .connect, .trace]
    + [HTTPRequest.Method("QUERY")].compactMap(\.self)

  /// Returns the response of the matching route. Throws an ``HTTPProblem`` if no route matches.
  public func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    let (method, path) = (request.method, request.path)
    guard methods.contains(method) else { throw HTTPProblem.unknownMethod(method) }
    if method == .options, path == "*" { return options(Self.allow(routes)) }
    guard let match = try match(path) else { throw HTTPProblem.noSuchPath() }
    let route =
      match.routes.first { $0.method == method }
      ?? (method == .head ? match.routes.first { $0.method == .get } : nil)
    guard let route else {
      let allow = Self.allow(match.routes)
      guard method == .options else { throw HTTPProblem.methodNotAllowed(method, allowed: allow) }
      return options(allow)
    }
    return try await route.action(
      RoutedRequest(
        request: request, template: route.template, values: match.values, remainder: match.remainder))
  }

  private func match(_ path: String) throws(HTTPProblem) -> RouteTree.Match? {
    tree.match(try Self.decodedSegments(of: path))
  }

  /// Returns the template that `path` matches with any method, or `nil` if there is none or the path is malformed.
  package func template(of path: String) -> String? {
    let match: RouteTree.Match?
    do { match = try self.match(path) } catch { return nil }
    return match?.routes.first?.template
  }

  private func options(_ allow: String) -> HTTPServerResponse {
    HTTPServerResponse(status: .noContent, headerFields: [.allow: allow])
  }

  static func decodedSegments(of path: String) throws(HTTPProblem) -> [String] {
    if let plain = plainSegments(of: path) { return plain }
    guard path.utf8.first == UInt8(ascii: "/") else {
      throw .badRequest("The path does not begin with a slash.")
    }
    var decoded: [String] = []
    for segment in segments(of: path) {
      do {
        decoded.append(try PercentCoding.decode(segment))
      } catch {
        throw .badRequest("The path \(error.words).")
      }
      if decoded.last == "." || decoded.last == ".." {
        throw .badRequest("The path has a segment ‘.’ or ‘..’.")
      }
    }
    return decoded
  }

  /// Returns the segments of a path that needs no decoding and is not rejected, like nearly every path. Otherwise
  /// returns `nil`.
  static func plainSegments(of path: String) -> [String]? {
    let slash = UInt8(ascii: "/")
    var path = path
    return path.withUTF8 { path -> [String]? in
      guard path.count > 1, path[0] == slash else { return nil }
      var segments: [String] = []
      segments.reserveCapacity(6)
      var start = 1
      for index in 1...path.count {
        if index < path.count, path[index] != slash {
          guard CharacterClass.path.contains(path[index]) else { return nil }
          continue
        }
        let segment = UnsafeBufferPointer(rebasing: path[start..<index])
        if (1...2).contains(segment.count), segment.allSatisfy({ $0 == UInt8(ascii: ".") }) { return nil }
        segments.append(String(decoding: segment, as: UTF8.self))
        start = index + 1
      }
      return segments
    }
  }

  /// Returns the methods of `routes` as the value of `Allow`, in alphabetical order.
  private static func allow(_ routes: [Route]) -> String {
    var methods = Set(routes.map(\.method.rawValue))
    if methods.contains("GET") { methods.insert("HEAD") }
    methods.insert("OPTIONS")
    return methods.sorted().joined(separator: ", ")
  }
}
