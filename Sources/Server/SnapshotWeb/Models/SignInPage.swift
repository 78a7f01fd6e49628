/// `/sign-in`: where a token is pasted.
package struct SignInPage: Sendable, Hashable {
  /// Where to go on afterwards: a path on this server.
  package var next: String
  /// Why it has to be done, or why the token was not taken, in a sentence.
  package var reason: String?
  /// Whether ``reason`` is about a token that was not taken.
  package var isMistake: Bool

  /// A page.
  package init(next: String = "/", reason: String? = nil, isMistake: Bool = false) {
    self.next = next
    self.reason = reason
    self.isMistake = isMistake
  }
}

/// What follows on signing out.
package struct SignedOutPage: Sendable, Hashable {
  /// A page.
  package init() {}
}
