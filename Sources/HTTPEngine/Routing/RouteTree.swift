import HTTPTypes

/// Routes by the segments of their templates: literal text before a parameter with a suffix, the longest suffix
/// first, before a bare parameter.
struct RouteTree: Sendable {
  private var literals: [String: RouteTree] = [:]
  private var parameters: [(suffix: String, name: String, tree: RouteTree)] = []
  /// The routes that end here.
  private(set) var routes: [Route] = []

  /// A path that fits: the routes for it, and the parameters' values.
  struct Match {
    var routes: [Route]
    var values: [(name: String, value: String)]
  }

  mutating func insert(_ route: Route) {
    precondition(route.template.hasPrefix("/"), "a template begins with a slash: \(route.template)")
    insert(route, segments: segments(of: route.template)[...])
  }

  private mutating func insert(_ route: Route, segments: ArraySlice<Substring>) {
    guard let segment = segments.first else {
      precondition(
        !routes.contains { $0.method == route.method }, "two routes for \(route.method) \(route.template)")
      return routes.append(route)
    }
    let rest = segments.dropFirst()
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

  /// The routes for a path of these decoded segments, or `nil`.
  func match(_ segments: ArraySlice<String>) -> Match? {
    guard let segment = segments.first else {
      return routes.isEmpty ? nil : Match(routes: routes, values: [])
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
    return nil
  }
}

/// The segments of a path that begins with a slash; `/` has none.
func segments(of path: String) -> [Substring] {
  path.utf8.count == 1 ? [] : path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
}
