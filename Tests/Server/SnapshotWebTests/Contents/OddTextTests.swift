import SnapshotFormat
import SnapshotViewer
@testable import SnapshotWeb
import Testing

/// Text in other encodings than UTF-8, with other bytes at its end, and text that is not quite JSON.
@Suite struct OddTextTests {
  private static let words = "größe € 😀 日本"

  private func preview(
    _ bytes: [UInt8], _ name: String = "file", _ selection: FileSelection = FileSelection()
  ) throws -> FilePreview {
    let path = "attachments/\(name)"
    return try SampleBundle([(identifier: String, bytes: [UInt8])](), files: [(path, bytes)])
      .preview(path, selection)
  }

  /// The members of the object, or the lines of the text, or the kind of view.
  private func shown(_ preview: FilePreview) -> [String] {
    switch preview.content {
    case .outline(let outline):
      return outline.root.contents?.nodes.map { node in
        let key = node.child.key.map { $0 + ": " } ?? ""
        if case .string(let text, _) = node.child.value { return key + text }
        if case .number(let text, _) = node.child.value { return key + text }
        if case .object(let preview) = node.child.value { return key + "{\(preview.items.map(\.text))" }
        return key + "?"
      } ?? ["\(outline.root.child.value)"]
    case .text(let lines, _): return lines.map(\.text)
    case .hex: return ["bytes"]
    case .empty: return ["empty"]
    default: return ["other"]
    }
  }

  static let encodings = [
    "UTF-16, little", "UTF-16, big", "UTF-32, little", "UTF-32, big",
  ]

  static func encoded(_ text: String, _ encoding: String, hasMark: Bool) -> [UInt8] {
    let text = (hasMark ? "\u{FEFF}" : "") + text
    let isBig = encoding.hasSuffix("big")
    func bytes(_ value: UInt32, _ count: Int) -> [UInt8] {
      let little = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
      return isBig ? little.reversed() : little
    }
    return encoding.hasPrefix("UTF-16")
      ? text.utf16.flatMap { bytes(UInt32($0), 2) } : text.unicodeScalars.flatMap { bytes($0.value, 4) }
  }

  @Test(arguments: encodings, [true, false])
  func `text in another encoding is shown as what it is`(encoding: String, hasMark: Bool) throws {
    let named = encoding.prefix(6) + ", " + encoding.dropFirst(8) + "-endian."
    let json = try preview(Self.encoded("{\"name\":\"\(Self.words)\",\"n\":12}", encoding, hasMark: hasMark))
    #expect(shown(json) == ["name: \(Self.words)", "n: 12"])
    #expect(json.remark == "The file is in \(named)")
    #expect(json.views == [.tree, .table, .formatted, .text, .hex])
    let text = try preview(Self.encoded("One \(Self.words)\r\n2\n", encoding, hasMark: hasMark))
    #expect(shown(text) == ["One \(Self.words)", "2"])
    let list = try preview(
      Self.encoded(
        "<?xml version=\"1.0\" encoding=\"UTF-16\"?><plist version=\"1.0\"><dict><key>ä</key><string>€</string></dict></plist>",
        encoding, hasMark: hasMark))
    #expect(shown(list) == ["ä: €"])
    #expect(list.remark == "The file is in \(named) This is a property list in XML, converted to JSON.")
    // The bytes of the view are those of the file.
    var selection = FileSelection()
    selection.view = .hex
    let bytes = Self.encoded("[1]", encoding, hasMark: hasMark)
    guard case .hex(let rows, bytes.count) = try preview(bytes, "file", selection).content else {
      Issue.record("no bytes")
      return
    }
    #expect(rows.joined().elementsEqual(bytes))
  }

  @Test(arguments: encodings, [true, false])
  func `an error in text of another encoding has its place in the file`(encoding: String, hasMark: Bool)
    throws
  {
    func offset(_ text: String) -> Int { Self.encoded(text, encoding, hasMark: hasMark).count }
    let before = "{\"name\":\"\(Self.words)\","
    let broken = try preview(Self.encoded(before + "!}", encoding, hasMark: hasMark))
    #expect(broken.remark?.hasSuffix("It is not valid JSON: byte \(offset(before)) is unexpected.") == true)
    let markup = "<plist><string>\(Self.words)</string>"
    let list = try preview(Self.encoded(markup + "</nothing>", encoding, hasMark: hasMark))
    let place = offset(markup + "</nothing")
    #expect(list.remark?.contains("at byte \(place), the markup") == true, "\(list.remark ?? "")")
  }

  @Test func `text in UTF-16 or UTF-32 that is not valid is shown as bytes, with the place`() throws {
    let half: [UInt8] = [0xFF, 0xFE, 0x41, 0, 0x3D, 0xD8, 0x42, 0]
    for (bytes, name, place) in [
      (half, "UTF-16", 4), (Array(half.prefix(6)), "UTF-16", 4), ([0xFF, 0xFE, 0x41, 0, 0x42], "UTF-16", 4),
      ([0xFE, 0xFF, 0, 0x41, 0xDE, 0x00], "UTF-16", 4),
      ([0xFF, 0xFE, 0, 0, 0x41, 0, 0, 0, 0, 0, 0x11, 0], "UTF-32", 8),
      ([0, 0, 0xFE, 0xFF, 0, 0, 0x41], "UTF-32", 4),
    ] as [([UInt8], String, Int)] {
      let shown = try preview(bytes)
      #expect(self.shown(shown) == ["bytes"])
      #expect(shown.remark == "It is not valid \(name): at byte \(place) there is no whole character.")
    }
  }

  @Test func `a long text in another encoding is shown whole`() throws {
    let text = (0..<40_000).map { "line \($0) 😀é" }.joined(separator: "\n")
    var selection = FileSelection()
    selection.from = 39_999
    for encoding in Self.encodings {
      let shown = try preview(Self.encoded(text, encoding, hasMark: false), "file", selection)
      #expect(self.shown(shown) == ["line 39999 😀é"])
    }
  }

  @Test(arguments: [1, 448, 200_000])
  func `NUL bytes at the end are left out, and named`(count: Int) throws {
    let padding = [UInt8](repeating: 0, count: count)
    let noun = count == 1 ? "1 NUL byte" : count == 448 ? "448 NUL bytes" : "200,000 NUL bytes"
    let json = try preview(Array("{\"n\":1}".utf8) + padding)
    #expect(shown(json) == ["n: 1"])
    #expect(
      json.remark == "It ends with \(noun), from byte 7 on, which are not shown.", "\(json.remark ?? "")")
    #expect(shown(try preview(Array("a\nb".utf8) + padding)) == ["a", "b"])
    let wide = try preview(Self.encoded("{\"n\":1}", "UTF-16, little", hasMark: false) + padding)
    // An odd number of them is no whole character.
    if count.isMultiple(of: 2) { #expect(shown(wide) == ["n: 1"]) }
    #expect(shown(try preview(padding)) == ["bytes"])
  }

  @Test func `bytes have a reason`() throws {
    for (bytes, reason) in [
      (Array("one\0two".utf8), "byte 3 is NUL"), ([0x41, 0xFF, 0xFE, 0xFD], "byte 1 is not valid UTF-8"),
      ([0x41, 0x01, 0x02, 0x03], "byte 1 is a control character"), ([0, 0], "byte 0 is NUL"),
    ] as [([UInt8], String)] {
      let shown = try preview(bytes)
      #expect(self.shown(shown) == ["bytes"])
      #expect(shown.remark == "It is not text: \(reason).")
    }
    var selection = FileSelection()
    selection.view = .hex
    #expect(try preview(Array("text".utf8), "file", selection).remark == nil)
  }

  @Test func `binary files are not taken for text`() throws {
    let numbers: [UInt8] = (0..<2000).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8), 0, 0] }
    let database = Array("SQLite format 3\0".utf8) + [0x10, 0, 1, 1, 0, 0x40, 0x20, 0x20, 0, 0, 0, 1]
    for bytes in [numbers, database, [1, 0, 2, 0, 3, 0], [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0]] {
      #expect(shown(try preview(bytes)) == ["bytes"])
    }
  }

  @Test func `a JSON text sequence is one list`() throws {
    #expect(
      shown(try preview(Array("\u{1E}{\"n\": 0}\n\u{1E}{\"n\": 1}\n".utf8))) == [#"{["0"]"#, #"{["1"]"#])
    let numbers = try preview(Array("\u{1E}1\n\u{1E}2\n\u{1E}\u{1E}3\n".utf8))
    #expect(shown(numbers) == ["1", "2", "3"])
    #expect(numbers.remark == "The file contains 3 JSON documents.")
    #expect(shown(try preview(Array("\u{1E}7\n".utf8))) == [#"number("7", isCut: false)"#])
    let many = (0..<30_000).map { "\u{1E}{\"n\": \($0)}\n" }.joined()
    var selection = FileSelection()
    selection.from = 29_999
    #expect(shown(try preview(Array(many.utf8), "file", selection)) == [#"{["29999"]"#])
    // A separator is between documents, not in them.
    #expect(try preview(Array("[1,\u{1E}2]".utf8)).remark == "It is not valid JSON: byte 3 is unexpected.")
    let records = try preview(Array("a\u{1F}b\u{1E}c\u{1F}d\u{1E}\u{1D}\u{1C}".utf8))
    #expect(shown(records) == ["a\u{1F}b\u{1E}c\u{1F}d\u{1E}\u{1D}\u{1C}"])
  }

  @Test func `an unpaired surrogate is told from U+FFFD`() throws {
    let json = try preview(
      Array(#"{"a":"\ud83d","b":"\ufffd","c":"\ude00\ud83dx","d":"\ud83d\ude00","\udead":1}"#.utf8))
    #expect(
      shown(json) == ["a: ⟨U+D83D⟩", "b: \u{FFFD}", "c: ⟨U+DE00⟩⟨U+D83D⟩x", "d: 😀", "⟨U+DEAD⟩: 1"])
    var selection = FileSelection()
    selection.pointer = "/⟨U+DEAD⟩"
    guard
      case .outline(let outline) = try preview(
        Array(#"{"\ufffd\ufffd\ufffd":0,"\udead":1}"#.utf8), "file", selection
      ).content
    else {
      Issue.record("no value")
      return
    }
    #expect(outline.root.child.value == .number("1", isCut: false))
    selection.pointer = "/a"
    guard case .string(let page) = try preview(Array(#"{"a":"x\ud800"}"#.utf8), "file", selection).content
    else { return }
    #expect(page.text == "x⟨U+D800⟩")
  }

  /// Files that are not JSON, as parsers are tested with.
  @Test(
    arguments: [
      "", " ", "\u{FEFF}", "abc", "*", "\"", "\"x", "\"\"x", "1]", "]", "2@", "<.>", "aå", "123\0",
      "[\"\\\0\"]",
      "[\"a\0a\"]", "[\0]", "nul", "'x'", "-", "1.", "{\"a\":1}}", "[1,]", "\u{1E}", "tru\n", "NaN", "\\n",
      "\"\\U1234\"",
    ].map { Array($0.utf8) } + [
      [0xE5], [0xEF, 0xBB, 0x7B, 0x7D], [0x5B, 0xFF, 0x5D], [0x22, 0xC3, 0x22], [0],
    ])
  func `a file that is named as JSON and is none has a reason`(bytes: [UInt8]) throws {
    for name in ["a.json", "A.JSON", "a.json@2", "a.ndjson", "a.geojson"] {
      let shown = try preview(bytes, name)
      #expect(shown.remark?.contains("byte") == true, "\(bytes): \(shown.remark ?? "no reason")")
    }
    #expect(try preview(Array("abc".utf8), "a.txt").remark == nil)
  }
}
