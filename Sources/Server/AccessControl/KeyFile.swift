import Crypto
import Foundation
import SystemIO

/// A secret key of the server: 256 random bits in a file that only the server's user can read.
///
/// The first process that needs the key creates it, the server or a command. If two do so at the same time, both get
/// the same key.
struct KeyFile: Sendable {
  private static let length = 32
  let path: String

  /// The paths of all keys in a storage folder.
  static let names = [tokensName, linksName]
  private static let tokensName = "keys/tokens"
  private static let linksName = "keys/links"

  /// The key with which tokens are hashed.
  static func tokens(in storage: String) -> KeyFile { KeyFile(path: "\(storage)/\(tokensName)") }
  /// The key with which links are signed.
  static func links(in storage: String) -> KeyFile { KeyFile(path: "\(storage)/\(linksName)") }

  /// Returns the key, or `nil` if there is none. Throws ``TokenStoreError/damagedKey(_:)`` if the file is not a key.
  func read() throws(TokenStoreError) -> SymmetricKey? {
    do {
      let file = try File(path)
      // A truncated key would be weak, and different from the one in use.
      if try file.isRegular {
        let bytes = try file.read(upTo: Self.length + 1, at: 0)
        if bytes.count == Self.length { return SymmetricKey(data: bytes) }
      }
    } catch {
      if error.isNotFound { return nil }
      throw .system(error)
    }
    throw .damagedKey(path)
  }

  /// Returns the key. Creates one if there is none, and synchronizes it to disk before it returns.
  func readOrCreate() throws(TokenStoreError) -> SymmetricKey {
    if let key = try read() { return key }
    do { try create() } catch { throw .system(error) }
    guard let key = try read() else {
      throw .system(SystemError(operation: "read key", path: path, code: ENOENT))
    }
    return key
  }

  /// Creates the key, unless another process does.
  private func create() throws(SystemError) {
    let folder = Folder.parent(of: path)
    try Folder.createDurably(folder)
    let staged = "\(path).\(UUID().uuidString).staged"
    do {
      let file = try File(staged, .create(mode: 0o600))
      let key = SymmetricKey(size: .bits256)
      try file.write(unsafe key.withUnsafeBytes { unsafe Array($0) }, at: 0)
      try file.synchronize()
      try Folder.publish(staged, as: path)
    } catch {
      // The first error is the relevant one.
      do { try Folder.removeIfPresent(staged) } catch {}
      guard error.isAlreadyThere else { throw error }
    }
    try Folder.synchronize(folder)
  }
}
