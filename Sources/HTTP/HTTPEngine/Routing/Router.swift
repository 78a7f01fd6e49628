import HTTPSemantics
import HTTPTypes

/// Hands each request to the route that its path fits.
///
/// The path is parted at its slashes as it came, and then each segment is decoded exactly once; a segment that
/// can't be decoded, or is `.` or `..`, is refused with 400. No path: 404. A path that does not answer the
/// method: 405 with `Allow`. A method that no resource could answer: 501. `HEAD` goes wherever `GET` is answered,
/// and `OPTIONS` is answered here.
public struct Router: HTTPHandler {
  /// Every route, in the order given.
  public let routes: [Route]
  private let tree: RouteTree
  // In a list, as comparing with the first ones is quicker than hashing, and nearly every request is one of those.
  private let methods: [HTTPRequest.Method]

  /// Compiles `routes`. Two routes of one method and template are a mistake in the program, and trap.
  public init(_ routes: [Route]) {
    self.routes = routes
    var tree = RouteTree()
    for route in routes { tree.insert(route) }
    self.tree = tree
    methods = Self.knownMethods + Set(routes.map(\.method)).subtracting(Self.knownMethods)
  }

  /// Those of RFC 9110 §9, RFC 5789, and `QUERY`: each is refused by the path, not by the server.
  private static let knownMethods: [HTTPRequest.Method] =
    [.get, .put, .post, .head, .patch, .delete, .options, .connect, .trace]
    + [HTTPRequest.Method("QUERY")].compactMap(\.self)

  /// Answers with the route that fits, or throws the ``HTTPProblem`` that says why there is none.
  public func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    let (method, path) = (request.method, request.path)
    guard methods.contains(method) else { throw HTTPProblem.unknownMethod(method) }
    if method == .options, path == "*" { return options(Self.allow(routes)) }
    guard let match = try tree.match(path: path) ?? tree.match(Self.decodedSegments(of: path)) else {
      throw HTTPProblem.noSuchPath()
    }
    let route =
      match.routes.first { $0.method == method }
      ?? (method == .head ? match.routes.first { $0.method == .get } : nil)
    guard let route else {
      let allow = Self.allow(match.routes)
      guard method == .options else {
        throw HTTPProblem.methodNotAllowed(method, allowed: allow)
      }
      return options(allow)
    }
    return try await route.action(
      RoutedRequest(
        request: request, template: route.template, values: match.values, remainder: match.remainder))
  }

  /// The template that `path` fits, whatever the method; `nil` where there is none, or the path is malformed.
  package func template(of path: String) -> String? {
    let match: RouteTree.Match?
    do { match = try tree.match(path: path) ?? tree.match(Self.decodedSegments(of: path)) } catch {
      return nil
    }
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
      do throws(PercentCoding.Failure) {
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

  /// The segments of a path that has nothing to decode and nothing to refuse, as nearly every one; else `nil`.
  static func plainSegments(of path: String) -> [String]? {
    let slash = UInt8(ascii: "/")
    var path = path
    return path.withUTF8 { path -> [String]? in
      guard path.count > 1, path[0] == slash else { return nil }
      var segments: [String] = []
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

  /// What `routes` answer, as the value of `Allow`, in alphabetical order.
  private static func allow(_ routes: [Route]) -> String {
    var methods = Set(routes.map(\.method.rawValue))
    if methods.contains("GET") { methods.insert("HEAD") }
    methods.insert("OPTIONS")
    return methods.sorted().joined(separator: ", ")
  }
}
