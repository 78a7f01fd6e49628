import JSONText

/// The header of a sealed file: its key, encrypted for each recipient.
package struct SealedHeader: Hashable, Sendable {
  /// The maximum size in bytes. A stanza of the largest type has 1.7 KB.
  package static let maximumSize = 262_144
  /// The maximum number of recipients.
  package static let maximumStanzas = 128

  /// The stanzas in the order of the file; at least one.
  package let stanzas: [Stanza]
  /// The authentication code.
  let code: [UInt8]
  /// The size in bytes; the nonce of the payload is behind it.
  package let size: Int

  init(stanzas: [Stanza], code: [UInt8], size: Int) {
    (self.stanzas, self.code, self.size) = (stanzas, code, size)
  }

  /// Parses the header at the beginning of `bytes`, which may contain more.
  /// - Returns: `nil` if the header is longer than `bytes`.
  package static func parse(_ bytes: some Collection<UInt8>) throws(SealingError) -> SealedHeader? {
    var parser = HeaderParser()
    var rest = ArraySlice(bytes.prefix(maximumSize))
    return try parser.take(&rest)
  }

  /// Creates the header of a file with this key.
  init(stanzas: [Stanza], key: FileKey) throws(SealingError) {
    guard stanzas.count <= Self.maximumStanzas else { throw .tooManyRecipients(limit: Self.maximumStanzas) }
    let text = Self.authenticated(stanzas)
    let code = key.headerCode(of: text)
    let size = text.count + Self.ending(code).count
    guard size <= Self.maximumSize else { throw .headerTooLarge("at most \(Self.maximumSize) bytes") }
    self.init(stanzas: stanzas, code: code, size: size)
  }

  /// The header as it is in the file.
  package var bytes: [UInt8] { Self.authenticated(stanzas) + Self.ending(code) }

  /// The bytes that the code authenticates.
  private static func authenticated(_ stanzas: [Stanza]) -> [UInt8] {
    var text = HeaderFormat.versionStart + HeaderFormat.version + "\n"
    for stanza in stanzas { text += stanza.text }
    return Array((text + "---").utf8)
  }

  private static func ending(_ code: [UInt8]) -> [UInt8] { Array(" \(Base64.encodeUnpadded(code))\n".utf8) }

  /// Decrypts the key of the file, and checks the header with it.
  package func unwrap(with keys: [any UnwrappingKey]) throws(SealingError) -> FileKey {
    guard !keys.isEmpty else { throw .noIdentity }
    guard stanzas.count == 1 || !stanzas.contains(where: { $0.type == "scrypt" }) else {
      throw .malformedHeader("a passphrase is mixed with other recipients")
    }
    for key in keys {
      guard let fileKey = try key.unwrap(stanzas) else { continue }
      guard fileKey.isHeaderCode(code, of: Self.authenticated(stanzas)) else { throw .headerDamaged }
      return fileKey
    }
    throw stanzas.first?.type == "scrypt" ? .passphraseRequired : .wrongIdentity(tried: keys.count)
  }
}

/// What can decrypt the key of a file from a header.
package protocol UnwrappingKey: Sendable {
  /// The key of the file, or `nil` if no stanza is meant for this key. Throws if a stanza of its type is invalid.
  func unwrap(_ stanzas: [Stanza]) throws(SealingError) -> FileKey?
}

/// The fixed texts and limits of a header.
enum HeaderFormat {
  static let versionStart = "age-encryption.org/"
  static let version = "v1"
  static let armorStart = "-----BEGIN AGE ENCRYPTED FILE-----"
  /// The length of full lines of a stanza's body.
  static let columns = 64
  /// The maximum length of the version line.
  static let versionLength = 128
}
