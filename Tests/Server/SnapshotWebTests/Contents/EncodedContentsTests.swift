import Foundation
import HTTPEngine
import JSONText
import SnapshotViewer
import TestSupport
import Testing

@testable import SnapshotWeb

/// Property lists, the decoded contents of strings, and the matches of a search, as pages show them.
@Suite struct EncodedContentsTests {
  private func preview(
    _ bytes: [UInt8], _ name: String = "file", _ selection: FileSelection = FileSelection()
  ) throws -> FilePreview {
    let path = "attachments/\(name)"
    return try SampleBundle([(identifier: String, bytes: [UInt8])](), files: [(path, bytes)])
      .preview(path, selection)
  }

  /// The page of a file.
  private func page(
    _ bytes: [UInt8], _ selection: FileSelection = FileSelection(), _ name: String = "file"
  ) throws -> String {
    var page = try SamplePages.usual.preview(.empty)
    (page.path, page.size, page.selection) = ("attachments/\(name)", Int64(bytes.count), selection)
    page.preview = try preview(bytes, name, selection)
    let html = try PageRenderer().render(page, in: PageFrame(account: .open))
    #expect(try HTMLPage(html).violations == [])
    return String(decoding: html, as: UTF8.self)
  }

  private func page(_ text: String, _ selection: FileSelection = FileSelection()) throws -> String {
    try page(Array(text.utf8), selection)
  }

  private func selection(_ change: (inout FileSelection) -> Void) -> FileSelection {
    var selection = FileSelection()
    change(&selection)
    return selection
  }

  // MARK: - Property lists

  /// Python: plistlib.dumps({"when": datetime(2026, 11, 21), "raw": b"{\"a\":1}", "uid": UID(1)}, fmt=FMT_BINARY)
  private static let binary: [UInt8] =
    Array("bplist00".utf8) + [0xD3, 1, 3, 5, 2, 4, 6] + [0x53] + Array("raw".utf8) + [0x47]
    + Array("{\"a\":1}".utf8) + [0x53] + Array("uid".utf8) + [0x80, 1, 0x54] + Array("when".utf8)
    + [0x33, 0x41, 0xC8, 0x58, 0x8B, 0x40, 0, 0, 0] + [8, 15, 19, 27, 31, 33, 38]
    + [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 47]

  @Test func `a property list is a tree, whatever its name is`() throws {
    let xml = """
      <plist><dict><key>raw</key><data>eyJhIjoxfQ==</data><key>uid</key><dict><key>CF$UID</key><integer>1</integer>\
      </dict><key>when</key><date>2026-11-21T00:00:00Z</date></dict></plist>
      """
    for (bytes, name, views) in [
      (Self.binary, "binary", [.tree, .table, .formatted, .hex]),
      (Array(xml.utf8), "in XML", [.tree, .table, .formatted, .text, .hex]),
    ] as [([UInt8], String, [FileSelection.View])] {
      let shown = try preview(bytes)
      #expect(shown.views == views)
      #expect(shown.remark?.contains(name) == true)
      let page = try page(bytes)
      #expect(page.contains("&quot;eyJhIjoxfQ==&quot;</span> <i>data</i>"))
      #expect(page.contains(">Show as JSON</a>"))
      #expect(page.contains("<i>date</i>"))
      #expect(page.contains("<b>CF$UID</b>: <span class=\"number\">1</span>"))
      guard
        case .hex(let rows, bytes.count) = try preview(bytes, "file", selection { $0.view = .hex }).content
      else {
        Issue.record("no bytes")
        continue
      }
      #expect(Array(rows.joined()) == bytes)
      let searchesText = try self.page(bytes, selection { $0.view = .hex }).contains(
        "placeholder=\"Find in the text")
      #expect(searchesText == views.contains(.text))
      let decoded = try preview(bytes, "file", selection { $0.decode = "/raw" })
      guard case .outline(let outline) = decoded.content else {
        Issue.record("not decoded")
        continue
      }
      #expect(outline.root.contents?.nodes.first?.child.key == "a")
    }
    #expect(try preview(Array(xml.utf8), "file", selection { $0.view = .text }).view == .text)
  }

  @Test func `a malformed property list is shown as it is, with the reason`() throws {
    var bytes = Self.binary
    bytes[9] = 200
    let shown = try preview(bytes)
    #expect(
      shown.remark == "It is not a valid binary property list: at byte 9, an object is outside the file.")
    guard case .hex = shown.content else {
      Issue.record("no bytes")
      return
    }
    let text = try preview(Array("<plist><dict></plist>".utf8))
    #expect(text.view == .text)
    #expect(
      text.remark
        == "It is not a valid property list in XML: at byte 21, the markup is not that of a property list.")
    #expect(try preview(Array("<?xml version='1.0'?><svg/>".utf8)).remark == nil)
  }

  @Test func `an archive of NSKeyedArchiver is shown as it is stored`() throws {
    let uid = "<dict><key>CF$UID</key><integer>1</integer></dict>"
    let objects = "<key>$objects</key><array><string>$null</string><string>root</string></array>"
    let root = "<key>$top</key><dict><key>root</key>\(uid)</dict>"
    let archiver = "<key>$archiver</key><string>NSKeyedArchiver</string>"
    let archive = "<plist><dict>\(archiver)\(root)\(objects)</dict></plist>"
    #expect(try preview(Array(archive.utf8)).remark?.contains("NSKeyedArchiver") == true)
    #expect(try page(archive).contains("?at=%2F%24objects%2F1\">Show object</a>"))
    let other = "<plist><dict>\(root)\(objects)</dict></plist>"
    #expect(try !page(other).contains("Show object"))
  }

  // MARK: - Decoded strings

  private static let png: [UInt8] =
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
    + [0, 0, 0x04, 0x92, 0, 0, 0x09, 0xE4] + [UInt8](repeating: 0, count: 20)

  @Test func `strings that contain JSON or an image link to it`() throws {
    let image = Data(Self.png).base64EncodedString()
    let page = try page(
      #"{"json":"{\"a\":[1]}","image":"\#(image)","url":"data:image/png;base64,\#(image)","text":"no {json}"}"#
    )
    #expect(page.matches(of: /Show as JSON/).count == 1)
    #expect(page.matches(of: /Show as image/).count == 2)
    #expect(page.contains("?decode=%2Fjson\">Show as JSON"))
  }

  @Test func `decoded JSON is a tree with all that belongs to it, and links to itself`() throws {
    let text = #"{"s":"{\"a\":{\"b\":[\"{\\\"c\\\":1}\"]},\"n\":\"needle\"}"}"#
    let whole = try page(text, selection { $0.decode = "/s" })
    #expect(whole.contains("?at=%2Fa&amp;decode=%2Fs"))
    #expect(whole.contains("?view=table&amp;decode=%2Fs"))
    #expect(whole.contains("<input type=\"hidden\" name=\"decode\" value=\"/s\">"))
    #expect(whole.contains("href=\"/snapshots/"))
    #expect(!whole.contains("Show as JSON"))
    let part = try preview(Array(text.utf8), "file", selection { ($0.decode, $0.pointer) = ("/s", "/a/b") })
    guard case .outline(let outline) = part.content else {
      Issue.record("no tree")
      return
    }
    #expect(outline.root.child.value.childCount == 1)
    let found = try page(text, selection { ($0.decode, $0.find) = ("/s", "needle") })
    #expect(found.contains("find=needle&amp;hit=1&amp;decode=%2Fs#hit"))
  }

  @Test func `a token is shown as its parts`() throws {
    let page = try page(
      #"["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJNaXJhIn0.c2ln"]"#, selection { $0.decode = "/0" })
    #expect(page.contains("&quot;HS256&quot;") && page.contains("&quot;Mira&quot;"))
    #expect(page.contains("not verified"))
  }

  @Test func `a decoded image is served by a path of its own`() throws {
    let text = #"["\#(Data(Self.png).base64EncodedString())"]"#
    let page = try page(text, selection { $0.decode = "/0" })
    #expect(page.contains("1,170 × 2,532 pixels, 44 B"))
    #expect(page.contains(/<img src="\/snapshots\/[^"]+\/decoded\/attachments\/file\?decode=%2F0"/))
  }

  @Test func `what can't be decoded is a problem`() throws {
    let text = #"{"word":"hello","number":1,"broken":"\#(String(repeating: "A", count: 2000))!","list":[]}"#
    for wrong in ["/word", "/number", "/broken", "/list", "/missing", "", "word"] {
      #expect(throws: HTTPProblem.self, "\(wrong)") {
        try preview(Array(text.utf8), "file", selection { $0.decode = wrong })
      }
    }
    #expect(throws: HTTPProblem.self) { try preview([0, 1], "file", selection { $0.decode = "" }) }
  }

  // MARK: - Images

  @Test func `an image tells its measures, and has its bytes one link away`() throws {
    let page = try page(Self.png, FileSelection(), "a.png")
    #expect(page.contains("1,170 × 2,532 pixels, 44 B"))
    #expect(page.contains(">Show all pixels</label>"))
    #expect(page.contains("?view=hex\">Bytes</a>"))
  }

  // MARK: - Matches

  @Test func `a match is shown in its place in the tree, with links to its neighbours`() throws {
    let text = "{\"list\":[\((0..<300).map { "{\"k\":\"value \($0)\"}" }.joined(separator: ","))]}"
    let page = try page(text, selection { ($0.find, $0.hit) = ("value 29", 2) })
    #expect(page.contains("Hit 2 of 11"))
    #expect(page.contains("href=\"/snapshots/"))
    #expect(page.contains("find=value%2029&amp;hit=1#hit\">Previous"))
    #expect(page.contains("find=value%2029&amp;hit=3#hit\">Next"))
    #expect(page.contains(/<mark id="hit">hit<\/mark> <b>&quot;k&quot;|<mark id="hit">hit<\/mark> <b>"k"/))
    #expect(page.matches(of: /id="hit"/).count == 1)
    #expect(page.contains("&quot;value 290&quot;"))
    let last = try self.page(text, selection { ($0.find, $0.hit) = ("value 29", 11) })
    #expect(!last.contains(">Next</a>"))
    #expect(throws: HTTPProblem.self) {
      try preview(Array(text.utf8), "file", selection { ($0.find, $0.hit) = ("value 29", 12) })
    }
  }

  @Test func `a match in an array begins near it`() throws {
    let text = "[\((0..<300).map { "\"value \($0)\"" }.joined(separator: ","))]"
    let shown = try preview(Array(text.utf8), "file", selection { ($0.find, $0.hit) = ("value 290", 1) })
    guard case .outline(let outline) = shown.content else {
      Issue.record("no tree")
      return
    }
    #expect(outline.root.contents?.from == 280)
    #expect(try page("\"needle\"", selection { ($0.find, $0.hit) = ("needle", 1) }).contains("Hit 1 of 1"))
  }

  @Test func `a match is shown in its place in a text, and marked`() throws {
    let text = (0..<900).map { $0 % 100 == 50 ? "a Needle <\($0)>" : "hay" }.joined(separator: "\n")
    let shown = selection { ($0.view, $0.find, $0.hit) = (.text, "needle", 6) }
    let page = try page(text, shown)
    #expect(page.contains("Hit 6 of 9"))
    #expect(page.contains("a <mark id=\"hit\">Needle</mark> &lt;550&gt;"))
    #expect(page.contains("a <mark>Needle</mark> &lt;650&gt;"))
    #expect(page.contains("<a class=\"line\" href=\"#L551\">551</a>"))
    #expect(page.contains("Lines 541 to 900 of 900"))
    let list = try self.page(text, selection { ($0.view, $0.find) = (.text, "needle") })
    #expect(list.contains("view=text&amp;find=needle&amp;hit=9#hit"))
    #expect(throws: HTTPProblem.self) {
      try preview(Array(text.utf8), "file", selection { ($0.view, $0.find, $0.hit) = (.text, "needle", 10) })
    }
  }

  @Test func `long lines can be shown without wrapping`() throws {
    #expect(try page("one line\n").contains("Wrap long lines</label>"))
  }
}
