import HTTPTypes

/// Routes by the segments of their templates: literal text before a parameter with a suffix, the longest suffix
/// first, before a bare parameter, before one that takes all further segments.
struct RouteTree: Sendable {
  private var literals: [String: RouteTree] = [:]
  private var parameters: [(suffix: String, name: String, tree: RouteTree)] = []
  /// The routes that end here.
  private(set) var routes: [Route] = []
  /// The routes that take all further segments.
  private var remainderRoutes: [Route] = []

  /// A path that fits: the routes for it, the parameters' values, and the segments that `{name...}` stands for.
  struct Match {
    var routes: [Route]
    var values: [(name: String, value: String)] = []
    var remainder: [String] = []
  }

  mutating func insert(_ route: Route) {
    precondition(route.template.hasPrefix("/"), "a template begins with a slash: \(route.template)")
    insert(route, segments: segments(of: route.template)[...])
  }

  private mutating func insert(_ route: Route, segments: ArraySlice<Substring>) {
    guard let segment = segments.first else { return Self.append(route, to: &routes) }
    let rest = segments.dropFirst()
    if segment.hasPrefix("{"), segment.hasSuffix("...}") {
      precondition(rest.isEmpty, "nothing can follow \(segment): \(route.template)")
      return Self.append(route, to: &remainderRoutes)
    }
    guard segment.hasPrefix("{"), let close = segment.firstIndex(of: "}") else {
      precondition(
        !segment.contains { "{}".contains($0) }, "a brace inside of literal text: \(route.template)")
      return literals[String(segment), default: RouteTree()].insert(route, segments: rest)
    }
    let name = String(segment[..<close].dropFirst())
    let suffix = String(segment[close...].dropFirst())
    if let known = parameters.firstIndex(where: { $0.suffix == suffix && $0.name == name }) {
      return parameters[known].tree.insert(route, segments: rest)
    }
    var tree = RouteTree()
    tree.insert(route, segments: rest)
    parameters.append((suffix: suffix, name: name, tree: tree))
    parameters.sort { $0.suffix.utf8.count > $1.suffix.utf8.count }
  }

  private static func append(_ route: Route, to routes: inout [Route]) {
    precondition(
      !routes.contains { $0.method == route.method }, "two routes for \(route.method) \(route.template)")
    routes.append(route)
  }

  /// The routes for a path of these decoded segments, or `nil`.
  func match(_ segments: ArraySlice<String>) -> Match? {
    guard let segment = segments.first else {
      return routes.isEmpty ? nil : Match(routes: routes)
    }
    let rest = segments.dropFirst()
    if let match = literals[segment]?.match(rest) { return match }
    for (suffix, name, tree) in parameters {
      let value = segment.utf8.dropLast(suffix.utf8.count)
      guard !value.isEmpty, segment.utf8[value.endIndex...].elementsEqual(suffix.utf8),
        var match = tree.match(rest)
      else { continue }
      match.values.append((name: name, value: String(Substring(value))))
      return match
    }
    return remainderRoutes.isEmpty ? nil : Match(routes: remainderRoutes, remainder: Array(segments))
  }
}

/// The segments of a path that begins with a slash; `/` has none.
func segments(of path: String) -> [Substring] {
  guard path.utf8.count > 1 else { return [] }
  return path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    .map { Substring($0) }
}
