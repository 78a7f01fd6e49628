import JSONText

/// A passphrase that opens what `age -p` has encrypted.
///
/// Only the command uses it, for identity files, and provides the function scrypt: the library that has it is not linked
/// to apps.
package struct Passphrase: UnwrappingKey {
  /// Derives 32 bytes with scrypt (RFC 7914), with the block size 8 and no parallelism.
  package typealias Derivation =
    @Sendable (_ passphrase: [UInt8], _ salt: [UInt8], _ rounds: Int) throws -> [UInt8]

  /// The maximum work factor: 1 GiB of memory. `age` uses 18.
  package static let maximumWorkFactor = 20

  private static let type = "scrypt"
  private let text: String
  private let derive: Derivation

  /// Creates a key from the text that a person has typed.
  package init(_ text: String, derive: @escaping Derivation) {
    (self.text, self.derive) = (text, derive)
  }

  package func unwrap(_ stanzas: [Stanza]) throws(SealingError) -> FileKey? {
    guard let stanza = stanzas.first, stanza.type == Self.type else { return nil }
    guard stanza.arguments.count == 3, let salt = Base64.decodeUnpadded(stanza.arguments[1]),
      salt.count == 16,
      let factor = Self.workFactor(stanza.arguments[2]), stanza.body.count == wrappedKeySize
    else { throw .malformedStanza(Self.type) }
    guard factor <= Self.maximumWorkFactor else {
      throw .workFactorTooHigh(factor, limit: Self.maximumWorkFactor)
    }
    let wrapping = try SealingError.cryptography(
      try derive(Array(text.utf8), Array("age-encryption.org/v1/scrypt".utf8) + salt, 1 << factor))
    guard let key = WrappingKey(wrapping).open(stanza.body) else { throw .wrongPassphrase }
    return key
  }

  /// A decimal number without sign and leading zeros.
  private static func workFactor(_ text: String) -> Int? {
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), !text.hasPrefix("0")
    else {
      return nil
    }
    return Int(text)
  }
}
