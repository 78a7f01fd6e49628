import Foundation
import SnapshotSealing
import Testing

@Suite struct SealingRecipientTests {
  @Test func `an identity has the recipient that age-keygen prints for it`() throws {
    let identity = try SealingIdentity(HandmadeFile.identity)
    #expect(identity.recipient.description == HandmadeFile.recipient)
    #expect(identity.secretText == HandmadeFile.identity)
    #expect(try SealingRecipient(HandmadeFile.recipient) == identity.recipient)
  }

  @Test func `generated identities differ, and are read as they are written`() throws {
    let identity = SealingIdentity.generate()
    #expect(identity.secretText != SealingIdentity.generate().secretText)
    #expect(try SealingIdentity(identity.secretText).recipient == identity.recipient)
    let hybrid = try SealingIdentity.generateHybrid()
    #expect(hybrid.secretText.hasPrefix("AGE-SECRET-KEY-PQ-1"))
    #expect(hybrid.recipient.description.hasPrefix("age1pq1"))
    #expect(try SealingIdentity(hybrid.secretText).recipient == hybrid.recipient)
    #expect(try SealingRecipient(hybrid.recipient.description) == hybrid.recipient)
  }

  @Test func `a key in hardware is a recipient`() throws {
    let text = "age1tag1qt8lw0ual6avlwmwatk888yqnmdamm7xfd0wak53ut6elz5c4swx2yqdj4e"
    #expect(try SealingRecipient(text).description == text)
  }

  @Test func `no description contains the secret`() throws {
    let identity = try SealingIdentity(HandmadeFile.identity)
    var dumped = ""
    dump(identity, to: &dumped)
    for text in ["\(identity)", String(reflecting: identity), dumped] {
      #expect(!text.contains("GFPYYSJZ") && !text.lowercased().contains("secret"), "\(text)")
      #expect(text.contains("age1"))
    }
  }

  @Test(
    arguments: [
      ("", "it is incomplete"), ("age1", "it is incomplete"), ("age1qqqqq", "it is incomplete"),
      (HandmadeFile.recipient.dropLast() + "q", "checksum"),
      (HandmadeFile.recipient.replacing("zvky", with: "zvkb"), "a character that keys don't have"),
      (HandmadeFile.recipient.replacing("zvky", with: "Zvky"), "upper and lower case"),
      (HandmadeFile.recipient.uppercased(), "lower case"),
      (HandmadeFile.recipient + " ", "a character"),
      (HandmadeFile.identity, "snapshot keys recipients"),
      ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIH", "SSH keys"),
      ("age1yubikey1qwt50d05nh5vutpdzmlg5wn80xq5negm4uj9ghv0snvdd3yysf5yw3rhl3t", "plugin"),
      (String(repeating: "a", count: 5_000), "at most 4096"),
    ] as [(String, String)])
  func `what is not a recipient is refused with the reason`(text: String, reason: String) {
    let error = #expect(throws: SealingError.self) { try SealingRecipient(text) }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "accepted")")
    #expect(error?.description.contains("GFPYYSJZ") == false)
  }

  @Test(
    arguments: [
      (HandmadeFile.identity.lowercased(), "upper case"), (HandmadeFile.recipient, "upper case"),
      (HandmadeFile.identity.dropLast() + "Q", "checksum"), ("", "incomplete"),
    ] as [(String, String)])
  func `what is not an identity is refused without its text`(text: String, reason: String) {
    let error = #expect(throws: SealingError.self) { try SealingIdentity(text) }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "accepted")")
    #expect(error?.description.uppercased().contains("GFPYYSJZ") == false)
  }
}
