import Crypto
import Dispatch
import Foundation
import Logging
import Synchronization
import SystemIO

/// The current tokens on disk.
///
/// Each call compares the stamp of the tokens' folder, which takes one system call and reads no contents. If it has
/// changed, the tokens are read again. A change by a command therefore applies to every call that is admitted after the
/// command has returned.
final class TokenTable: Sendable {
  /// The tokens at a point in time.
  struct Tokens: Sendable {
    fileprivate var stored: [String: StoredToken] = [:]
    fileprivate var key: SymmetricKey?
    /// Whether a token was ever created, even if it is revoked or unreadable now.
    fileprivate(set) var wereMade = false

    /// Returns the token whose secret is `secret`, or `nil`.
    func token(_ secret: TokenSecret) -> AccessToken? {
      guard let key else { return nil }
      // The comparison takes as long for a token that does not exist as for one that does.
      let code = stored[secret.id]?.code ?? Data(repeating: 0, count: 32)
      return secret.matches(code, with: key) ? stored[secret.id]?.token : nil
    }

    /// Returns the token with this id, or `nil`. Use it only for a client that has proved possession of the secret
    /// before.
    func token(id: String) -> AccessToken? { stored[id]?.token }
  }

  private struct State: Sendable {
    var tokens = Tokens()
    var stamp: Folder.Stamp?
    /// When the last read started; `nil` before the first.
    var readAt: ContinuousClock.Instant?
    /// Whether a change after the read would change the stamp.
    var isSettled = false
  }

  private let store: TokenStore
  private let logger: Logger
  private let queue = DispatchQueue(label: "snapshot-server.tokens")
  private let state = Mutex(State())

  init(_ store: TokenStore, logger: Logger) {
    self.store = store
    self.logger = logger
  }

  /// Returns the tokens at a point in time during the call.
  func current() async throws(TokenStoreError) -> Tokens {
    let arrival = ContinuousClock.now
    let stamp = try store.stamp()
    if let tokens = known(stamp, since: arrival) { return tokens }
    return try await queue.perform { () throws(TokenStoreError) in
      // Another call can have read the tokens while this one waited.
      if let tokens = self.known(try self.store.stamp(), since: arrival) { return tokens }
      return try self.read()
    }
  }

  private func known(_ stamp: Folder.Stamp?, since arrival: ContinuousClock.Instant) -> Tokens? {
    state.withLock { state in
      guard let readAt = state.readAt, state.stamp == stamp, state.isSettled || readAt >= arrival else {
        return nil
      }
      return state.tokens
    }
  }

  private func read() throws(TokenStoreError) -> Tokens {
    let (start, now) = (ContinuousClock.now, Date())
    let stamp = try store.stamp()
    var tokens = Tokens()
    tokens.wereMade = try store.hasTokens()
    if stamp != nil {
      tokens.key = try store.readKey()
      tokens.stored = try store.readAll { error in
        self.logger.error("A token can't be read and is refused", metadata: ["error": "\(error)"])
      }
    }
    let read = tokens
    return state.withLock { state in
      if state.readAt != nil, read.wereMade, !state.tokens.wereMade {
        logger.notice("The first token was created: from now on every call needs a token")
      }
      // Deleting the files of all tokens must not open the store.
      let wereMade = state.tokens.wereMade || read.wereMade
      state.tokens = read
      state.tokens.wereMade = wereMade
      state.stamp = stamp
      state.readAt = start
      state.isSettled = stamp?.isSettled(at: now) ?? true
      return state.tokens
    }
  }
}

extension Folder.Stamp {
  /// Whether a change after `now` would change the stamp: the clocks of file systems tick only every few milliseconds.
  fileprivate func isSettled(at now: Date) -> Bool {
    abs(now.timeIntervalSince1970 - Double(changedNanoseconds) / 1e9) > 0.1
  }
}
