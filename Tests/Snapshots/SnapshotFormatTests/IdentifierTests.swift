import Foundation
import SnapshotFormat
import Testing

struct SnapshotIDTests {
  @Test func `upper case is accepted and formatted in lower case`() {
    let id = SnapshotID("3F2B0C4E-0000-4000-8000-0123456789AB")
    #expect(id?.description == "3f2b0c4e-0000-4000-8000-0123456789ab")
  }

  @Test(arguments: [
    "", "3f2b0c4e", "3f2b0c4e-0000-4000-8000-0123456789a", "3f2b0c4e-0000-4000-8000-0123456789abc",
    "3f2b0c4e00004000800000123456789ab123", "{3f2b0c4e-0000-4000-8000-0123456789}",
    "3f2b0c4e-0000-4000-8000-0123456789ag",
    "3f2b0c4e-0000-4000-80000-123456789ab", "../../../../../../../../../etc/passwd",
    "3f2b0c4e-0000-4000-8000-0123456789é",
    " 3f2b0c4e-0000-4000-8000-0123456789a", "3f2b0c4e-0000-4000-8000-0x23456789ab",
    "3f2b0c4e-+000-4000-8000-0123456789ab",
  ])
  func `any text other than a UUID is rejected`(text: String) { #expect(SnapshotID(text) == nil) }

  @Test func `a new identifier is random and of version 4`() {
    let (one, other) = (SnapshotID().description, SnapshotID().description)
    #expect(one != other)
    #expect(one.dropFirst(14).first == "4")
  }

  @Test func `it equals Foundation's UUID with the same bytes`() {
    for uuid in (0..<100).map({ _ in UUID() }) {
      #expect(SnapshotID(uuid).description == uuid.uuidString.lowercased())
      #expect(SnapshotID(uuid.uuidString) == SnapshotID(uuid))
    }
  }

  @Test func `identifiers are ordered like their texts`() {
    let ids = (0..<100).map { _ in SnapshotID() }
    #expect(ids.sorted().map(\.description) == ids.map(\.description).sorted())
  }

  @Test func `JSON contains the text, and decoding another text is an error`() throws {
    let id = SnapshotID()
    let json = try SnapshotJSON.encode([id])
    #expect(String(decoding: json, as: UTF8.self) == "[\"\(id)\"]")
    #expect(try SnapshotJSON.decode([SnapshotID].self, from: json) == [id])
    #expect(throws: DecodingError.self) {
      try SnapshotJSON.decode([SnapshotID].self, from: Data("[\"x\"]".utf8))
    }
  }
}

struct ReportIDTests {
  @Test(arguments: [
    "BUG-123", "#4567", "proj/issue/9", "a", "a@b:c+d~e_f.g", String(repeating: "x", count: 128),
  ])
  func `identifiers of common issue trackers are accepted unchanged`(text: String) throws {
    #expect(try ReportID(validating: text).description == text)
    #expect(ReportID(text)?.description == text)
  }

  @Test(arguments: [
    ("", ReportID.Refusal.empty),
    (String(repeating: "x", count: 129), .tooLong(129)),
    ("a b", .character(" ")),
    ("a\r\nb", .character("\r\n")),
    ("a\0", .character("\0")),
    ("é", .character("é")),
    ("٣", .character("٣")),
    ("a?b", .character("?")),
    ("a%2fb", .character("%")),
    ("/a", .segment("")),
    ("a/", .segment("")),
    ("a//b", .segment("")),
    ("..", .segment("..")),
    ("a/./b", .segment(".")),
    ("a/../b", .segment("..")),
  ])
  func `anything else is rejected with its reason`(text: String, refusal: ReportID.Refusal) {
    #expect(throws: refusal) { try ReportID(validating: text) }
    #expect(ReportID(text) == nil)
    #expect(refusal.description.hasSuffix("."))
  }
}

struct ContentDigestTests {
  private let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

  @Test func `it is SHA-256`() { #expect(ContentDigest.of(Data("abc".utf8)).description == abc) }

  @Test func `hexadecimal digits are parsed in either case and formatted in lower case`() {
    #expect(ContentDigest(hexadecimal: abc.uppercased())?.description == abc)
    #expect(ContentDigest(hexadecimal: abc) == ContentDigest.of(Data("abc".utf8)))
  }

  @Test func `other texts are rejected`() {
    for text in [
      "", String(abc.dropLast()), abc + "0", abc.dropLast() + "g", abc.dropLast(2) + "é",
      abc.dropLast() + " ",
    ] {
      #expect(ContentDigest(hexadecimal: text) == nil)
    }
  }

  @Test func `an invalid byte at any position is rejected`() {
    for place in 0..<64 {
      for byte in UInt8(0x20)..<0x7F {
        var text = Array(abc.utf8)
        text[place] = byte
        let spelt = String(decoding: text, as: UTF8.self)
        let isDigit = "0123456789abcdefABCDEF".utf8.contains(byte)
        #expect(ContentDigest(hexadecimal: spelt)?.description == (isDigit ? spelt.lowercased() : nil))
      }
    }
  }

  @Test(arguments: [0, 31, 32, 33])
  func `a digest has exactly 32 bytes`(count: Int) {
    #expect((ContentDigest(bytes: [UInt8](repeating: 7, count: count)) != nil) == (count == 32))
  }
}
