import Crypto
package import Foundation
import SnapshotFormat
import SystemIO

/// The tokens of a storage folder, each in a file of its own below `tokens/`.
///
/// Commands make and revoke tokens here beside a running server, which sees every change before it admits the next
/// call. What returned would survive a power cut. All of it blocks. Safe to use from any thread and from several
/// processes at once.
package struct TokenStore: Sendable {
  /// How much a storage and a token may have.
  package struct Limits: Sendable, Hashable {
    /// The most tokens in a storage, revoked ones too.
    package var tokens = 10_000
    /// The most bytes of a token's name.
    package var nameBytes = 200
    /// The most beginnings of reports, and the most applications, that one is limited to.
    package var entries = 100
    /// The most bytes of each.
    package var entryBytes = 256
    /// The most bytes of a token's file.
    package var fileBytes = 128 << 10

    /// The limits above.
    package init() {}
  }

  /// What a new token is to be.
  package struct Request: Sendable, Hashable {
    /// What people call it; without control characters.
    package var name: String?
    /// What it may be used for, at least one.
    package var scopes: Set<Scope>
    /// What it is limited to.
    package var limits: CallerLimits
    /// How many requests it may make.
    package var rate: RateLimit?
    /// How many bytes may be uploaded with it.
    package var quota: UploadQuota?
    /// From when on it is refused.
    package var expiresAt: Date?

    /// Describes a token.
    package init(
      name: String? = nil, scopes: Set<Scope>, limits: CallerLimits = CallerLimits(), rate: RateLimit? = nil,
      quota: UploadQuota? = nil, expiresAt: Date? = nil
    ) {
      self.name = name
      self.scopes = scopes
      self.limits = limits
      self.rate = rate
      self.quota = quota
      self.expiresAt = expiresAt
    }
  }

  private let storage: String
  private let limits: Limits
  package var folder: String { storage + "/tokens" }
  var key: KeyFile { .tokens(in: storage) }

  /// The tokens of the storage folder at `storage`; nothing is touched yet.
  package init(storage: String, limits: Limits = Limits()) {
    self.storage = storage
    self.limits = limits
  }

  /// Makes a token.
  /// - Returns: what is known of it, and the token itself, which nobody can ever be told again.
  package func create(
    _ request: Request, now: Date = Date()
  ) throws(TokenStoreError) -> (token: AccessToken, secret: String) {
    try limits.check(request, now)
    let secret = TokenSecret()
    let token = AccessToken(
      id: secret.id, name: request.name, scopes: request.scopes, limits: request.limits, rate: request.rate,
      quota: request.quota, createdAt: SnapshotJSON.milliseconds(of: now),
      expiresAt: request.expiresAt.map(SnapshotJSON.milliseconds))
    do throws(SystemError) {
      try Folder.createDurably(folder)
    } catch {
      throw .system(error)
    }
    guard try ids().count < limits.tokens else { throw .tooMany(limits.tokens) }
    try write(StoredToken(token, code: secret.code(with: try makeKey())))
    return (token, secret.text)
  }

  /// Every token that can be read, the newest first.
  package func list() throws(TokenStoreError) -> [AccessToken] {
    try readAll { _ in }.values.map(\.token).sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
  }

  /// Whether there ever was a token, be it revoked, unreadable or lost by now: the key that tokens are known by is made
  /// for the first one.
  package func hasTokens() throws(TokenStoreError) -> Bool {
    if try !ids().isEmpty { return true }
    return try readKey() != nil
  }

  /// Throws ``TokenStoreError/tokensMissing(_:)`` where tokens were made and none of their files is there, as after a
  /// restore of a part of the storage.
  func requireComplete() throws(TokenStoreError) {
    if try ids().isEmpty, try readKey() != nil { throw .tokensMissing(storage) }
  }

  /// Makes the token `id` worthless, for ever; once more does no harm. What is known of it stays, so that logs can
  /// still be read.
  @discardableResult
  package func revoke(_ id: String, now: Date = Date()) throws(TokenStoreError) -> AccessToken {
    guard TokenSecret.isID(id) else { throw .noSuchToken }
    var stored: StoredToken
    do throws(TokenStoreError) {
      stored = try read(id)
    } catch .system(let error) where error.isNotFound {
      throw .noSuchToken
    }
    if stored.token.revokedAt == nil {
      stored.token.revokedAt = SnapshotJSON.milliseconds(of: now)
      try write(stored)
    }
    return stored.token
  }

  // MARK: Files

  /// Tells one state of the tokens from another; `nil` while there never was one.
  func stamp() throws(TokenStoreError) -> Folder.Stamp? {
    do { return try Folder.stamp(folder) } catch { throw .system(error) }
  }

  /// What codes are made with, where there is such a key yet.
  func readKey() throws(TokenStoreError) -> SymmetricKey? {
    do { return try key.read() } catch { throw .system(error) }
  }

  /// The names of all tokens, those that can't be read too.
  package func ids() throws(TokenStoreError) -> [String] {
    do throws(SystemError) {
      return try Folder.entries(folder).compactMap { name in
        let id = String(name.dropLast(Self.suffix.count))
        return name.hasSuffix(Self.suffix) && TokenSecret.isID(id) ? id : nil
      }
    } catch {
      if error.isNotFound { return [] }
      throw .system(error)
    }
  }

  /// Every token; `report` is told of those that can't be read.
  func readAll(_ report: (TokenStoreError) -> Void) throws(TokenStoreError) -> [String: StoredToken] {
    var tokens: [String: StoredToken] = [:]
    for id in try ids().prefix(limits.tokens) {
      do throws(TokenStoreError) { tokens[id] = try read(id) } catch { report(error) }
    }
    return tokens
  }

  private static let suffix = ".json"

  private func path(_ id: String) -> String { folder + "/" + id + Self.suffix }

  private func makeKey() throws(TokenStoreError) -> SymmetricKey {
    do { return try key.readOrCreate() } catch { throw .system(error) }
  }

  private func read(_ id: String) throws(TokenStoreError) -> StoredToken {
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try File(path(id)).read(upTo: limits.fileBytes + 1, at: 0)
    } catch {
      throw .system(error)
    }
    guard bytes.count <= limits.fileBytes, let stored = StoredToken(json: bytes), stored.token.id == id else {
      throw .unreadable(path(id))
    }
    return stored
  }

  private func write(_ stored: StoredToken) throws(TokenStoreError) {
    do throws(SystemError) {
      try DurableFile.replace(path(stored.token.id), with: stored.json(), mode: 0o600)
    } catch {
      throw .system(error)
    }
  }
}
