/// Why something can't be sealed or opened, with a sentence that helps its reader. Never contains a secret.
public enum SealingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text is not a recipient. Contains the reason, as a sentence.
  case malformedRecipient(String)
  /// The text is not an identity, or a line of a file is none. Contains the reason, as a sentence.
  case malformedIdentity(String)
  /// The identity, in this line of the file, belongs to a plugin of `age`.
  case pluginIdentity(line: Int)
  /// The file of identities is itself encrypted with a passphrase.
  case encryptedIdentityFile
  /// The file of identities exceeds a limit. Contains the limit in bytes.
  case identityFileTooLarge(limit: Int)
  /// There is no recipient to seal to.
  case noRecipient
  /// There are more recipients than a header may have.
  case tooManyRecipients(limit: Int)
  /// Recipients of hybrid and of classical types were given together.
  case mixedRecipients
  /// The system has no implementation of the type of key. Contains its name, and the systems that have one.
  case unsupportedKey(String, requires: String)

  /// The contents are not an age file. Contains whether they are one in ASCII armor.
  case notSealed(isArmored: Bool)
  /// The ASCII armor is not canonical.
  case malformedArmor
  /// The file has a version of the format that is not known.
  case unknownVersion(String)
  /// The header violates the format. Contains the reason, as a clause.
  case malformedHeader(String)
  /// The header exceeds a limit. Contains the limit in words.
  case headerTooLarge(String)
  /// A recipient stanza of a known type is invalid. Contains the type.
  case malformedStanza(String)
  /// The code that authenticates the header is wrong.
  case headerDamaged
  /// No identity was given.
  case noIdentity
  /// The file is sealed to others. Contains the number of identities that were tried.
  case wrongIdentity(tried: Int)
  /// The file is encrypted with a passphrase, and none was given.
  case passphraseRequired
  /// The passphrase does not open the file.
  case wrongPassphrase
  /// Deriving the key from the passphrase would take too much memory. Contains binary logarithms.
  case workFactorTooHigh(Int, limit: Int)

  /// The chunk with this index, from 0, is not authentic.
  case chunkDamaged(Int64)
  /// The last chunk is not authentic: it is damaged, or the file was cut off in it.
  case lastChunkDamaged(Int64)
  /// At the place of this chunk is another one of the same file.
  case chunksReordered(at: Int64, found: Int64)
  /// The file ends before its last chunk.
  case truncated
  /// There are bytes after the last chunk.
  case trailingBytes
  /// The system's cryptography has failed. Contains its message.
  case failed(String)

  /// The error, and how to fix it, in one or two sentences.
  public var description: String {
    switch self {
    case .malformedRecipient(let reason), .malformedIdentity(let reason): reason
    case .pluginIdentity(let line):
      """
      The identity in line \(line) is that of an age plugin, whose key is in hardware. Open the file with \
      ‘age -d -i FILE’, which runs the plugin.
      """
    case .encryptedIdentityFile:
      """
      The identity file is encrypted with a passphrase. The command `snapshot` asks for it; for other uses, decrypt the \
      file with ‘age -d’.
      """
    case .identityFileTooLarge(let limit): "An identity file has at most \(limit) bytes; this one is larger."
    case .noRecipient: "There is no recipient to seal to. Name at least one, such as age1…."
    case .tooManyRecipients(let limit): "A snapshot is sealed to at most \(limit) recipients."
    case .mixedRecipients:
      """
      Recipients that resist quantum computers (age1pq1…) and others can't be mixed: the others would be the weaker way \
      in. Name recipients of one kind.
      """
    case .unsupportedKey(let type, let systems): "\(type) needs \(systems)."
    case .notSealed(isArmored: true):
      "This is an age file in ASCII armor. Decode it with ‘age -d’; snapshots are sealed without armor."
    case .notSealed(isArmored: false):
      "This is not a sealed file: it does not begin with age-encryption.org/v1."
    case .malformedArmor: "The ASCII armor of the file is damaged. Copy the file again."
    case .unknownVersion(let version):
      """
      The file is sealed with version ‘\(version.count > 40 ? version.prefix(40) + "…" : version)’ of age; this software \
      opens version v1. Update it.
      """
    case .malformedHeader(let reason): "The header of the sealed file is invalid: \(reason)."
    case .headerTooLarge(let limit): "The header of the sealed file is too large: it may have \(limit)."
    case .malformedStanza(let type):
      "The header of the sealed file has an invalid stanza of the type \(type)."
    case .headerDamaged:
      "The header of the sealed file is damaged: its authentication code is wrong. Fetch the file again."
    case .noIdentity:
      "The file is sealed. An identity is needed to open it: --identity FILE, or SNAPSHOT_IDENTITY."
    case .wrongIdentity(tried: 1):
      "The file is sealed to others: the identity given does not open it. Use the identity of one of its recipients."
    case .wrongIdentity(let tried):
      """
      The file is sealed to others: none of the \(tried) identities given opens it. Use the identity of one of its \
      recipients.
      """
    case .passphraseRequired: "The file is encrypted with a passphrase, not sealed to recipients."
    case .wrongPassphrase: "The passphrase is wrong."
    case .workFactorTooHigh(let factor, let limit):
      """
      The file asks for the scrypt work factor \(factor); at most \(limit) is allowed, because of the memory that it takes. \
      Decrypt the file with ‘age -d’.
      """
    case .chunkDamaged(let index): "Chunk \(index + 1) of the sealed file is damaged. Fetch the file again."
    case .lastChunkDamaged(let index):
      "The last chunk of the sealed file, \(index + 1), is damaged or incomplete. Fetch the file again."
    case .chunksReordered(let index, let found):
      "Chunks of the sealed file were reordered: number \(found + 1) is at place \(index + 1). Fetch the file again."
    case .truncated: "The sealed file is incomplete: it ends before its last chunk. Fetch the file again."
    case .trailingBytes: "The sealed file has bytes after its end. Fetch the file again."
    case .failed(let message): "The system's cryptography has failed: \(message)."
    }
  }

  /// Runs `body` and reports its failures as those of the system.
  static func cryptography<Value>(_ body: @autoclosure () throws -> Value) throws(SealingError) -> Value {
    do { return try body() } catch { throw .failed("\(error)") }
  }
}
