import SnapshotSealing
import Testing

@Suite struct IdentityFileTests {
  private static func identities(_ text: String) throws -> [String] {
    try IdentityFile(Array(text.utf8)).identities.map(\.secretText)
  }

  @Test func `comments and blank lines are skipped, and identities keep their order`() throws {
    let second = SealingIdentity.generate().secretText
    let text =
      "# created: 2026-01-01T00:00:00Z\r\n\n  # public key: age1\n\t\(HandmadeFile.identity) \r\n\(second)"
    #expect(try Self.identities(text) == [HandmadeFile.identity, second])
  }

  @Test func `a file is read as it is written`() throws {
    let identity = SealingIdentity.generate()
    let text = IdentityFile.contents(of: identity, createdAt: "2026-01-01T00:00:00Z")
    #expect(text.contains("# public key: \(identity.recipient)\n"))
    #expect(try Self.identities(text) == [identity.secretText])
  }

  @Test func `errors name the line, and never contain it`() {
    func error(_ text: String) -> SealingError? {
      #expect(throws: SealingError.self) { try Self.identities(text) }
    }
    #expect(error("\n\nAGE-PLUGIN-YUBIKEY-1QQPQQ") == .pluginIdentity(line: 3))
    let wrong = error("#\n\(HandmadeFile.identity.dropLast())Q")?.description ?? ""
    #expect(wrong.contains("Line 2") && wrong.contains("checksum") && !wrong.contains("GFPYYSJZ"))
    #expect(error(HandmadeFile.recipient)?.description.contains("Line 1 is a recipient") == true)
    #expect(error("# nothing\n")?.description.contains("no identity") == true)
    #expect(error("")?.description.contains("no identity") == true)
    #expect(error("age-encryption.org/v1\n-> scrypt") == .encryptedIdentityFile)
    #expect(error("-----BEGIN AGE ENCRYPTED FILE-----\n") == .encryptedIdentityFile)
  }

  @Test(arguments: [-1, 0, 1]) func `the size has a limit`(excess: Int) throws {
    let line = HandmadeFile.identity + "\n"
    let comment = "#" + String(repeating: "x", count: IdentityFile.maximumSize + excess - line.utf8.count - 1)
    if excess > 0 {
      #expect(throws: SealingError.identityFileTooLarge(limit: IdentityFile.maximumSize)) {
        try Self.identities(line + comment)
      }
    } else {
      #expect(try Self.identities(line + comment).count == 1)
    }
  }
}
