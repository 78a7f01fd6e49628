import Crypto
import Foundation
import Logging
import SnapshotFormat
import SnapshotStore
import SystemIO

/// The current tokens on disk.
///
/// A call compares the stamp of the tokens' folder, which takes one system call and reads no contents. If it has
/// changed, the tokens are read again. Calls that arrived before a comparison began share its result. A change by a
/// command therefore applies to every call that arrives after the command has returned.
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

    /// Returns the state of `token` at `now`. A link is valid only while the token that made it is.
    func state(of token: AccessToken, at now: Date) -> AccessToken.State {
      let state = token.state(at: now)
      guard state == .valid, let maker = token.link?.maker else { return state }
      return stored[maker]?.token.state(at: now) == .valid ? .valid : .revoked
    }

    /// The links to attach to `report`, newest first.
    func links(to report: ReportID) -> [AccessToken] {
      stored.values.map(\.token).filter { $0.link?.report == report }
        .sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
    }
  }

  private struct State: Sendable {
    var tokens = Tokens()
    var stamp: Folder.Stamp?
    /// The latest time on ``SystemClock/monotonicNanoseconds`` at which these were the tokens; `nil` before the first
    /// read.
    var validAt: UInt64?
    /// Whether a change after the read would change the stamp.
    var isSettled = false
  }

  private let store: TokenStore
  private let logger: Logger
  private let queue = ServerQueues.shared.readers.next
  private let state = Lock(State())

  init(_ store: TokenStore, logger: Logger) {
    self.store = store
    self.logger = logger
  }

  /// Returns the tokens at a point in time since `arrival`, by default during the call.
  func current(
    since arrival: UInt64 = SystemClock.monotonicNanoseconds
  ) async throws(TokenStoreError) -> Tokens {
    if let tokens = try unchanged(since: arrival) { return tokens }
    return try await queue.perform { () throws(TokenStoreError) in
      // Another call can have read the tokens while this one waited.
      if let tokens = try self.unchanged(since: arrival) { return tokens }
      return try self.read()
    }
  }

  /// Returns the tokens that were read before, or `nil` if they have to be read again.
  private func unchanged(since arrival: UInt64) throws(TokenStoreError) -> Tokens? {
    if let tokens = known(since: arrival) { return tokens }
    try compare()
    return known(since: arrival)
  }

  private func known(since arrival: UInt64) -> Tokens? {
    state.withLock { state in
      guard let validAt = state.validAt, validAt >= arrival else { return nil }
      return state.tokens
    }
  }

  /// Finds out whether the tokens are still those that were read.
  private func compare() throws(TokenStoreError) {
    let start = SystemClock.monotonicNanoseconds
    let stamp = try store.stamp()
    state.withLock { state in
      guard let validAt = state.validAt, state.stamp == stamp, state.isSettled else { return }
      state.validAt = max(validAt, start)
    }
  }

  private func read() throws(TokenStoreError) -> Tokens {
    let (start, now) = (SystemClock.monotonicNanoseconds, Date())
    let stamp = try store.stamp()
    var tokens = Tokens()
    tokens.wereMade = try store.hasTokens()
    if stamp != nil {
      tokens.key = try store.readKey()
      tokens.stored = try store.readAll { error in
        self.logger.error("A token can't be read and is refused", metadata: ["error": "\(error)"])
      }
    }
    // Each token would be refused as a wrong one.
    if tokens.key == nil, !tokens.stored.isEmpty { throw .keyMissing(store.storage) }
    let read = tokens
    return state.withLock { state in
      if state.validAt != nil, read.wereMade, !state.tokens.wereMade {
        logger.notice("The first token was created: from now on every call needs a token")
      }
      // Deleting the files of all tokens must not open the store.
      let wereMade = state.tokens.wereMade || read.wereMade
      state.tokens = read
      state.tokens.wereMade = wereMade
      state.stamp = stamp
      state.validAt = start
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
