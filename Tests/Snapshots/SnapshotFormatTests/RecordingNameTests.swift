import Foundation
import SnapshotFormat
import Testing

struct RecordingNameTests {
  /// Identifiers that are problematic as file names on some system.
  static let nasty: [String] = [
    "", " ", ".", "..", "...", "/", "//", "../x", "..\\x", "a/../b", "/etc/passwd", "C:\\x",
    "\\\\host\\share", "~",
    "CON", "con", "Con", "con.json", "CON.JSON", "nul", "aux.", "prn ", "com1", "COM1.txt", "lpt9", "com10",
    "console",
    "conin$", "a", "A", "aA", "Aa", "AA", "^a", "%61", "%", "%%", "%2f", "%2F", "a%", "a.", "a..", "a ", " a",
    ".a",
    "a.b", "news/feed?page=2", "https://example.com/a?b=c&d=e#f", "x\0y", "x\ny", "x\r\ny", "\u{7F}",
    "\u{1B}[31m",
    "<>:\"|?*", "'`$(rm -rf)", "-rf", "😀", "👩‍👩‍👧", "é", "É", "ß", "ẞ", "ı", "İ", "i", "I", "K", "k", "\u{212A}",
    "日本語", "مرحبا", "\u{202E}txt.exe", "\u{FEFF}a", "feed@2", "feed~2", "FEED~1", "feed", "Feed", "feed,v",
    "$MFT",
  ]

  /// The problematic identifiers, and as many combinations of their parts, chosen at random from a seed.
  static let corpus: [String] = {
    var random = SplitMix64(seed: 8)
    let parts = nasty + ["a", "b", "A", ".", "/", "%", "^", "~", "@", "con", "\u{301}", "e"]
    let mixed = (0..<4000).map { _ in
      (0..<Int.random(in: 1...6, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
        .joined()
    }
    let long = ["a", "A", "%", "é", "/"].flatMap { unit in
      [60, 61, 114, 115, 116, 179, 180, 181, 4096].map { String(repeating: unit, count: $0) }
    }
    return Array(Set(nasty + mixed + long))
  }()

  @Test func `no two identifiers have the same name, ignoring letter case`() {
    let names = Self.corpus.map { RecordingName($0).description.lowercased() }
    #expect(Set(names).count == Self.corpus.count)
  }

  @Test func `a name can be decoded to its identifier unless that is long`() throws {
    for identifier in Self.corpus {
      let name = RecordingName(identifier)
      let read = try #require(RecordingName(fileName: name.description), "\(name)")
      #expect(read == name)
      if let spelt = read.identifier {
        #expect(spelt == identifier)
      } else {
        #expect(name.description.contains("~"))
      }
    }
    #expect(Self.nasty.allSatisfy { RecordingName($0).identifier != nil })
  }

  @Test func `every name is portable`() {
    let reserved = ["con", "prn", "aux", "nul"] + (0...9).flatMap { ["com\($0)", "lpt\($0)"] }
    let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789-_=+,.^%~".utf8)
    for identifier in Self.corpus {
      let name = RecordingName(identifier).description
      #expect((1...RecordingName.maximumLength).contains(name.utf8.count))
      #expect(name.utf8.allSatisfy(allowed.contains), "\(name)")
      #expect(!name.hasPrefix(".") && !name.hasSuffix("."), "\(name)")
      #expect(!reserved.contains(String(name.prefix { $0 != "." })), "\(name)")
    }
  }

  @Test(arguments: [
    ("news/feed?page=2", "news%2ffeed%3fpage=2"),
    ("newsFeed.json", "news^feed.json"),
    ("../x", "%2e.%2fx"),
    ("CON", "^c^o^n"),
    ("con.json", "%63on.json"),
    ("console", "console"),
    ("", "%"),
    ("%", "%25"),
    ("a.", "a%2e"),
    ("😀", "%f0%9f%98%80"),
    ("feed@2", "feed%402"),
  ])
  func `ordinary identifiers remain readable`(identifier: String, name: String) {
    #expect(RecordingName(identifier).description == name)
  }

  @Test(
    arguments: [
      ".", "..", ".a", "a.", "A", "a/b", "%2F", "%61", "%6", "%", "^", "^A", "^%", "con", "nul.txt", "%c3%28",
      "feed@02",
      "~", "a~", "~abc", " a", "e%cc%81", "a\0", "é", "%+1",
    ].filter { $0 != "%" })
  func `a name that no identifier has is rejected`(name: String) {
    #expect(RecordingName(fileName: name) == nil)
  }

  @Test func `an empty file name is rejected`() { #expect(RecordingName(fileName: "") == nil) }

  @Test func `names up to the limit contain the identifier, and longer ones its digest`() {
    let most = RecordingName.maximumLength
    #expect(RecordingName(String(repeating: "a", count: most - 1)).identifier?.count == most - 1)
    #expect(RecordingName(String(repeating: "a", count: most)).identifier?.count == most)
    let long = RecordingName(String(repeating: "a", count: most + 1))
    #expect(long.identifier == nil)
    #expect(long.description.hasPrefix("aaaa"))
    #expect(long.description.utf8.count == most)
  }

  @Test func `long identifiers with the same beginning have different names`() {
    let beginning = String(repeating: "news/", count: 800)
    let names = (0..<100).map { RecordingName(beginning + "\($0)").description }
    #expect(Set(names).count == 100)
    #expect(names.allSatisfy { $0.hasPrefix("news%2fnews%2f") })
  }

  @Test func `the beginning of a long identifier is never cut inside an escape sequence`() throws {
    for shift in 0..<8 {
      let name = RecordingName(String(repeating: "a", count: shift) + String(repeating: "é", count: 400))
      let prefix = try #require(name.description.split(separator: "~").first)
      #expect((prefix.utf8.count - shift) % 3 == 0)
    }
  }

  @Test func `a digest of the wrong length or case is rejected`() {
    let name = RecordingName(String(repeating: "x", count: 500)).description
    #expect(RecordingName(fileName: name) != nil)
    #expect(RecordingName(fileName: String(name.dropLast())) == nil)
    #expect(RecordingName(fileName: name + "0") == nil)
    #expect(RecordingName(fileName: String(name.dropLast(64)) + String(repeating: "A", count: 64)) == nil)
  }

  @Test func `canonically equivalent identifiers have the same name`() {
    #expect("e\u{301}" == "\u{E9}")
    #expect(RecordingName("e\u{301}") == RecordingName("\u{E9}"))
  }
}

/// A small random number generator that returns the same numbers for the same seed.
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
