import Crypto
import Foundation
import SystemIO

/// A secret key of the server's own, 256 random bits in a file that nobody else can read.
///
/// Made by whoever needs it first, the server or a command beside it; of two that race for it both get the same one.
struct KeyFile: Sendable {
  private static let length = 32
  private let path: String

  /// What tokens are known by.
  static func tokens(in storage: String) -> KeyFile { KeyFile(path: storage + "/keys/tokens") }
  /// What links are signed with.
  static func links(in storage: String) -> KeyFile { KeyFile(path: storage + "/keys/links") }

  /// The key, where there is one.
  func read() throws(SystemError) -> SymmetricKey? {
    do throws(SystemError) {
      let file = try File(path)
      let bytes = try file.read(upTo: Self.length + 1, at: 0)
      // A key that was cut short would be a weak one, and another than the one in use.
      guard bytes.count == Self.length else {
        throw SystemError(operation: "read key", path: path, code: POSIXErrorCode.EBADMSG.rawValue)
      }
      return SymmetricKey(data: bytes)
    } catch  where error.isNotFound {
      return nil
    }
  }

  /// The key; a new one where there is none. It would survive a power cut before it is used.
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
      // The first failure is the one to tell.
      do { try Folder.removeIfPresent(staged) } catch {}
      guard error.isAlreadyThere else { throw error }
    }
    try Folder.synchronize(folder)
    guard let key = try read() else { throw SystemError(operation: "read key", path: path, code: ENOENT) }
    return key
  }
}
