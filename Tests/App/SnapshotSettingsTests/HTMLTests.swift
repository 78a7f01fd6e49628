import Testing

@testable import SnapshotSettings

@Suite struct HTMLTests {
  @Test(arguments: [
    ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
    ("\" onload=\"x", "&quot; onload=&quot;x"),
    ("' x='", "&#39; x=&#39;"), ("&lt;", "&amp;lt;"),
    ("a\u{0}b\u{1B}[1m\u{85}", "a\u{FFFD}b\u{FFFD}[1m\u{FFFD}"),
    ("ä € 👩‍👩‍👧", "ä € 👩‍👩‍👧"), ("two\nlines\tand a tab", "two\nlines\tand a tab"),
  ])
  func `interpolated text is escaped everywhere`(text: String, escaped: String) {
    let html: HTML = "<p title=\"\(text)\">\(text)</p>"
    #expect(html.description == "<p title=\"\(escaped)\">\(escaped)</p>")
  }

  @Test func `interpolated markup is not escaped`() {
    let item: HTML = "<li>\("<")</li>"
    let none: HTML? = nil
    let list: HTML = "<ul>\([item, item])\(item, if: false)\(none)\(3)</ul>"
    #expect(list.description == "<ul><li>&lt;</li>\n<li>&lt;</li>3</ul>")
  }

  @Test func `a long name is truncated and its writing direction isolated`() {
    #expect(HTML.name("\u{202E}<b>").description == "<bdi>\u{202E}&lt;b&gt;</bdi>")
    #expect(HTML.name(String(repeating: "é", count: 4), limit: 4).description == "<bdi>éééé</bdi>")
    #expect(HTML.name(String(repeating: "é", count: 5), limit: 4).description == "<bdi>éééé…</bdi>")
  }
}
