import Crypto
import CryptoExtras
import Foundation
import SnapshotSealing
import SystemIO

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The files of identities that arguments name.
enum NamedIdentities {
  /// The identities in `file`. Asks for the passphrase on the terminal if the file was encrypted by `age -p`.
  static func read(_ file: String) throws(CommandFailure) -> [SealingIdentity] {
    let bytes: [UInt8]
    do { bytes = try NamedFile.read(file, limit: 2 * IdentityFile.maximumSize) } catch {
      throw CommandFailure("Cannot read the identity file \(file): \(error).", status: .refused)
    }
    do {
      guard IdentityFile.isEncrypted(bytes) else { return try IdentityFile(bytes).identities }
      let passphrase = Passphrase(try askPassphrase(of: file), derive: scrypt)
      return try IdentityFile(bytes, openedWith: passphrase).identities
    } catch {
      throw CommandFailure("\(file): \(error)", status: .refused)
    }
  }

  /// Reads a line from the terminal without showing it.
  private static func askPassphrase(of file: String) throws(SealingError) -> String {
    guard let typed = unsafe getpass("Passphrase of \(file): "),
      case let text = unsafe String(cString: typed),
      !text.isEmpty
    else { throw .encryptedIdentityFile }
    return text
  }

  private static let scrypt: Passphrase.Derivation = { passphrase, salt, rounds in
    let key = try KDF.Scrypt.deriveKey(
      from: passphrase, salt: salt, outputByteCount: 32, rounds: rounds, blockSize: 8, parallelism: 1)
    return unsafe key.withUnsafeBytes { unsafe Array($0) }
  }
}
