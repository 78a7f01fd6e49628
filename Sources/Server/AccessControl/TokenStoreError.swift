package import Foundation
package import SystemIO

/// Why a token can't be made, read or revoked.
package enum TokenStoreError: Error, Sendable {
  /// What was asked for breaks a limit, which the text names.
  case invalid(String)
  /// The storage has as many tokens as it may.
  case tooMany(Int)
  /// No token has that id.
  case noSuchToken
  /// The file at this path holds no token, or one of another version than this program's.
  case unreadable(String)
  /// The storage at this path has the key that tokens are known by, and no token.
  case tokensMissing(String)
  /// The disk or the system failed.
  case system(SystemError)
}

extension TokenStoreError: CustomStringConvertible {
  /// One sentence.
  package var description: String {
    switch self {
    case .invalid(let reason): reason
    case .tooMany(let limit):
      "There are \(limit) tokens already, the most that a storage may have. Remove files of revoked ones from tokens/."
    case .noSuchToken: "There is no token with this id; `snapshot token list` shows the ids."
    case .unreadable(let path): "\(path) holds no token that this version of the program can read."
    case .tokensMissing(let storage):
      """
      \(storage) had tokens, and has none: restore \(storage)/tokens from the backup, or make a new token with \
      `snapshot token create`.
      """
    case .system(let failure): "The storage's tokens can't be used: \(failure)"
    }
  }
}

extension TokenStore.Limits {
  /// Refuses what breaks a limit.
  package func check(_ request: TokenStore.Request, _ now: Date) throws(TokenStoreError) {
    if let name = request.name {
      guard (1...nameBytes).contains(name.utf8.count), Self.isPlain(name) else {
        throw .invalid("A token's name is 1 to \(nameBytes) bytes, without control characters.")
      }
    }
    guard !request.scopes.isEmpty else { throw .invalid("A token needs a scope.") }
    if let expiresAt = request.expiresAt, expiresAt <= now {
      throw .invalid("The token would have expired already.")
    }
    try check(request.limits.reportPrefixes, "beginnings of reports")
    try check(request.limits.applications, "applications")
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
