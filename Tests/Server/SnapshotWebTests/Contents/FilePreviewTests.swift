import HTTPEngine
import SnapshotFormat
import SnapshotViewer
import Testing

@testable import SnapshotWeb

@Suite struct FilePreviewTests {
  private func preview(
    _ bytes: [UInt8], _ name: String = "file", _ selection: FileSelection = FileSelection()
  ) throws -> FilePreview {
    let path = "attachments/\(name)"
    let sample = try SampleBundle([(identifier: String, bytes: [UInt8])](), files: [(path, bytes)])
    return try sample.preview(path, selection)
  }

  private func preview(_ text: String, _ selection: FileSelection = FileSelection()) throws -> FilePreview {
    try preview(Array(text.utf8), "file", selection)
  }

  private func view(_ view: FileSelection.View, from: Int = 0) -> FileSelection {
    var selection = FileSelection()
    (selection.view, selection.from) = (view, from)
    return selection
  }

  /// The values of a JSON document that a page shows, two spaces for each level.
  private func outline(_ text: String, _ selection: FileSelection = FileSelection()) throws -> [String] {
    guard case .outline(let outline) = try preview(text, selection).content else { return ["no JSON"] }
    return lines(outline.root, depth: 0)
  }

  private func lines(_ node: JSONOutline.Node, depth: Int) -> [String] {
    let value: String
    switch node.child.value {
    case .object(let preview): value = "{\(preview.count)"
    case .array(let preview): value = "[\(preview.count)"
    case .string(let text, let isCut): value = "“\(text)”\(isCut ? "…" : "")"
    case .number(let text, _), .literal(let text): value = text
    }
    let indent = String(repeating: "  ", count: depth)
    let line = indent + (node.child.key.map { "\($0): " } ?? "") + value
    guard let contents = node.contents else { return [line] }
    return [line] + contents.nodes.flatMap { lines($0, depth: depth + 1) }
      + (contents.rest > 0 ? ["\(indent)  +\(contents.rest)"] : [])
  }

  @Test func `JSON is shown value by value, with decoded strings and all digits`() throws {
    #expect(
      try outline(
        #"{"a":[1.0,-0,1e400,123456789012345678901234567890,[]],"\u0062":{"c":"é\n<b>","d":{"e":1}},"d":[],"e":null}"#
      )
        == [
          "{4", "  a: [5", "  b: {2", "    c: “é\n<b>”", "    d: {1", "  d: [0", "  e: null",
        ])
    #expect(try outline("\u{FEFF}[true]") == ["[1", "  true"])
    #expect(try outline(" 12 ") == ["12"])
  }

  @Test func `the first page of a list of large objects shows their values`() throws {
    let object = "{" + (0..<75).map { "\"key\($0)\":\"value \($0)\"" }.joined(separator: ",") + "}"
    let lines = try outline("[" + Array(repeating: object, count: 30).joined(separator: ",") + "]")
    #expect(lines.count > 400)
    #expect(lines.filter { $0.hasPrefix("  {75") }.count == 30)
    #expect(lines.filter { $0 == "    key74: “value 74”" }.count >= 5)
  }

  @Test func `long lists are shown in pages`() throws {
    let text = "[" + (0..<1000).map(String.init).joined(separator: ",") + "]"
    #expect(try outline(text).prefix(3) == ["[1000", "  0", "  1"])
    #expect(try outline(text).last == "  +900")
    var selection = FileSelection()
    selection.from = 990
    #expect(try outline(text, selection) == ["[1000"] + (990..<1000).map { "  \($0)" })
  }

  @Test func `a path selects a value`() throws {
    var selection = FileSelection()
    selection.pointer = "/a/1"
    #expect(try outline(#"{"a":[0,{"b":true}]}"#, selection) == ["{1", "  b: true"])
    for wrong in ["/a/2", "/b", "a"] {
      selection.pointer = wrong
      #expect(throws: HTTPProblem.self) { try outline(#"{"a":[0,{"b":true}]}"#, selection) }
    }
  }

  @Test func `a long string is shown in parts that together are the string`() throws {
    let string = String(repeating: "aé日👍\u{0}\\\"", count: 20_000)
    let written = string.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing(
      "\u{0}", with: "\\u0000"
    ).replacing("👍", with: "\\ud83d\\udc4d")
    var (joined, source) = ("", "")
    var selection = FileSelection()
    selection.pointer = "/s"
    var next: Int? = 0
    while let from = next {
      selection.from = from
      guard case .string(let page) = try preview("{\"s\":\"\(written)\"}", selection).content else {
        Issue.record("no string")
        return
      }
      joined += page.text
      source += page.source
      next = page.next
    }
    #expect(joined == string)
    #expect(source == written)
  }

  @Test func `a list of objects is a table, sorted by a column`() throws {
    let text = #"[{"n":2,"s":"b"},{"n":10},{"x":null,"n":1},7]"#
    var selection = view(.table)
    func rows() throws -> [Int] {
      guard case .table(let table) = try preview(text, selection).content else { return [] }
      #expect(table.columns == ["n", "s", "x"])
      return table.rows.map(\.child.place.index)
    }
    #expect(try rows() == [0, 1, 2, 3])
    selection.order = .init(key: "n")
    #expect(try rows() == [2, 0, 1, 3])
    selection.order = .init(key: "n", isDescending: true)
    #expect(try rows() == [1, 0, 2, 3])
    selection.order = .init(key: "s")
    #expect(try rows() == [0, 1, 2, 3])
    guard case .outline = try preview("[1,2]", view(.table)).content else {
      Issue.record("a list of numbers has no table")
      return
    }
  }

  @Test func `JSON can be formatted, from any line on`() throws {
    func lines(_ from: Int) throws -> [String] {
      guard
        case .formatted(let page, let count) = try preview(
          #"{"a":[1,{}],"b":{"c":"\u00e9"}}"#, view(.formatted, from: from)
        ).content
      else { return [] }
      #expect(count == 9)
      return page.lines.map { String(repeating: " ", count: $0.depth) + $0.text }
    }
    let all = [
      "{", " \"a\": [", "  1,", "  {}", " ],", " \"b\": {", #"  "c": "\u00e9""#, " }", "}",
    ]
    for from in 0...9 { #expect(try lines(from) == Array(all.dropFirst(from))) }
  }

  @Test func `keys and values are found`() throws {
    func hits(_ query: String) throws -> [String] {
      var selection = FileSelection()
      selection.find = query
      guard
        case .hits(let result) = try preview(
          #"{"Name":"Mira","list":[{"name":"name \u00c4"},true,12]}"#, selection
        ).content
      else { return ["no hits"] }
      #expect(result.count == result.hits.count)
      return result.hits.map {
        "\($0.path) \($0.field) \($0.excerpt.before)|\($0.excerpt.match)|\($0.excerpt.after)"
      }
    }
    #expect(
      try hits("name") == [
        ".Name key |Name|", ".list[0].name key |name|", ".list[0].name value |name| Ä",
      ])
    #expect(try hits("value:NAME") == [".list[0].name value |name| Ä"])
    #expect(try hits("key:name").count == 2)
    #expect(try hits("ä") == [".list[0].name value name |Ä|"])
    #expect(try hits("true") == [".list[1] value |true|"])
    #expect(try hits("2") == [".list[2] value 1|2|"])
    #expect(try hits("nothing") == [])
  }

  @Test func `a path is found like a text`() throws {
    var selection = FileSelection()
    for path in ["/list/0", ".list[0]", #".["list"][0]"#] {
      selection.find = path
      #expect(try outline(#"{"list":[{"name":1}]}"#, selection) == ["{1", "  name: 1"])
    }
    selection.find = ".list[1]"
    #expect(try outline(#"{"list":[{"name":1}]}"#, selection) == ["no JSON"])
  }

  @Test func `JSON Lines are one list`() throws {
    #expect(try outline("{\"a\":1}\n{\"b\":2}\n") == ["[2", "  {1", "  {1"])
  }

  @Test func `text that begins like JSON is shown as text, with the reason`() throws {
    let preview = try preview("{\"a\":1}\nb\n")
    #expect(lines(preview) == ["{\"a\":1}", "b"])
    #expect(preview.remark == "It is not valid JSON: byte 8 is unexpected.")
    #expect(try self.preview("2026-01-01 started").remark == nil)
  }

  @Test func `too deep nesting is shown as text`() throws {
    let preview = try preview(String(repeating: "[", count: 1_000_000))
    #expect(preview.view == .text)
    #expect(preview.remark == "It is not valid JSON: at byte 512 it is nested deeper than 512 levels.")
  }

  private func lines(_ preview: FilePreview) -> [String] {
    guard case .text(let lines, let count) = preview.content else { return ["no text"] }
    #expect(count >= lines.count)
    return lines.map { $0.text + ($0.isCut ? "…" : "") }
  }

  @Test(arguments: [
    ("a\r\nb\n\nc", ["a", "b", "", "c"]), ("\n", [""]), ("one", ["one"]), ("\u{FEFF}bom", ["bom"]),
    ("<b>&\u{202E}", ["<b>&\u{202E}"]),
  ])
  func `text is shown line by line`(text: String, expected: [String]) throws {
    #expect(lines(try preview(text)) == expected)
  }

  @Test func `every line of a long text is on a page`() throws {
    let text = (0..<5000).map { "line \($0)\(String(repeating: "x", count: $0 % 300))" }
    var found: [String] = []
    while found.count < text.count {
      let page = lines(try preview(text.joined(separator: "\n"), view(.text, from: found.count)))
      try #require(!page.isEmpty)
      found += page
    }
    #expect(found == text)
    #expect(
      lines(try preview(String(repeating: "é", count: 5000))) == [String(repeating: "é", count: 2048) + "…"])
  }

  @Test func `lines that contain a text are found`() throws {
    var selection = view(.text)
    selection.find = "NEEDLE"
    let text = (0..<200).map { $0 % 70 == 3 ? "a needle \($0)" : "hay" }.joined(separator: "\n")
    guard case .matches(let matches, let count, isCut: false) = try preview(text, selection).content else {
      Issue.record("no matches")
      return
    }
    #expect(matches.map(\.line) == [3, 73, 143])
    #expect(count == 3)
    #expect(matches.first?.excerpt.before == "a ")
  }

  @Test func `single bytes that are not UTF-8 do not make text binary`() throws {
    let latin = Array("caf".utf8) + [0xE9] + Array(" is what this is about, and so on".utf8)
    #expect(lines(try preview(latin)) == ["caf\u{FFFD} is what this is about, and so on"])
  }

  @Test func `other files are shown byte by byte, in pages`() throws {
    let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    var found: [UInt8] = []
    while found.count < bytes.count {
      guard
        case .hex(let rows, bytes.count) = try preview(bytes, "file", view(.hex, from: found.count)).content
      else { break }
      found += rows.joined()
    }
    #expect(found == bytes)
    guard case .hex(let rows, 3) = try preview([1, 0, 0xFF]).content, case .empty = try preview([]).content
    else {
      Issue.record("no bytes")
      return
    }
    #expect(rows == [[1, 0, 0xFF]])
  }

  private static let png: [UInt8] =
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
    + [0, 0, 0x03, 0xE8, 0, 0, 0x07, 0xD0]

  @Test func `a picture is one by its name and by its bytes`() throws {
    func isImage(_ bytes: [UInt8], _ name: String) throws -> Bool {
      if case .image(let header) = try preview(bytes, name).content { header.width == 1000 } else { false }
    }
    #expect(try isImage(Self.png, "a.png"))
    #expect(try !isImage(Self.png, "a.json"))
    #expect(lines(try preview(Array("<svg onload=alert(1)>".utf8), "a.png")) == ["<svg onload=alert(1)>"])
    let bomb = Self.png.prefix(16) + [0, 1, 0, 0, 0, 1, 0, 0]
    #expect(try !isImage(Array(bomb), "a.png"))
    // 2³² - 1 points each way: more in all than an Int counts.
    let overflowing = Self.png.prefix(16) + [UInt8](repeating: 0xFF, count: 8)
    #expect(try !isImage(Array(overflowing), "a.png"))
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
