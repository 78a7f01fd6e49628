/// The origins whose web pages may upload (Fetch §3.2).
package enum AllowedOrigins: Sendable, Hashable, LosslessStringConvertible {
  /// All origins. A page still needs a token if the server requires one. A server that requires none refuses changes
  /// from pages of other sites.
  case all
  /// These origins, in the form that browsers send: `https://example.com`. If empty, only the server's own pages may
  /// upload.
  case some(Set<String>)

  /// Parses `*`, or origins separated by commas. An empty text allows no origins.
  package init?(_ text: String) {
    if text == "*" {
      self = .all
      return
    }
    var origins: Set<String> = []
    for part in text.split(separator: ",") {
      let origin = part.filter { $0 != " " }.lowercased()
      guard let end = origin.firstRange(of: "://")?.upperBound,
        end > origin.index(origin.startIndex, offsetBy: 3),
        end < origin.endIndex, origin[end...].allSatisfy({ $0.isASCII && !"/?#@\\\" ".contains($0) })
      else { return nil }
      origins.insert(origin)
    }
    self = .some(origins)
  }

  /// The text that ``init(_:)`` parses.
  package var description: String {
    switch self {
    case .all: "*"
    case .some(let origins): origins.sorted().joined(separator: ", ")
    }
  }

  /// Returns the value of `Access-Control-Allow-Origin` for a page of `origin`, or `nil` if the origin is not allowed.
  func answer(to origin: String) -> String? {
    switch self {
    case .all: "*"
    case .some(let origins): origins.contains(origin.lowercased()) ? origin : nil
    }
  }
}
