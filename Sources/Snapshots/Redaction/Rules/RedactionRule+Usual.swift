extension [RedactionRule] {
  /// Rules for common secrets: ``RedactionRule/authorization``, ``RedactionRule/cookies``, ``RedactionRule/tokens``,
  /// ``RedactionRule/emailAddresses`` and ``RedactionRule/cardNumbers``.
  public static var usualSecrets: [RedactionRule] {
    [.authorization, .cookies, .tokens, .emailAddresses, .cardNumbers]
  }
}

extension RedactionRule {
  /// `Authorization` and similar names, as JSON keys and header fields; `Bearer …` and `Basic …` anywhere.
  public static let authorization = RedactionRule(
    "authorization",
    [
      .names(wholeLine: true) { SecretNames.authorization.contains($0) },
      .scan(.schemes),
    ])

  /// `Cookie` and `Set-Cookie`, as JSON keys and header fields.
  public static let cookies = RedactionRule(
    "cookies", [.names(wholeLine: true) { SecretNames.cookies.contains($0) }])

  /// Tokens, passwords, keys and session ids: JSON values with such a key, `name=value` and `name: value` in text and
  /// identifiers, and JSON Web Tokens anywhere. Page tokens such as `pageToken` are kept, because a replay needs them.
  public static let tokens = RedactionRule(
    "tokens",
    [
      .names(wholeLine: false, SecretNames.isCredential),
      .scan(.webTokens),
      .scan(.userInformation),
      .scan(.providerKeys),
      .scan(.privateKeys),
    ])

  /// E-mail addresses such as `anna@example.com`, including those with `%40` instead of `@`.
  public static let emailAddresses = RedactionRule("e-mail", [.scan(.emailAddresses)])

  /// Payment card numbers, with or without single spaces or hyphens between digits. The issuer's prefix, the length and
  /// the check digit (Luhn) must be valid.
  public static let cardNumbers = RedactionRule("card-numbers", [.scan(.cardNumbers)])

  // MARK: - Not among the usual secrets

  /// Phone numbers in international form, such as `+43 660 1234567`: `+` and 8 to 15 digits, which single spaces, hyphens,
  /// dots or parentheses can separate. Not among the usual secrets.
  public static let phoneNumbers = RedactionRule("phone-numbers", [.scan(.phoneNumbers)])

  /// UUIDs such as `550e8400-e29b-41d4-a716-446655440000`. Not among the usual secrets, because they join data, and a
  /// replay needs them.
  public static let uuids = RedactionRule("uuids", [.scan(.uuids)])
}
