/// Common names of secrets in apps and protocols.
enum SecretNames {
  /// The form in which names are compared: in lower case, without hyphens, underscores and spaces.
  static func normalized(_ name: String) -> String {
    String(
      decoding: name.utf8.compactMap { byte in
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: " "): nil
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
        default: byte
        }
      }, as: UTF8.self)
  }

  /// Header fields whose whole value is a credential.
  static let authorization: Set<String> = ["authorization", "proxyauthorization", "xapikey", "xauthtoken"]
  static let cookies: Set<String> = ["cookie", "setcookie", "cookies", "setcookie2"]

  private static let credentials: Set<String> = [
    "apikey", "auth", "authcode", "clientsecret", "credential", "credentials", "csrf", "cvc", "cvv", "jwt",
    "otp", "passcode", "passphrase", "passwd", "password", "pin", "privatekey", "pwd", "secret", "secretkey",
    "sessionid", "sessionkey", "sid", "sig", "totp", "xamzsignature", "xgoogsignature", "xsrf",
  ]
  private static let endings = ["token", "password", "passwd", "secret", "apikey", "sessionid", "privatekey"]
  /// Positions in a list, which a replay needs.
  private static let pages = ["pagetoken", "continuationtoken", "synctoken", "cursortoken"]

  /// Whether a value with this normalized name is a credential, such as a token or a password.
  static func isCredential(_ name: String) -> Bool {
    credentials.contains(name)
      || (endings.contains(where: name.hasSuffix) && !pages.contains(where: name.hasSuffix))
  }

  // MARK: - Pairs

  private static let pairNames: Set<String> = [
    "name", "key", "k", "n", "id", "header", "headername", "field", "fieldname", "param", "parameter",
    "property",
    "attribute",
  ]
  private static let pairValues: Set<String> = [
    "value", "v", "val", "values", "stringvalue", "headervalue", "fieldvalue", "content",
  ]

  /// The part of a normalized name in a list of pairs, such as `{"name": "Authorization", "value": "…"}`.
  static func role(_ name: String) -> Judge.Role {
    pairNames.contains(name) ? .name : pairValues.contains(name) ? .value : .other
  }
}
