/// `/sign-in`: where a token is pasted.
public struct SignInPage: Sendable, Hashable {
  /// Where to go on afterwards: a path on this server.
  public var next: String
  /// Why it has to be done, or why the token was not taken, in a sentence.
  public var reason: String?
  /// Whether ``reason`` is about a token that was not taken.
  public var isMistake: Bool

  /// A page.
  public init(next: String = "/", reason: String? = nil, isMistake: Bool = false) {
    self.next = next
    self.reason = reason
    self.isMistake = isMistake
  }
}

/// What follows on signing out.
public struct SignedOutPage: Sendable, Hashable {
  /// A page.
  public init() {}
}
