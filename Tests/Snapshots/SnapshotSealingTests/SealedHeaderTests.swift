import Foundation
import SnapshotSealing
import Testing

@Suite struct SealedHeaderTests {
  private static let contents = Opening(contents: Array("recorded".utf8))

  private static func opening(_ change: (inout HandmadeFile) -> Void) throws -> Opening {
    var file = HandmadeFile()
    change(&file)
    return try Opening(file)
  }

  private static func opening(stanza: String) throws -> Opening { try Opening(HandmadeFile(stanza: stanza)) }

  @Test(arguments: [1, 7, 100_000]) func `a file made by the rules is opened`(size: Int) throws {
    #expect(try Opening(HandmadeFile(), piecesOf: size) == Self.contents)
  }

  @Test func `a header is written as it was read`() throws {
    let unknown = "-> example.com/enigma a ~!\n\(String(repeating: "A", count: 64))\n\n-> empty\n\n"
    let file = HandmadeFile(stanza: unknown + HandmadeFile.x25519Stanza())
    let header = try #require(try SealedHeader.parse(try file.bytes()))
    #expect(header.bytes == Array(file.header.utf8))
    #expect(header.size == file.header.utf8.count)
    #expect(header.stanzas.map(\.type) == ["example.com/enigma", "empty", "X25519"])
    #expect(header.unknownTypes == ["example.com/enigma", "empty"])
    #expect(try Opening(file) == Self.contents)
  }

  @Test func `a header that has not arrived completely is not one yet`() throws {
    let header = Array(HandmadeFile().header.utf8)
    for end in 0..<header.count { #expect(try SealedHeader.parse(header[..<end]) == nil) }
    #expect(try SealedHeader.parse(header) != nil)
  }

  @Test(arguments: [
    "-> X25519 \n", "->  X25519 a\n\n", "-> X25519  a\n\n", "->\n\n", "-> \n\n", "> X25519 a\n\n",
    "-> X25519\ta\n\n",
    "-> é\n\n", "-> a\nAA==\n", "-> a\nAB\n", "-> a\nA\n", "-> a\nAA\r\n",
    "-> a\n\(String(repeating: "A", count: 64))\n",
    "-> a\n\(String(repeating: "A", count: 68))\n\n", "-> a\nAAAA\nAAAA\n", "-> a\n", "",
  ])
  func `a stanza that breaks the rules is refused`(stanza: String) throws {
    let isAlone = stanza.isEmpty
    let opening = try Self.opening(stanza: isAlone ? "" : HandmadeFile.x25519Stanza() + stanza)
    guard case .malformedHeader = opening.error else {
      Issue.record("\(stanza.debugDescription): \(opening)")
      return
    }
    #expect(opening.contents.isEmpty)
  }

  @Test(arguments: [
    " AAAA\n", "\n", " ", "  ", "", "AAAA\n",
    " \(String(repeating: "A", count: 42))B\n", " \(String(repeating: "A", count: 43))=\n",
    " \(String(repeating: "A", count: 43)) \n", " \(String(repeating: "A", count: 43))\r\n",
  ])
  func `the end of a header that breaks the rules is refused`(ending: String) throws {
    let opening = try Self.opening { $0.ending = ending }
    // A header without its newline continues in the payload.
    switch opening.error {
    case .malformedHeader, .truncated: break
    default: Issue.record("\(ending.debugDescription): \(opening)")
    }
  }

  @Test func `a changed header is seen by its code`() throws {
    let damaged = try Self.opening { $0.ending = " \(String(repeating: "A", count: 43))\n" }
    #expect(damaged == Opening(contents: [], error: .headerDamaged))
    var file = HandmadeFile()
    file.ending = String(file.header.dropFirst(file.head.count))
    file.head = file.head.replacing("---", with: "-> added\n\n---")
    #expect(try Opening(file).error == .headerDamaged)
  }

  @Test func `other versions and other files are named`() throws {
    #expect(
      try Self.opening { $0.head = $0.head.replacing("/v1", with: "/v2") }.error == .unknownVersion("v2"))
    for text in [
      "PK\u{3}\u{4}", "age-encryption.com/v1\n", "\n",
      "age-encryption.org/" + String(repeating: "v", count: 200),
    ] {
      #expect(Opening(Array(text.utf8), with: []).error == .notSealed(isArmored: false), "\(text)")
    }
    let armored = "-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n"
    #expect(Opening(Array(armored.utf8), with: []).error == .notSealed(isArmored: true))
    #expect(try Self.opening { $0.head = $0.head.replacing("\n", with: "\r\n") }.error != nil)
  }

  @Test(arguments: [-1, 0, 1]) func `the size of a header has a limit`(excess: Int) throws {
    var file = HandmadeFile()
    let missing = SealedHeader.maximumSize + excess - file.header.utf8.count - "-> \n\n".utf8.count
    file.head = file.head.replacing(
      "---", with: "-> \(String(repeating: "x", count: missing))\n\n---", maxReplacements: 1)
    #expect(file.header.utf8.count == SealedHeader.maximumSize + excess)
    let opening = try Opening(file)
    if excess > 0 {
      guard case .headerTooLarge = opening.error else {
        Issue.record("\(opening)")
        return
      }
    } else {
      #expect(opening == Self.contents)
    }
  }

  @Test(arguments: [-1, 0, 1]) func `the number of recipients has a limit`(excess: Int) throws {
    let count = SealedHeader.maximumStanzas + excess
    let stanzas = String(repeating: "-> other\n\n", count: count - 1) + HandmadeFile.x25519Stanza()
    let opening = try Self.opening(stanza: stanzas)
    let recipients = try (0..<count).map { _ in try SealingRecipient(HandmadeFile.recipient) }
    if excess > 0 {
      #expect(opening.error?.description.contains("at most 128 recipients") == true)
      #expect(throws: SealingError.tooManyRecipients(limit: 128)) { try Sealer(to: recipients) }
    } else {
      #expect(opening == Self.contents)
      #expect(try SealedHeader.parse(Sealer(to: recipients).header)?.stanzas.count == count)
    }
  }
}
