import Crypto
import Foundation
import SystemIO

/// A secret key of the server: 256 random bits in a file that only the server's user can read.
///
/// The first process that needs the key creates it, the server or a command. If two do so at the same time, both get
/// the same key.
struct KeyFile: Sendable {
  private static let length = 32
  private let path: String

  /// The paths of all keys in a storage folder.
  static let names = [tokensName, linksName]
  private static let tokensName = "keys/tokens"
  private static let linksName = "keys/links"

  /// The key with which tokens are hashed.
  static func tokens(in storage: String) -> KeyFile { KeyFile(path: "\(storage)/\(tokensName)") }
  /// The key with which links are signed.
  static func links(in storage: String) -> KeyFile { KeyFile(path: "\(storage)/\(linksName)") }

  /// Returns the key, or `nil` if there is none.
  func read() throws(SystemError) -> SymmetricKey? {
    do throws(SystemError) {
      let file = try File(path)
      let bytes = try file.read(upTo: Self.length + 1, at: 0)
      // A truncated key would be weak, and different from the one in use.
      guard bytes.count == Self.length else {
        throw SystemError(operation: "read key", path: path, code: POSIXErrorCode.EBADMSG.rawValue)
      }
      return SymmetricKey(data: bytes)
    } catch  where error.isNotFound {
      return nil
    }
  }

  /// Returns the key. Creates one if there is none, and synchronizes it to disk before it returns.
  func readOrCreate() throws(SystemError) -> SymmetricKey {
    if let key = try read() { return key }
    let folder = Folder.parent(of: path)
    try Folder.createDurably(folder)
    let staged = "\(path).\(UUID().uuidString).staged"
    do throws(SystemError) {
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
    guard let key = try read() else { throw SystemError(operation: "read key", path: path, code: ENOENT) }
    return key
  }
}
