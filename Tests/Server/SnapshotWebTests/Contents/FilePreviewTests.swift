import SnapshotFormat
import Testing

@testable import SnapshotWeb

@Suite struct FilePreviewTests {
  private func preview(
    _ bytes: [UInt8], _ name: String = "file", limits: FilePreview.Limits = .default
  ) throws -> FilePreview {
    let path = "attachments/\(name)"
    let sample = try SampleBundle([(identifier: String, bytes: [UInt8])](), files: [(path, bytes)])
    return try FilePreview(try #require(try sample.bundle.entry(at: path)), path: path, limits: limits)
  }

  private func preview(_ text: String, limits: FilePreview.Limits = .default) throws -> FilePreview {
    try preview(Array(text.utf8), limits: limits)
  }

  /// The lines of a JSON document, two spaces for each level.
  private func outline(_ text: String, limits: FilePreview.Limits = .default) throws -> [String] {
    guard case .json(let lines) = try preview(text, limits: limits).content else { return ["no JSON"] }
    return lines.map { line in
      let value =
        switch line.value {
        case .object(let count): "{\(count.map(String.init) ?? "?")"
        case .array(let count): "[\(count.map(String.init) ?? "?")"
        case .string(let text, let isCut): "“\(text)”\(isCut ? "…" : "")"
        case .number(let text), .literal(let text): text
        case .omitted(let count): "+\(count.map(String.init) ?? "?")"
        }
      return String(repeating: "  ", count: line.depth) + (line.key.map { "\($0): " } ?? "") + value
    }
  }

  @Test func `JSON is shown value by value, spelt as it is`() throws {
    #expect(
      try outline(
        #"{"a":[1.0,-0,1e400,123456789012345678901234567890],"\u0062":{"c":"é\n<b>"},"d":[],"e":null}"#)
        == [
          "{4", "  a: [4", "    1.0", "    -0", "    1e400", "    123456789012345678901234567890",
          #"  \u0062: {1"#, #"    c: “é\n<b>”"#, "  d: [0", "  e: null",
        ])
    #expect(try preview("{}").cut == nil)
    #expect(try outline(" 12 ") == ["12"])
    #expect(try outline("\u{FEFF}[true]") == ["[1", "  true"])
  }

  @Test func `of long arrays the first elements are shown, and all are counted`() throws {
    var limits = FilePreview.Limits()
    limits.elements = 3
    limits.members = 2
    #expect(try outline("[1,2,3]", limits: limits) == ["[3", "  1", "  2", "  3"])
    #expect(try outline("[1,2,3,[4]]", limits: limits) == ["[4", "  1", "  2", "  3", "  +1"])
    #expect(
      try outline(#"{"a":[0,0,0,0,0],"b":1,"c":{"d":1}}"#, limits: limits)
        == ["{3", "  a: [5", "    0", "    0", "    0", "    +2", "  b: 1", "  +1"])
    #expect(try preview("[1,2,3,4]", limits: limits).cut == "It is too large to be shown completely.")
  }

  @Test func `levels that are too deep are counted`() throws {
    var limits = FilePreview.Limits()
    limits.depth = 2
    #expect(
      try outline("[[[1,2],3],{\"a\":{}}]", limits: limits)
        == ["[2", "  [2", "    +2", "  {1", "    +1"].map { $0 })
  }

  @Test func `whatever a document holds, a page has room for what is shown`() throws {
    let row = #"{"id":1,"title":"a","author":{"name":"b","tags":["c","d",{"e":"f"}]},"x":[1,2,3]}"#
    let documents = [
      "[" + Array(repeating: row, count: 5000).joined(separator: ",") + "]",
      "{" + (0..<5000).map { "\"\($0)\":\(row)" }.joined(separator: ",") + "}",
      "{" + (0..<300).map { "\"k\($0)\":\"\(String(repeating: "<&", count: 500))\"" }.joined(separator: ",")
        + "}",
      "[" + String(repeating: "[[[[]]]],", count: 20_000) + "1]",
      String(repeating: #"{"a":[1,"#, count: 200) + "1" + String(repeating: "]}", count: 200),
      "\"" + String(repeating: "\u{202E}", count: 100_000) + "\"",
    ]
    for document in documents {
      guard case .json(let lines) = try preview(document).content else {
        Issue.record("no JSON")
        continue
      }
      #expect(lines.count <= PageLimits.lines)
      var budget = PageBudget()
      #expect(JSONTree(lines, &budget).isWhole, "\(document.prefix(40))")
    }
    #expect(try outline(documents[0]).first == "[5000")
    #expect(try outline(documents[0]).contains { $0.hasSuffix("name: “b”") })
  }

  @Test func `a document is read up to a limit`() throws {
    var limits = FilePreview.Limits()
    limits.bytes = 300 << 10
    let document = "[" + String(repeating: "1,", count: 300 << 10) + "x"
    #expect(try outline(document, limits: limits).first == "[?")
    #expect(try preview(document, limits: limits).cut?.hasPrefix("Only the first") == true)
  }

  @Test func `a string without end is shown as the text that it is`() throws {
    let preview = try preview("\"" + String(repeating: "a", count: 9 << 20) + "\"")
    #expect(preview.content == .text(["\"" + String(repeating: "a", count: 399) + "…"]))
    #expect(preview.cut != nil)
  }

  @Test func `nesting without end is shown as far as a page goes`() throws {
    let preview = try preview(String(repeating: "[", count: 1_000_000))
    guard case .json(let lines) = preview.content else {
      Issue.record("\(preview.content)")
      return
    }
    #expect(lines.count < 100)
    #expect(preview.cut == "It is nested deeper than 512 levels. Only the part before is shown.")
  }

  @Test func `what only begins as JSON is shown as text, with the place where it stops being JSON`() throws {
    let preview = try preview("{\"a\":1}\n{\"b\":2}\n")
    #expect(preview.content == .text(["{\"a\":1}", "{\"b\":2}"]))
    #expect(preview.cut == "It is not valid JSON: byte 8 is unexpected.")
    #expect(try self.preview("2026-01-01 started").cut == nil)
  }

  @Test(arguments: [
    ("a\r\nb\n\nc", ["a", "b", "", "c"]), ("\n", [""]), ("one", ["one"]), ("\u{FEFF}bom", ["bom"]),
    ("<b>&\u{202E}", ["<b>&\u{202E}"]),
  ])
  func `text is shown line by line`(text: String, lines: [String]) throws {
    #expect(try preview(text).content == .text(lines))
  }

  @Test func `long lines and long texts are cut, and say so`() throws {
    let long = try preview(String(repeating: "é", count: 1000))
    #expect(long.content == .text([String(repeating: "é", count: 200) + "…"]))
    #expect(long.cut != nil)
    let many = try preview(String(repeating: "line\n", count: 100_000))
    guard case .text(let lines) = many.content else {
      Issue.record("\(many.content)")
      return
    }
    #expect((100...PageLimits.lines).contains(lines.count))
    #expect(many.cut == "The page shows the first \(lines.count) lines of 500000 bytes.")
  }

  @Test func `a byte here and there that is no UTF-8 makes no text binary`() throws {
    let latin = Array("caf".utf8) + [0xE9] + Array(" is what this is about, and so on".utf8)
    #expect(try preview(latin).content == .text(["caf\u{FFFD} is what this is about, and so on"]))
  }

  @Test func `anything else is shown byte by byte`() throws {
    #expect(try preview([1, 0, 0xFF]).content == .hex([[1, 0, 0xFF]]))
    let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let preview = try preview(bytes)
    guard case .hex(let rows) = preview.content else {
      Issue.record("\(preview.content)")
      return
    }
    #expect(rows.joined().elementsEqual(bytes.prefix(4096)))
    #expect(preview.cut == "The page shows the first 4096 of 10000 bytes.")
    #expect(try self.preview([]).content == .empty)
  }

  private static let png: [UInt8] =
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
    + [0, 0, 0x03, 0xE8, 0, 0, 0x07, 0xD0]

  @Test func `a picture is one by its name and by its bytes`() throws {
    #expect(try preview(Self.png, "a.png").content == .image)
    #expect(try preview(Self.png, "a.json").content != .image)
    #expect(
      try preview(Array("<svg onload=alert(1)>".utf8), "a.png").content == .text(["<svg onload=alert(1)>"]))
    let bomb = Self.png.prefix(16) + [0, 1, 0, 0, 0, 1, 0, 0]
    #expect(try preview(Array(bomb), "a.png").content != .image)
    // 2³² - 1 points each way: more in all than an Int counts.
    let overflowing = Self.png.prefix(16) + [UInt8](repeating: 0xFF, count: 8)
    #expect(try preview(Array(overflowing), "a.png").content != .image)
  }

  @Test(
    arguments: [
      (Array("GIF89a".utf8) + [2, 1, 3, 0], 258, 3),
      ([0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xC2, 0, 17, 8, 0, 5, 1, 0, 3, 0], 256, 5),
      (Array("RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0".utf8) + [9, 0, 0, 1, 1, 0], 10, 258),
      (Array("RIFF\0\0\0\0WEBPVP8L\0\0\0\0\u{2F}".utf8) + [0x04, 0x80, 0x01, 0, 0, 0, 0, 0, 0], 5, 7),
      (Array("RIFF\0\0\0\0WEBPVP8 \0\0\0\0".utf8) + [0, 0, 0, 0x9D, 1, 0x2A, 8, 0, 9, 0], 8, 9),
    ] as [([UInt8], Int, Int)])
  func `pictures tell their measures`(bytes: [UInt8], width: Int, height: Int) throws {
    let header = try #require(ImageHeader(bytes))
    #expect(header.width == width)
    #expect(header.height == height)
    for count in 0..<bytes.count { _ = ImageHeader(Array(bytes[..<count])) }
  }
}
