import Crypto
import Foundation
import SnapshotSealing
import Testing

/// What the types of recipients prescribe for their stanzas.
@Suite struct StanzaTests {
  private static func error(_ stanza: String) throws -> SealingError? {
    try Opening(HandmadeFile(stanza: stanza)).error
  }

  @Test func `a stanza of X25519 that breaks its rules is refused`() throws {
    let zeros = Data(repeating: 0, count: 32)
    let wrong = [
      HandmadeFile.x25519Stanza { "X25519 \($0) more" },
      HandmadeFile.x25519Stanza { _ in "X25519" },
      HandmadeFile.x25519Stanza { "X25519 \($0)AA" },
      HandmadeFile.x25519Stanza { "X25519 \($0.dropLast(2))" },
      HandmadeFile.x25519Stanza { "X25519 \($0)=" },
      HandmadeFile.x25519Stanza { "X25519 \($0.dropLast())B" },
      HandmadeFile.x25519Stanza { _ in "X25519 \(HandmadeFile.base64(zeros))" },
      HandmadeFile.x25519Stanza { _ in "X25519 \(HandmadeFile.base64(Data([1]) + zeros.dropFirst()))" },
      HandmadeFile.x25519Stanza(key: HandmadeFile.fileKey + [0]),
      HandmadeFile.x25519Stanza(key: Data()),
    ]
    for stanza in wrong { #expect(try Self.error(stanza) == .malformedStanza("X25519"), "\(stanza)") }
  }

  @Test func `a stanza for others is passed over`() throws {
    let wrong = [
      HandmadeFile.x25519Stanza { "x25519 \($0)" },
      HandmadeFile.x25519Stanza(body: { "A" + $0.dropFirst() }),
    ]
    for stanza in wrong {
      #expect(try Self.error(stanza) == .wrongIdentity(tried: 1), "\(stanza)")
      #expect(try Self.error(stanza + HandmadeFile.x25519Stanza()) == nil)
    }
  }

  @Test func `nobody but a recipient opens a file`() throws {
    let identities = [SealingIdentity.generate(), .generate(), .generate()]
    let file = try sealed([1, 2, 3], to: identities.prefix(2).map(\.recipient))
    #expect(Opening(file, with: []).error == .noIdentity)
    #expect(Opening(file, with: [identities[2]]).error == .wrongIdentity(tried: 1))
    for identity in identities.prefix(2) {
      #expect(Opening(file, with: [identities[2], identity]) == Opening(contents: [1, 2, 3]))
    }
    #expect(throws: SealingError.noRecipient) { try Sealer(to: []) }
  }

  @Test func `no two files have the same key or nonce`() throws {
    let recipient = try SealingRecipient(HandmadeFile.recipient)
    let headers = try (0..<8).map { _ in try Sealer(to: [recipient]).header }
    #expect(Set(headers.map { $0.suffix(16) }).count == 8)
    #expect(Set(try headers.map { try SealedHeader.parse($0)?.stanzas.first?.arguments[1] }).count == 8)
  }

  @Test func `recipients that resist quantum computers are not mixed with others`() throws {
    let hybrid = try SealingIdentity.generateHybrid()
    let file = try sealed([1, 2, 3], to: [hybrid.recipient])
    #expect(Opening(file, with: [SealingIdentity.generate(), hybrid]) == Opening(contents: [1, 2, 3]))
    #expect(Opening(file, with: [try SealingIdentity.generateHybrid()]).error == .wrongIdentity(tried: 1))
    let classical = try SealingRecipient(HandmadeFile.recipient)
    #expect(throws: SealingError.mixedRecipients) { try Sealer(to: [classical, hybrid.recipient]) }
  }

  @Test func `hardware finds its stanza by the tag, and opens it by HPKE`() throws {
    let key = P256.KeyAgreement.PrivateKey()
    let point = key.publicKey.compressedRepresentation
    let recipient = try SealingRecipient(Bech32Text.encode(Array(point), prefix: "age1tag"))
    let other = try SealingIdentity(HandmadeFile.identity)
    let file = try sealed([1, 2, 3], to: [recipient, other.recipient])
    let header = try #require(try SealedHeader.parse(file))
    let stanza = try #require(header.stanzas.first)
    #expect(stanza.type == "p256tag" && stanza.arguments.count == 3 && stanza.body.count == 32)

    let info = Data("age-encryption.org/p256tag".utf8)
    let share = try #require(Data(base64Encoded: stanza.arguments[2] + "="))
    let tag = HKDF<SHA256>.extract(
      inputKeyMaterial: SymmetricKey(data: share + SHA256.hash(data: point).prefix(4)), salt: info)
    #expect(HandmadeFile.base64(Data(tag).prefix(4)) == stanza.arguments[1])
    var opened = try HPKE.Recipient(
      privateKey: key, ciphersuite: .init(kem: .P256_HKDF_SHA256, kdf: .HKDF_SHA256, aead: .chaChaPoly),
      info: info, encapsulatedKey: share)
    struct Hardware: UnwrappingKey {
      let key: FileKey?
      func unwrap(_ stanzas: [Stanza]) -> FileKey? { key }
    }
    let hardware = Hardware(key: FileKey(Array(try opened.open(stanza.body))))
    #expect(Opening(file, with: [hardware]) == Opening(contents: [1, 2, 3]))
    #expect(Opening(file, with: [other]) == Opening(contents: [1, 2, 3]))
  }

  @Test func `a passphrase opens what was encrypted with it, and is not mixed`() throws {
    let salt = Data(repeating: 9, count: 16)
    func stanza(_ arguments: String) throws -> String {
      let key = try Testkit.scrypt(
        passphrase: Array("secret".utf8), salt: Array("age-encryption.org/v1/scrypt".utf8) + salt,
        rounds: 1 << 2)
      let box = try ChaChaPoly.seal(
        HandmadeFile.fileKey, using: SymmetricKey(data: key),
        nonce: ChaChaPoly.Nonce(data: [UInt8](repeating: 0, count: 12)))
      return "-> \(arguments)\n\(HandmadeFile.base64(box.ciphertext + box.tag))\n"
    }
    func opening(_ stanza: String, _ passphrase: String = "secret") throws -> Opening {
      let file = try HandmadeFile(stanza: stanza).bytes()
      return Opening(file, with: [Passphrase(passphrase, derive: Testkit.scrypt)])
    }
    let digits = HandmadeFile.base64(salt)
    #expect(try opening(stanza("scrypt \(digits) 2")) == Opening(contents: Array("recorded".utf8)))
    #expect(try opening(stanza("scrypt \(digits) 2"), "wrong").error == .wrongPassphrase)
    for factor in ["02", "+2", "-2", "0", "0x2", "", "2 ", "99999999999999999999"] where !factor.isEmpty {
      #expect(try opening(stanza("scrypt \(digits) \(factor)")).error != nil, "\(factor)")
    }
    #expect(try opening(stanza("scrypt \(digits) 21")).error == .workFactorTooHigh(21, limit: 20))
    #expect(try opening(stanza("scrypt \(digits.dropLast(2)) 2")).error == .malformedStanza("scrypt"))
    let mixed = try stanza("scrypt \(digits) 2") + HandmadeFile.x25519Stanza()
    #expect(try Self.error(mixed)?.description.contains("mixed") == true)
    #expect(try Self.error(stanza("scrypt \(digits) 2")) == .passphraseRequired)
  }

  @Test func `an identity file that was encrypted with a passphrase is opened, also in armor`() throws {
    let salt = Data(repeating: 9, count: 16)
    let key = try Testkit.scrypt(
      passphrase: Array("secret".utf8), salt: Array("age-encryption.org/v1/scrypt".utf8) + salt,
      rounds: 1 << 2)
    let box = try ChaChaPoly.seal(
      HandmadeFile.fileKey, using: SymmetricKey(data: key),
      nonce: ChaChaPoly.Nonce(data: [UInt8](repeating: 0, count: 12)))
    let stanza =
      "-> scrypt \(HandmadeFile.base64(salt)) 2\n\(HandmadeFile.base64(box.ciphertext + box.tag))\n"
    let bytes = try HandmadeFile(stanza: stanza, contents: Data("# mine\n\(HandmadeFile.identity)\n".utf8))
      .bytes()
    let armored =
      "\n-----BEGIN AGE ENCRYPTED FILE-----\n"
      + Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
      + "\n-----END AGE ENCRYPTED FILE-----\n"
    for contents in [bytes, Array(armored.utf8)] {
      #expect(IdentityFile.isEncrypted(contents))
      #expect(throws: SealingError.encryptedIdentityFile) { try IdentityFile(contents) }
      let right = Passphrase("secret", derive: Testkit.scrypt)
      let file = try IdentityFile(contents, openedWith: right)
      #expect(file.identities.map(\.secretText) == [HandmadeFile.identity])
      #expect(throws: SealingError.wrongPassphrase) {
        try IdentityFile(contents, openedWith: Passphrase("wrong", derive: Testkit.scrypt))
      }
    }
  }
}
