/// The origins whose web pages may do something (Fetch §3.2).
package enum AllowedOrigins: Sendable, Hashable, LosslessStringConvertible {
  /// Every one. A page still needs a token wherever the store needs one, and an open store takes nothing from pages of
  /// other sites.
  case all
  /// These, as browsers write them: `https://example.com`. None but the server's own where it is empty.
  case some(Set<String>)

  /// Reads `*`, or origins separated by commas; an empty text has none.
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

  /// What is read above.
  package var description: String {
    switch self {
    case .all: "*"
    case .some(let origins): origins.sorted().joined(separator: ", ")
    }
  }

  /// The value of `Access-Control-Allow-Origin` for a page of `origin`; `nil` where it may not.
  func answer(to origin: String) -> String? {
    switch self {
    case .all: "*"
    case .some(let origins): origins.contains(origin.lowercased()) ? origin : nil
    }
  }
}
