import Testing

@testable import SnapshotWeb

struct PageTextTests {
  @Test(arguments: [
    ("a & b", "a &amp; b"), ("<i>", "&lt;i&gt;"), ("\"'", "&quot;&#39;"), ("", ""), ("ä 日本 👩‍👩‍👧 ❤️", "ä 日本 👩‍👩‍👧 ❤️"),
    // One character to Swift, and the end of an attribute to a browser.
    ("\"\u{301}", "&quot;\u{301}"), ("<\u{338}", "&lt;\u{338}"), ("&\u{20E3}", "&amp;\u{20E3}"),
    ("a\tb", "a\tb"), ("a\nb\u{0}\u{1B}\u{7F}", "a⟨U+000A⟩b⟨U+0000⟩⟨U+001B⟩⟨U+007F⟩"),
    ("\u{85}\u{9B}", "⟨U+0085⟩⟨U+009B⟩"),
    ("\u{202E}abc\u{2066}\u{200B}\u{FEFF}", "⟨U+202E⟩abc⟨U+2066⟩⟨U+200B⟩⟨U+FEFF⟩"),
    ("\u{2028}\u{2029}\u{AD}\u{E0041}\u{FFFE}", "⟨U+2028⟩⟨U+2029⟩⟨U+00AD⟩⟨U+E0041⟩⟨U+FFFE⟩"),
    ("e\u{301}\u{301}\u{301}\u{301}\u{301}", "e\u{301}\u{301}\u{301}\u{301}⟨U+0301⟩"),
  ])
  func `text is shown, never obeyed`(_ text: String, _ shown: String) {
    #expect(PageText.escaped(text).unicodeScalars.elementsEqual(shown.unicodeScalars))
    #expect(PageText.length(text) == shown.utf8.count)
  }

  @Test func `text is cut just above its limit, and not at it or below`() {
    for text in ["abcdefgh", "ääää", "\"a", "<>"] {
      let length = PageText.length(text)
      #expect(PageText.cut(text, to: length) == (text, length, true))
      #expect(PageText.cut(text, to: length + 1) == (text, length, true))
      let cut = PageText.cut(text, to: length - 1)
      #expect(!cut.isWhole)
      #expect(cut.text.hasSuffix("…"))
    }
  }

  @Test func `what is left of a text never takes more than the limit`() {
    for limit in 3..<40 {
      let cut = PageText.cut("a\"b\u{202E}cä日👍d<e>", to: limit)
      #expect(cut.length <= limit)
      #expect(cut.length == PageText.length(cut.text))
    }
  }
}
