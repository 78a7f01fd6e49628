import HTTPTypes

/// Routes by the segments of their templates: literal text before a parameter with a suffix, the longest suffix
/// first, before a bare parameter, before one that takes all further segments.
///
/// The branches lie in one array and name each other by their places there, so that looking for a path copies none of
/// them.
struct RouteTree: Sendable {
  /// Where some templates have come to after as many segments.
  private struct Branch {
    var literals: [String: Int] = [:]
    var parameters: [(suffix: String, name: String, branch: Int)] = []
    /// The routes that end here.
    var routes: [Route] = []
    /// The routes that take all further segments.
    var remainderRoutes: [Route] = []
  }

  /// The first is the root.
  private var branches = [Branch()]
  /// The branches of the templates that are literal text, by the path as nearly everybody sends it: to find these,
  /// nothing is parted and decoded.
  private var literalPaths: [String: Int] = [:]

  /// A path that fits: the routes for it, the parameters' values, and the segments that `{name...}` stands for.
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
    if Router.plainSegments(of: route.template) != nil { literalPaths[route.template] = branch }
  }

  /// The branch that `segment` leads to from another; made where there is none.
  private mutating func branch(for segment: Substring, at branch: Int, of route: Route) -> Int {
    guard segment.hasPrefix("{"), let close = segment.firstIndex(of: "}") else {
      precondition(
        !segment.contains { "{}".contains($0) }, "a brace inside of literal text: \(route.template)")
      if let known = branches[branch].literals[String(segment)] { return known }
      let new = grow()
      branches[branch].literals[String(segment)] = new
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

  /// The routes of the template that is just this `path`, not decoded; literal text comes before all parameters.
  func match(path: String) -> Match? { literalPaths[path].map { Match(routes: branches[$0].routes) } }

  /// The routes for a path of these decoded segments, or `nil`.
  func match(_ segments: [String]) -> Match? { match(segments, from: 0, at: 0) }

  private func match(_ segments: [String], from index: Int, at branch: Int) -> Match? {
    guard index < segments.count else {
      let routes = branches[branch].routes
      return routes.isEmpty ? nil : Match(routes: routes)
    }
    let segment = segments[index]
    if let next = branches[branch].literals[segment],
      let match = match(segments, from: index + 1, at: next)
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

/// The segments of a path that begins with a slash; `/` has none.
func segments(of path: String) -> [Substring] {
  guard path.utf8.count > 1 else { return [] }
  return path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    .map { Substring($0) }
}
