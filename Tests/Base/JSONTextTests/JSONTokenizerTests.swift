import JSONText
import Testing

@Suite struct JSONTokenizerTests {
  /// The tokens of `pieces`, each with its text. If there is an error, the last line is its description.
  private func lines(
    _ pieces: [[UInt8]], _ configuration: JSONTokenizer.Configuration = .init()
  ) -> [String] {
    var tokenizer = JSONTokenizer(configuration)
    var lines: [String] = []
    do throws(JSONFailure) {
      func drain() throws(JSONFailure) {
        while let token = try tokenizer.next() {
          switch token {
          case .key, .string, .number:
            lines.append("\(token) \(String(decoding: tokenizer.text, as: UTF8.self)) \(tokenizer.range)")
          default: lines.append("\(token) \(tokenizer.range)")
          }
        }
      }
      for piece in pieces {
        tokenizer.feed(piece)
        try drain()
      }
      tokenizer.finish()
      try drain()
      if !tokenizer.isComplete { lines.append("not complete") }
    } catch {
      lines.append("\(error)")
    }
    return lines
  }

  private func lines(_ text: String, _ configuration: JSONTokenizer.Configuration = .init()) -> [String] {
    lines([Array(text.utf8)], configuration)
  }

  @Test func `tokens have their texts and positions`() {
    #expect(
      lines(#" {"a":[1,-2.5e+3,"é\n"],"b":{},"c":[true,false,null]}"#) == [
        "beginObject 1..<2", "key a 2..<5", "beginArray 6..<7", "number 1 7..<8", "number -2.5e+3 9..<16",
        "string é\n 17..<23", "endArray 23..<24", "key b 25..<28", "beginObject 29..<30", "endObject 30..<31",
        "key c 32..<35", "beginArray 36..<37", "boolean(true) 37..<41", "boolean(false) 42..<47",
        "null 48..<52", "endArray 52..<53", "endObject 53..<54",
      ])
  }

  @Test(arguments: [
    #"{"a":[1,-2.5e+3,"é☃😀\ud83d\ude00\u00e9\\\/"],"b":{},"c":[true,false,null]}"#, "\u{FEFF}[0.0e-1]", "12",
    #""x""#, "[1,]", "{\"a\" 1}", "\"\\ud83dx\"", "tru", "[01]", "{\"a\":1}}", "-", "\"\u{1}\"", "[\"\\x\"]",
    #"["\ud83d","\udc00\ud83d\ude00"]"#,
  ])
  func `splitting the input anywhere makes no difference`(text: String) {
    let bytes = Array(text.utf8)
    let whole = lines([bytes])
    for first in 0...bytes.count {
      for second in first...bytes.count {
        let pieces = [Array(bytes[..<first]), Array(bytes[first..<second]), Array(bytes[second...])]
        #expect(lines(pieces) == whole)
      }
    }
    #expect(lines(bytes.map { [$0] }) == whole)
  }

  /// The tokens of a document of which the containers at depth 2 are passed over after `count` tokens.
  private func linesPassingOver(_ pieces: [[UInt8]], after count: Int) throws(JSONFailure) -> [String] {
    var tokenizer = JSONTokenizer()
    var (lines, inside, isPassing) = ([String](), 0, false)
    for piece in pieces {
      tokenizer.feed(piece)
      while true {
        if isPassing {
          guard tokenizer.skipContainer() else { break }
          (isPassing, inside) = (false, 0)
          lines.append("passed to \(tokenizer.offset)")
        }
        guard let token = try tokenizer.next() else { break }
        lines.append("\(token) \(tokenizer.range)")
        inside = tokenizer.depth < 2 ? 0 : inside + 1
        isPassing = inside > count
      }
    }
    tokenizer.finish()
    while let token = try tokenizer.next() { lines.append("\(token)") }
    return tokenizer.isComplete ? lines : lines + ["not complete"]
  }

  @Test(arguments: 0...4)
  func `the rest of a container is passed over, however the input is split`(count: Int) throws {
    let text = #"[{"a]":"\\","b\"}":[1,{"é]":"[{"}],"c":-1.5e3},{},[[],"\\\"]"],{"k":null},7]"#
    let bytes = Array(text.utf8)
    let whole = try linesPassingOver([bytes], after: count)
    #expect(
      whole.contains { $0.hasPrefix("passed") }
        && whole.last == "endArray \(bytes.count - 1)..<\(bytes.count)")
    // The containers end where they end when they are read.
    let read = lines([bytes])
    for line in whole where line.hasPrefix("passed") {
      #expect(read.contains { $0.hasPrefix("end") && $0.hasSuffix("..<\(line.dropFirst(10))") })
    }
    for first in 0...bytes.count {
      for second in first...bytes.count {
        let pieces = [Array(bytes[..<first]), Array(bytes[first..<second]), Array(bytes[second...])]
        #expect(try linesPassingOver(pieces, after: count) == whole)
      }
    }
  }

  @Test(
    arguments: [
      ([0x22, 0xC0, 0x80, 0x22], 1), ([0x22, 0xED, 0xA0, 0x80, 0x22], 2),
      ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 2),
      ([0x22, 0xE2, 0x82, 0x22], 3), ([0x22, 0x80, 0x22], 1), ([0x22, 0xFF, 0x22], 1),
      ([0x22, 0xF5, 0x22], 1),
      ([0x22, 0xE0, 0x80, 0x80, 0x22], 2), ([0x22, 0xF0, 0x80, 0x80, 0x80, 0x22], 2),
    ] as [([UInt8], Int)])
  func `bytes that are not UTF-8 are reported with their offset`(bytes: [UInt8], offset: Int) {
    #expect(lines([bytes]) == ["byte \(offset) is not valid UTF-8"])
    #expect(lines(bytes.map { [$0] }) == ["byte \(offset) is not valid UTF-8"])
  }

  @Test(arguments: [
    ("", "it ends unexpectedly after 0 bytes"), ("[1", "it ends unexpectedly after 2 bytes"),
    ("[1,]", "byte 3 is unexpected"), ("{\"a\" 1}", "byte 5 is unexpected"),
    ("[1 2]", "byte 3 is unexpected"), ("nul", "it ends unexpectedly after 3 bytes"),
    ("1.", "it ends unexpectedly after 2 bytes"), ("[01]", "byte 2 is unexpected"),
    ("{\"a\":1}]", "byte 7 is unexpected"), ("[}", "byte 1 is unexpected"),
    ("\"a\nb\"", "byte 2 is unexpected"), ("{1:2}", "byte 1 is unexpected"),
    ("[1]\u{0}", "byte 3 is unexpected"),
  ])
  func `errors are reported with their offset`(text: String, words: String) {
    #expect(lines(text).last == words)
  }

  @Test func `every byte is classified correctly at every position in a long string`() {
    for (byte, place) in (UInt8.min ... .max).flatMap({ byte in (0..<20).map { (byte, $0) } }) {
      let (before, after) = (
        [UInt8](repeating: 0x61, count: place), [UInt8](repeating: 0x61, count: 20 - place)
      )
      let words =
        switch byte {
        case 0..<0x20: "byte \(place + 1) is unexpected"
        case 0x22: "byte \(place + 2) is unexpected"
        case 0x5C: "byte \(place + 2) is unexpected"
        case 0x80...0xC1, 0xF5...: "byte \(place + 1) is not valid UTF-8"
        case 0xC2...0xF4: "byte \(place + 2) is not valid UTF-8"
        default: "string \(String(decoding: before + [byte] + after, as: UTF8.self)) 0..<23"
        }
      #expect(lines([[0x22] + before + [byte] + after + [0x22]]).last == words, "\(byte) at \(place)")
    }
  }

  @Test func `nesting is limited and not recursive`() {
    var configuration = JSONTokenizer.Configuration()
    configuration.depth = 3
    for (depth, isRead) in [(2, true), (3, true), (4, false)] {
      let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      #expect((lines(text, configuration).last == "endArray \(2 * depth - 1)..<\(2 * depth)") == isRead)
    }
    #expect(lines("[[[[", configuration).last == "at byte 3 it is nested deeper than 3 levels")
    configuration.depth = .max
    let abyss = String(repeating: "[", count: 1_000_000)
    #expect(lines(abyss, configuration).last == "it ends unexpectedly after 1000000 bytes")
  }

  @Test func `the beginning of a long string is kept, and its length is counted`() throws {
    for (length, kept) in [(3, "aaa"), (4, "aaaa"), (5, "aaaa"), (500, "aaaa")] {
      var configuration = JSONTokenizer.Configuration()
      configuration.textLength = 4
      var tokenizer = JSONTokenizer(configuration)
      tokenizer.feed(Array("\"\(String(repeating: "a", count: length))\"".utf8))
      #expect(try tokenizer.next() == .string)
      #expect(String(decoding: tokenizer.text, as: UTF8.self) == kept)
      #expect(tokenizer.textLength == length)
    }
  }

  @Test(arguments: [
    ("", []), ("1 2", ["1", "2"]), ("{}\n[1]{}", ["{", "}", "[", "1", "]", "{", "}"]),
    ("[007,-00.5,0]", ["[", "007", "-00.5", "0", "]"]), (#"["\'\x\é\uZ"]"#, ["[", "'xéZ", "]"]),
    ("[1", ["[", "1", "-"]), ("[1 2]", ["[", "1", "-"]), ("{},{}", ["{", "}", "-"]), ("1.", ["-"]),
    ("{\"a\":", ["{", "a", "-"]), ("\"\\", ["-"]),
  ])
  func `a lenient tokenizer reads several documents, leading zeros and any escape`(
    text: String, tokens: [String]
  ) {
    var configuration = JSONTokenizer.Configuration()
    configuration.isLenient = true
    let short = ["beginObject": "{", "endObject": "}", "beginArray": "[", "endArray": "]"]
    let bytes = Array(text.utf8)
    for pieces in [[bytes], bytes.map { [$0] }] {
      let found = lines(pieces, configuration).map { line -> String in
        let words = line.split(separator: " ").map(String.init)
        if ["byte", "it"].contains(words.first) { return "-" }
        return words.first.flatMap { short[$0] } ?? words[1]
      }
      #expect(found == tokens)
    }
    #expect(lines("1 2").last == "byte 2 is unexpected")
  }

  @Test func `strings are kept with their escapes on request`() throws {
    var configuration = JSONTokenizer.Configuration()
    configuration.keepsEscapes = true
    let spelling = #"a\n\u00e9\"\\\/\ud83d\ude00é"#
    #expect(lines("\"\(spelling)\"", configuration).first?.contains(spelling) == true)
  }

  @Test func `an unpaired surrogate is detected, and a pair is valid`() throws {
    for (text, isUnicode) in [(#""\ud83d\ude00""#, true), (#""\ud83d""#, false), (#""\ude00a""#, false)] {
      var tokenizer = JSONTokenizer()
      tokenizer.feed(Array(text.utf8))
      #expect(try tokenizer.next() == .string)
      #expect(tokenizer.isUnicode == isUnicode)
    }
  }
}
