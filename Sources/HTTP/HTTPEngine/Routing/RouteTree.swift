import HTTPTypes

/// A tree of routes by the segments of their templates. Literal text takes precedence over a parameter with a suffix,
/// longer suffixes over shorter ones, these over a parameter without suffix, and this over one that matches all
/// remaining segments.
///
/// The branches are in one array and refer to each other by index, so that a lookup copies none of them.
struct RouteTree: Sendable {
  /// A node of the tree: the state after a number of segments.
  private struct Branch {
    /// An array, because comparing short texts is faster than hashing one.
    var literals: [(text: String, branch: Int)] = []
    var parameters: [(suffix: String, name: String, branch: Int)] = []
    /// The routes whose templates end here.
    var routes: [Route] = []
    /// The routes that match all remaining segments.
    var remainderRoutes: [Route] = []
  }

  /// The first branch is the root.
  private var branches = [Branch()]

  /// The routes for a path, the values of their parameters, and the segments matched by `{name...}`.
  struct Match {
    var routes: [Route]
    var values: [(name: String, value: String)] = []
    var remainder: [String] = []
  }

  mutating func insert(_ route: Route) {
    precondition(route.template.hasPrefix("/"), "a template begins with a slash: \(route.template)")
    var branch = 0
    var segments = segments(of: route.template)[...]
    while let segment = segments.popFirst() {
      if segment.hasPrefix("{"), segment.hasSuffix("...}") {
        precondition(segments.isEmpty, "nothing can follow \(segment): \(route.template)")
        return Self.append(route, to: &branches[branch].remainderRoutes)
      }
      branch = self.branch(for: segment, at: branch, of: route)
    }
    Self.append(route, to: &branches[branch].routes)
  }

  /// Returns the child of a branch for `segment`. Creates it if necessary.
  private mutating func branch(for segment: Substring, at branch: Int, of route: Route) -> Int {
    guard segment.hasPrefix("{"), let close = segment.firstIndex(of: "}") else {
      precondition(
        !segment.contains { "{}".contains($0) }, "a brace inside of literal text: \(route.template)")
      if let known = branches[branch].literals.first(where: { $0.text == segment }) { return known.branch }
      let new = grow()
      branches[branch].literals.append((text: String(segment), branch: new))
      return new
    }
    let name = String(segment[..<close].dropFirst())
    let suffix = String(segment[close...].dropFirst())
    if let known = branches[branch].parameters.first(where: { $0.suffix == suffix && $0.name == name }) {
      return known.branch
    }
    let new = grow()
    branches[branch].parameters.append((suffix: suffix, name: name, branch: new))
    branches[branch].parameters.sort { $0.suffix.utf8.count > $1.suffix.utf8.count }
    return new
  }

  private mutating func grow() -> Int {
    branches.append(Branch())
    return branches.count - 1
  }

  private static func append(_ route: Route, to routes: inout [Route]) {
    precondition(
      !routes.contains { $0.method == route.method }, "two routes for \(route.method) \(route.template)")
    routes.append(route)
  }

  /// Returns the routes for the decoded segments of a path, or `nil`.
  func match(_ segments: [String]) -> Match? { match(segments, from: 0, at: 0) }

  private func match(_ segments: [String], from index: Int, at branch: Int) -> Match? {
    guard index < segments.count else {
      let routes = branches[branch].routes
      return routes.isEmpty ? nil : Match(routes: routes)
    }
    let segment = segments[index]
    if let next = branches[branch].literals.first(where: { $0.text == segment }),
      let match = match(segments, from: index + 1, at: next.branch)
    {
      return match
    }
    for (suffix, name, next) in branches[branch].parameters {
      let value = segment.utf8.dropLast(suffix.utf8.count)
      guard !value.isEmpty, segment.utf8[value.endIndex...].elementsEqual(suffix.utf8),
        var match = match(segments, from: index + 1, at: next)
      else { continue }
      match.values.append((name: name, value: suffix.isEmpty ? segment : String(Substring(value))))
      return match
    }
    let routes = branches[branch].remainderRoutes
    return routes.isEmpty ? nil : Match(routes: routes, remainder: Array(segments[index...]))
  }
}

/// Returns the segments of a path that starts with a slash. `/` has none.
func segments(of path: String) -> [Substring] {
  guard path.utf8.count > 1 else { return [] }
  return path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    .map { Substring($0) }
}
