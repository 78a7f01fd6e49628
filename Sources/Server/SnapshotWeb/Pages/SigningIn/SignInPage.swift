/// The page `/sign-in`, with a form for a token.
struct SignInPage: Sendable, Hashable {
  /// The destination after signing in: a path on this server.
  var next: String = "/"
  /// A sentence about why signing in is necessary, or why the token was rejected.
  var reason: String?
  /// Whether ``reason`` is about a rejected token.
  var isMistake: Bool = false
}

extension SignInPage: Page {
  var template: PageTemplates.Name { .signIn }
  var title: String { "Sign in" }

  func fields(in _: PageFrame) -> Fields {
    [
      "action": PagePath.signIn().description,
      "tokenField": PageField.token.rawValue,
      "nextField": PageField.next.rawValue,
      "next": PageText.cut(next, to: 8000).text,
      "reason": reason.map { PageText.cut($0, to: 1000).text },
      "isMistake": isMistake,
    ]
  }
}

/// The page after signing out.
struct SignedOutPage: Sendable, Hashable {}

extension SignedOutPage: Page {
  var template: PageTemplates.Name { .signedOut }
  var title: String { "Signed out" }

  func fields(in _: PageFrame) -> Fields { ["signIn": PagePath.signIn().description] }
}
