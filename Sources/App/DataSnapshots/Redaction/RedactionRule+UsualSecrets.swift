extension [RedactionRule] {
  /// What no bug report should hold: ``RedactionRule/authorization``, ``RedactionRule/cookies``,
  /// ``RedactionRule/tokens``, ``RedactionRule/emailAddresses`` and ``RedactionRule/cardNumbers``.
  public static var usualSecrets: [RedactionRule] {
    [.authorization, .cookies, .tokens, .emailAddresses, .cardNumbers]
  }
}

extension RedactionRule {
  /// `Authorization` and its kin, as keys of JSON and as fields of a head; `Bearer …` and `Basic …` anywhere.
  public static let authorization = RedactionRule(
    "authorization",
    [
      .keys { SecretNames.authorization.contains(SecretNames.normalized($0)) },
      .text(.scan { AssignmentScanner(wholeLine: true) { SecretNames.authorization.contains($0) }.scan($0) }),
      .text(.scan(SecretScanner.schemes)),
    ])

  /// `Cookie` and `Set-Cookie`, as keys of JSON and as fields of a head.
  public static let cookies = RedactionRule(
    "cookies",
    [
      .keys { SecretNames.cookies.contains(SecretNames.normalized($0)) },
      .text(.scan { AssignmentScanner(wholeLine: true) { SecretNames.cookies.contains($0) }.scan($0) }),
    ])

  /// Tokens, passwords, keys and sessions: values of JSON under such a name, `name=value` and `name: value` in text
  /// and identifiers (not `pageToken` and the like, which a replay needs); JSON Web Tokens anywhere.
  public static let tokens = RedactionRule(
    "tokens",
    [
      .keys(SecretNames.isCredential),
      .text(.scan { AssignmentScanner(wholeLine: false, SecretNames.isCredential).scan($0) }),
      .text(.scan(SecretScanner.webTokens)),
    ])

  /// Addresses such as `anna@example.com`, with `%40` for `@` too.
  public static let emailAddresses = RedactionRule("e-mail", [.text(.scan(SecretScanner.emailAddresses))])

  /// Numbers of payment cards, with single spaces or hyphens or without: those that begin as issuers' numbers do, have
  /// their lengths, and whose last digit is right (Luhn).
  public static let cardNumbers = RedactionRule("card-numbers", [.text(.scan(SecretScanner.cardNumbers))])
}
