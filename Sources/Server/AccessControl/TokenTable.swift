import Crypto
import Dispatch
import Foundation
import Logging
import Synchronization
import SystemIO

/// The tokens as they are on the disk now.
///
/// Each look compares the stamp of their folder, one system call that touches no contents; where it has changed they
/// are read anew. So whatever a command has done to a token when it returns counts for every call admitted later.
final class TokenTable: Sendable {
  /// The tokens of one moment.
  struct Tokens: Sendable {
    fileprivate var stored: [String: StoredToken] = [:]
    fileprivate var key: SymmetricKey?
    /// Whether there ever was one, be it revoked or unreadable by now.
    fileprivate(set) var wereMade = false

    /// What is known of the token that `secret` is; `nil` for none.
    func token(_ secret: TokenSecret) -> AccessToken? {
      guard let key else { return nil }
      // A token that doesn't exist takes as long as one that does.
      let code = stored[secret.id]?.code ?? Data(repeating: 0, count: 32)
      return secret.matches(code, with: key) ? stored[secret.id]?.token : nil
    }

    /// What is known of the token of this id, for whoever showed that they have it before; `nil` for none.
    func token(id: String) -> AccessToken? { stored[id]?.token }
  }

  private struct State: Sendable {
    var tokens = Tokens()
    var stamp: Folder.Stamp?
    /// When the last reading began; `nil` before the first.
    var readAt: ContinuousClock.Instant?
    /// Whether a change after the reading would show in the stamp.
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

  /// The tokens at a moment during the call.
  func current() async throws(TokenStoreError) -> Tokens {
    let arrival = ContinuousClock.now
    let stamp = try store.stamp()
    if let tokens = known(stamp, since: arrival) { return tokens }
    return try await queue.perform { () throws(TokenStoreError) in
      // Another call may have read them while this one waited.
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
        self.logger.error("A token can't be read, and is refused", metadata: ["error": "\(error)"])
      }
    }
    let read = tokens
    return state.withLock { state in
      if state.readAt != nil, read.wereMade, !state.tokens.wereMade {
        logger.notice("The first token is there: from now on every call needs one")
      }
      // Who removes the files of all tokens must not open the store by it.
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
  /// Whether a change after `now` would show: the clock of file systems ticks every few milliseconds.
  fileprivate func isSettled(at now: Date) -> Bool {
    abs(now.timeIntervalSince1970 - Double(changedNanoseconds) / 1e9) > 0.1
  }
}
