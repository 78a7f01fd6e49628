import AccessControl
import HTTPTypes
import Observability
import SnapshotFormat

extension APIDescription {
  static let securitySchemes: [String: JSONValue] = [
    "token": [
      "type": "http", "scheme": "bearer",
      "description": "A token of the store: `snapshot token create --scope read`.",
    ],
    "link": [
      "type": "apiKey", "in": "query", "name": "signature",
      "description": "A link to one bundle, as `createLink` gives it, in place of a token.",
    ],
  ]

  /// What a call is to be sent with: any one of these. Nothing is needed where the store `isOpen`.
  static func security(_ permission: Permission, isOpen: Bool) -> JSONValue {
    switch permission {
    case .open: []
    case _ where isOpen: []
    case .bundle: [["token": []], ["link": []]]
    default: [["token": []]]
    }
  }

  /// Which tokens will do, in words.
  static func scopes(_ permission: Permission) -> String {
    guard permission != .open else { return "" }
    let scopes = Scope.allCases.filter { $0.allows(permission) }.map { "`\($0.rawValue)`" }
    return "Needs a token of the scope \(scopes.joined(separator: " or "))."
  }

  /// The kinds of problems that come with the need for a permission.
  static func problems(_ permission: Permission, _ method: HTTPRequest.Method) -> [ProblemKind] {
    guard permission != .open else { return [] }
    var kinds: [ProblemKind] = [
      .accessUnavailable, .foreignName, .notPermitted, .rateLimited, .tokenExpired, .tokenInURL,
      .tokenNeeded, .tokenRefused, .tooManyWrongTokens,
    ]
    if CrossSiteRule.changesState(method) { kinds.append(.crossSite) }
    if permission == .attach { kinds.append(.outsideLimits) }
    if permission == .bundle { kinds += [.linkExpired, .linkRefused] }
    return kinds
  }

  /// The fields that may come with any answer to a caller with a permission.
  static func fields(_ permission: Permission) -> [String] {
    switch permission {
    case .open: []
    case .bundle: ["RateLimit", "RateLimit-Policy", "Referrer-Policy"]
    default: ["RateLimit", "RateLimit-Policy"]
    }
  }
}
