import Foundation
import SnapshotFormat
import Testing

struct SnapshotIDTests {
  @Test func `capitals are read and written small`() {
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
  func `anything but a UUID is refused`(text: String) { #expect(SnapshotID(text) == nil) }

  @Test func `a fresh one is random and of version 4`() {
    let (one, other) = (SnapshotID().description, SnapshotID().description)
    #expect(one != other)
    #expect(one.dropFirst(14).first == "4")
  }

  @Test func `it is what Foundation makes of the same bytes`() {
    for uuid in (0..<100).map({ _ in UUID() }) {
      #expect(SnapshotID(uuid).description == uuid.uuidString.lowercased())
      #expect(SnapshotID(uuid.uuidString) == SnapshotID(uuid))
    }
  }

  @Test func `the order is that of the texts`() {
    let ids = (0..<100).map { _ in SnapshotID() }
    #expect(ids.sorted().map(\.description) == ids.map(\.description).sorted())
  }

  @Test func `JSON holds the text, and says what is wrong with another`() throws {
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
  func `the names that trackers use are taken as they are`(text: String) throws {
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
  func `anything else is refused with its reason`(text: String, refusal: ReportID.Refusal) {
    #expect(throws: refusal) { try ReportID(validating: text) }
    #expect(ReportID(text) == nil)
    #expect(refusal.description.hasSuffix("."))
  }
}

struct ContentDigestTests {
  private let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

  @Test func `it is SHA-256`() { #expect(ContentDigest.of(Data("abc".utf8)).description == abc) }

  @Test func `hexadecimal is read in either case and written small`() {
    #expect(ContentDigest(hexadecimal: abc.uppercased())?.description == abc)
    #expect(ContentDigest(hexadecimal: abc) == ContentDigest.of(Data("abc".utf8)))
  }

  @Test func `other texts are refused`() {
    for text in [
      "", String(abc.dropLast()), abc + "0", abc.dropLast() + "g", abc.dropLast(2) + "é",
      abc.dropLast() + " ",
    ] {
      #expect(ContentDigest(hexadecimal: text) == nil)
    }
  }

  @Test func `each of its bytes is a digit or refused, wherever it stands`() {
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
  func `it has 32 bytes`(count: Int) {
    #expect((ContentDigest(bytes: [UInt8](repeating: 7, count: count)) != nil) == (count == 32))
  }
}
