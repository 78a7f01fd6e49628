import SnapshotFormat

extension APIDescription {
  static let securitySchemes: [String: JSONValue] = [
    "token": [
      "type": "http", "scheme": "bearer",
      "description": "A token of the store: `snapshot token create --scope read`.",
    ]
  ]

  static func security(_ permission: Permission) -> JSONValue {
    permission == .open ? [] : [["token": []]]
  }

  /// Which tokens will do, in words.
  static func scopes(_ permission: Permission) -> String {
    guard permission != .open else { return "" }
    let scopes = Scope.allCases.filter { $0.allows(permission) }.map { "`\($0.rawValue)`" }
    return "Needs a token of the scope \(scopes.joined(separator: " or "))."
  }
}

extension Permission {
  /// The kinds of problems that the need for a permission brings along.
  var problems: [String] { [] }
}
