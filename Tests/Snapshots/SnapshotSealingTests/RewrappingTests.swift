import Foundation
import SnapshotSealing
import Testing

@Suite struct RewrappingTests {
  private static let contents = Opening(contents: Array("recorded".utf8))
  private static func identity() throws -> SealingIdentity { try SealingIdentity(HandmadeFile.identity) }

  private static func rewrapped(
    _ stanzas: String, with key: SealingIdentity, to recipients: [SealingRecipient],
    _ rewrapping: SealedHeader.Rewrapping
  ) throws -> (header: SealedHeader, file: [UInt8]) {
    let file = try HandmadeFile(stanza: stanzas).bytes()
    let old = try #require(try SealedHeader.parse(file))
    let header = try old.rewrapped(with: [key], to: recipients, rewrapping)
    return (header, header.bytes + file[old.size...])
  }

  @Test func `other recipients open the same payload, and unknown stanzas remain`() throws {
    let (new, unknown) = (SealingIdentity.generate(), "-> example.com/enigma a\nAAAA\n")
    let stanzas = HandmadeFile.x25519Stanza() + unknown

    let replaced = try Self.rewrapped(stanzas, with: Self.identity(), to: [new.recipient], .replacing)
    #expect(replaced.header.stanzas.map(\.type) == ["example.com/enigma", "X25519"])
    #expect(Opening(replaced.file, with: [new]) == Self.contents)
    #expect(Opening(replaced.file, with: [try Self.identity()]).error == .wrongIdentity(tried: 1))

    let added = try Self.rewrapped(stanzas, with: Self.identity(), to: [new.recipient], .adding)
    #expect(added.header.stanzas.map(\.type) == ["X25519", "example.com/enigma", "X25519"])
    for identity in [new, try Self.identity()] {
      #expect(Opening(added.file, with: [identity]) == Self.contents)
    }
    #expect(try SealedHeader.parse(added.file)?.bytes == added.header.bytes)
  }

  @Test func `only a recipient can rewrap, and kinds are not mixed`() throws {
    let (stranger, hybrid) = (SealingIdentity.generate(), try SealingIdentity.generateHybrid())
    let stanza = HandmadeFile.x25519Stanza()
    #expect(throws: SealingError.wrongIdentity(tried: 1)) {
      try Self.rewrapped(stanza, with: stranger, to: [stranger.recipient], .replacing)
    }
    #expect(throws: SealingError.noRecipient) {
      try Self.rewrapped(stanza, with: Self.identity(), to: [], .replacing)
    }
    #expect(throws: SealingError.mixedRecipients) {
      try Self.rewrapped(stanza, with: Self.identity(), to: [hybrid.recipient], .adding)
    }
    let replaced = try Self.rewrapped(stanza, with: Self.identity(), to: [hybrid.recipient], .replacing)
    #expect(Opening(replaced.file, with: [hybrid]) == Self.contents)
  }
}
