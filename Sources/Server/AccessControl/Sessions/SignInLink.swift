package import HTTPEngine
import Observability
import SystemIO

/// A link that signs one browser in, once, in a server for one user who never sees a token.
///
/// It contains 256 random bits. The first request with them starts a session; everyone who has the link later, for example
/// from the history of the browser or the list of processes, gets nothing. Thread-safe.
package final class SignInLink: Sendable {
  /// The random bits, which are the last segment of the link's path.
  package let secret = RandomSecret.make()
  private let token: Lock<String?>

  /// Creates a link that starts a session of `token`.
  package init(token: String) { self.token = Lock(token) }

  /// Returns the token the first time that `text` is the secret. Throws an ``HTTPProblem`` for another text, and later.
  fileprivate func use(_ text: String) throws(HTTPProblem) -> String {
    // The digests are compared, whose common beginning says nothing about the secret.
    guard SessionKey(of: text) == SessionKey(of: secret) else { throw .linkRefused }
    guard let token = token.exchange(nil) else { throw .signInLinkUsed }
    return token
  }
}

extension AccessPolicy {
  /// Starts a session for the browser that follows the ``SignInLink`` with `secret`, and returns the value of
  /// `Set-Cookie`. Throws an ``HTTPProblem`` if the link is wrong, or was followed before.
  package func signIn(by secret: String, _ request: HTTPServerRequest) async throws -> String {
    guard let signInLink else { throw HTTPProblem.linkRefused }
    return try await signIn(signInLink.use(secret), request)
  }
}
