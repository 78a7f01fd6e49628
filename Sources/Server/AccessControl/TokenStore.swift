import Crypto
package import Foundation
import SnapshotFormat
package import SystemIO

/// The tokens of a storage folder. Each is in its own file in `tokens/`.
///
/// Commands create and revoke tokens while a server is running. The server sees every change before it admits the next
/// call. Changes are synchronized to disk when a method returns. All methods block. Thread-safe, also across processes.
package struct TokenStore: Sendable {
  /// The limits of a storage and of its tokens.
  package struct Limits: Sendable, Hashable {
    /// The maximum number of tokens in a storage, including revoked ones.
    package var tokens = 10_000
    /// The maximum size of a token's name, in bytes.
    package var nameBytes = 200
    /// The maximum number of report prefixes, and of applications, in a token's limits.
    package var entries = 100
    /// The maximum size of one of these, in bytes.
    package var entryBytes = 256
    /// The maximum size of a token's file, in bytes.
    package var fileBytes = 128 << 10

    /// Creates limits with the default values.
    package init() {}
  }

  /// The properties of a token to create.
  package struct Request: Sendable, Hashable {
    /// The name of the token, for people. It must not contain control characters.
    package var name: String?
    /// The calls that the token allows; at least one scope.
    package var scopes: Set<Scope>
    /// The reports and applications to which the token is limited.
    package var limits: CallerLimits
    /// The token's rate limit; `nil` for the server's default.
    package var rate: RateLimit?
    /// The token's upload quota; `nil` for the server's default.
    package var quota: UploadQuota?
    /// When the token expires; `nil` for never.
    package var expiresAt: Date?
    /// What the token is a link for; `nil` for a token that is no link.
    package var link: AttachLink?

    /// Creates a request.
    package init(
      name: String? = nil, scopes: Set<Scope>, limits: CallerLimits = CallerLimits(), rate: RateLimit? = nil,
      quota: UploadQuota? = nil, expiresAt: Date? = nil, link: AttachLink? = nil
    ) {
      self.link = link
      self.name = name
      self.scopes = scopes
      self.limits = limits
      self.rate = rate
      self.quota = quota
      self.expiresAt = expiresAt
    }
  }

  let storage: String
  private let limits: Limits
  static let folderName = "tokens"
  package var folder: String { "\(storage)/\(Self.folderName)" }
  var key: KeyFile { .tokens(in: storage) }

  /// Creates a store for the storage folder at `storage`. Does not access the folder.
  package init(storage: String, limits: Limits = Limits()) {
    self.storage = storage
    self.limits = limits
  }

  /// Creates a token.
  ///
  /// - Returns: the token's properties and its secret. The secret is not stored and can't be retrieved later.
  package func create(
    _ request: Request, now: Date = Date()
  ) throws(TokenStoreError) -> (token: AccessToken, secret: String) {
    try limits.check(request, now)
    let secret = TokenSecret()
    let token = AccessToken(
      id: secret.id, name: request.name, scopes: request.scopes, limits: request.limits, rate: request.rate,
      quota: request.quota, createdAt: SnapshotJSON.milliseconds(of: now),
      expiresAt: request.expiresAt.map(SnapshotJSON.milliseconds), link: request.link)
    do {
      try Folder.createDurably(folder)
    } catch {
      throw .system(error)
    }
    let ids = try ids()
    guard ids.count < limits.tokens else { throw .tooMany(limits.tokens) }
    // With a new key, no other token would be valid.
    if !ids.isEmpty, try readKey() == nil { throw .keyMissing(storage) }
    try write(StoredToken(token, code: secret.code(with: try key.readOrCreate())))
    return (token, secret.text)
  }

  /// Returns all readable tokens, the newest first.
  package func list() throws(TokenStoreError) -> [AccessToken] {
    try readAll { _ in }.values.map(\.token).sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
  }

  /// Whether a token was ever created, even if it is revoked, unreadable or lost now. The key with which tokens are
  /// hashed exists since the first token.
  package func hasTokens() throws(TokenStoreError) -> Bool {
    if try !ids().isEmpty { return true }
    return try readKey() != nil
  }

  /// Throws ``TokenStoreError/tokensMissing(_:)`` if tokens were created and none of their files exists, for example
  /// after an incomplete restore, and ``TokenStoreError/keyMissing(_:)`` if their key does not exist.
  func requireComplete() throws(TokenStoreError) {
    let (hasFiles, hasKey) = (try !ids().isEmpty, try readKey() != nil)
    if hasKey, !hasFiles { throw .tokensMissing(storage) }
    if hasFiles, !hasKey { throw .keyMissing(storage) }
  }

  /// The keys and tokens that can't be used, each with the reason.
  package func examine() throws(TokenStoreError) -> [TokenStoreError] {
    var found: [TokenStoreError] = []
    for key in [key, .links(in: storage)] {
      do { _ = try key.read() } catch { found.append(error) }
    }
    _ = try readAll { found.append($0) }
    return found
  }

  /// Revokes the token `id` permanently. Has no effect if it is revoked already. The token's properties remain
  /// available, so that its id in logs can still be resolved.
  @discardableResult
  package func revoke(_ id: String, now: Date = Date()) throws(TokenStoreError) -> AccessToken {
    try change(id) { token in
      if token.revokedAt == nil { token.revokedAt = SnapshotJSON.milliseconds(of: now) }
      return token
    }
  }

  /// Changes the link `id`. Throws ``TokenStoreError/noSuchToken`` if no link has this id.
  func changeLink<Value>(
    _ id: String, _ change: (inout AttachLink) -> Value
  ) throws(TokenStoreError) -> Value {
    let value = try self.change(id) { token -> Value? in
      guard var link = token.link else { return nil }
      defer { token.link = link }
      return change(&link)
    }
    guard let value else { throw .noSuchToken }
    return value
  }

  /// Changes the token `id`, and writes it if it differs then. Other processes wait meanwhile: a command can revoke the
  /// token while the server counts its use.
  private func change<Value>(
    _ id: String, _ change: (inout AccessToken) -> Value
  ) throws(TokenStoreError) -> Value {
    guard TokenSecret.isID(id) else { throw .noSuchToken }
    let lock: File
    do {
      // The key is never replaced.
      lock = try File(key.path)
      try lock.lock()
    } catch {
      guard error.isNotFound else { throw .system(error) }
      throw try ids().isEmpty ? .noSuchToken : .keyMissing(storage)
    }
    // The lock ends when the file is closed.
    defer { withExtendedLifetime(lock) {} }
    var stored: StoredToken
    do {
      stored = try read(id)
    } catch .system(let error) where error.isNotFound {
      throw .noSuchToken
    }
    let former = stored.token
    let value = change(&stored.token)
    if stored.token != former { try write(stored) }
    return value
  }

  // MARK: Files

  /// Returns a stamp that changes with the folder's contents, or `nil` if no token was ever created.
  func stamp() throws(TokenStoreError) -> Folder.Stamp? {
    do { return try Folder.stamp(folder) } catch { throw .system(error) }
  }

  /// Returns the key with which tokens are hashed, or `nil` if there is none yet.
  func readKey() throws(TokenStoreError) -> SymmetricKey? {
    try key.read()
  }

  /// Returns the ids of all tokens, including unreadable ones.
  package func ids() throws(TokenStoreError) -> [String] {
    do {
      return try Folder.entries(folder).compactMap { Self.id(ofFile: "\(Self.folderName)/\($0)") }
    } catch {
      if error.isNotFound { return [] }
      throw .system(error)
    }
  }

  /// Returns all tokens. Calls `report` with the error of each unreadable one.
  func readAll(_ report: (TokenStoreError) -> Void) throws(TokenStoreError) -> [String: StoredToken] {
    var tokens: [String: StoredToken] = [:]
    for id in try ids().prefix(limits.tokens) {
      do { tokens[id] = try read(id) } catch { report(error) }
    }
    return tokens
  }

  private static let suffix = ".json"

  /// The path of a token's file in the storage folder.
  static func name(ofFile id: String) -> String { "\(folderName)/\(id)\(suffix)" }

  /// The id of the token whose file has this path in the storage folder; `nil` if it is no token's file.
  static func id(ofFile name: String) -> String? {
    guard name.hasPrefix(folderName + "/"), name.hasSuffix(suffix) else { return nil }
    let id = String(name.dropFirst(folderName.count + 1).dropLast(suffix.count))
    return TokenSecret.isID(id) ? id : nil
  }

  private func path(_ id: String) -> String { "\(storage)/\(Self.name(ofFile: id))" }

  private func read(_ id: String) throws(TokenStoreError) -> StoredToken {
    let bytes: [UInt8]
    do {
      let file = try File(path(id))
      bytes = try file.isRegular ? file.read(upTo: limits.fileBytes + 1, at: 0) : []
    } catch {
      throw .system(error)
    }
    guard bytes.count <= limits.fileBytes, let stored = StoredToken(json: bytes), stored.token.id == id else {
      throw .unreadable(path(id))
    }
    return stored
  }

  private func write(_ stored: StoredToken) throws(TokenStoreError) {
    do {
      try DurableFile.replace(path(stored.token.id), with: stored.json(), mode: 0o600)
    } catch {
      throw .system(error)
    }
  }
}

/// The reason why a token can't be created, read or revoked.
package enum TokenStoreError: Error, Sendable {
  /// A requested property exceeds a limit, which the text names.
  case invalid(String)
  /// The storage has reached the maximum number of tokens.
  case tooMany(Int)
  /// No token has the id.
  case noSuchToken
  /// The file at this path is not a token, or has a version that this program can't read.
  case unreadable(String)
  /// The storage at this path has the key with which tokens are hashed, but no tokens.
  case tokensMissing(String)
  /// The storage at this path has tokens, but not the key with which they are hashed.
  case keyMissing(String)
  /// The file at this path is not a key.
  case damagedKey(String)
  /// The disk or the system returned an error.
  case system(SystemError)
}

extension TokenStoreError: CustomStringConvertible {
  /// One sentence that describes the error, for people.
  package var description: String {
    switch self {
    case .invalid(let reason): reason
    case .tooMany(let limit):
      "The storage has reached its maximum of \(limit) tokens. Delete the files of revoked tokens in tokens/."
    case .noSuchToken: "There is no token with this id; `snapshot token list` shows the ids."
    case .unreadable(let path):
      "\(path) is not a token that this version of the program can read. Restore it from the backup, or remove it."
    case .tokensMissing(let storage):
      """
      \(storage) has lost its tokens. Restore \(storage)/tokens from the backup, or create a token with \
      `snapshot token create`.
      """
    case .keyMissing(let storage):
      """
      \(storage) has lost the key of its tokens. Restore \(storage)/keys from the backup. If it is lost for good, remove \
      \(storage)/tokens, and create new tokens.
      """
    case .damagedKey(let path):
      """
      \(path) is damaged: a key is a regular file of 32 bytes. Restore it from the backup. If it is lost for good, \
      remove it\(path.hasSuffix("/links") ? "; links that were made with it are refused then" : " and all tokens").
      """
    case .system(let failure): "The storage's tokens can't be used: \(failure)"
    }
  }
}

extension TokenStore.Limits {
  /// Throws if `request` exceeds a limit.
  package func check(_ request: TokenStore.Request, _ now: Date) throws(TokenStoreError) {
    if let name = request.name {
      guard (1...nameBytes).contains(name.utf8.count), Self.isPlain(name) else {
        throw .invalid("A token's name is 1 to \(nameBytes) bytes, without control characters.")
      }
    }
    guard !request.scopes.isEmpty else { throw .invalid("A token needs a scope.") }
    if let expiresAt = request.expiresAt, expiresAt <= now {
      throw .invalid("The token's expiry date is in the past.")
    }
    try check(request.limits.reportPrefixes, "report prefixes")
    try check(request.limits.applications, "applications")
    for prefix in request.limits.reportPrefixes ?? [] where !ReportID.canBegin(with: prefix) {
      throw .invalid(
        """
        No report's id begins with ‘\(prefix.prefix(100))’: ids are made of ASCII letters, digits and - _ . ~ # : @ + /. \
        A token without a limit to reports is valid for all of them.
        """)
    }
    for application in request.limits.applications ?? [] where application.contains("*") {
      throw .invalid(
        """
        ‘\(application.prefix(100))’ is not the identifier of an application, and there are no patterns. A token without \
        a limit to applications is valid for all of them.
        """)
    }
  }

  private func check(_ entries: Set<String>?, _ what: String) throws(TokenStoreError) {
    guard let entries else { return }
    guard (1...self.entries).contains(entries.count) else {
      throw .invalid("A token is limited to 1 to \(self.entries) \(what).")
    }
    for entry in entries where !(1...entryBytes).contains(entry.utf8.count) || !Self.isPlain(entry) {
      throw .invalid("The \(what) that a token is limited to have 1 to \(entryBytes) bytes each.")
    }
  }

  private static func isPlain(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy {
      ![.control, .lineSeparator, .paragraphSeparator, .format].contains($0.properties.generalCategory)
    }
  }
}
