import JSONText
import Testing

@Suite struct JSONStringTests {
  private func string(_ text: String, escapesMarkup: Bool = false) -> String {
    var bytes = [UInt8(ascii: ":")]
    JSONString.append(text, to: &bytes, escapesMarkup: escapesMarkup)
    return String(decoding: bytes.dropFirst(), as: UTF8.self)
  }

  @Test(arguments: [
    ("", #""""#), ("a b/c", #""a b/c""#), ("é☃😀", #""é☃😀""#), ("a\"\\b", #""a\"\\b""#),
    ("\u{0}\n\u{1F}\u{7F}", #""\u0000\u000a\u001f\u007f""#), ("\u{85}\u{A0}", "\"\\u0085\u{A0}\""),
    ("\u{2028}\u{202E}\u{2066}\u{FEFF}", #""\u2028\u202e\u2066\ufeff""#), ("<a&b>", #""<a&b>""#),
  ])
  func `invisible characters and string ends are escaped, and nothing else`(text: String, json: String) {
    #expect(string(text) == json)
    #expect(JSONString.quoted(text) == json)
  }

  @Test func `markup is escaped on request, with the short form of line ends and tabs`() {
    #expect(string("a\n\r\t\u{0}", escapesMarkup: true) == #""a\n\r\t\u0000""#)
    #expect(string("</script>&", escapesMarkup: true) == #""\u003c/script\u003e\u0026""#)
  }

  @Test func `every character of the first plane is decoded unchanged`() throws {
    for value in (0..<0x10000) as Range<UInt32> {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = "a\(Character(scalar))b"
      for escapesMarkup in [false, true] {
        var tokenizer = JSONTokenizer()
        tokenizer.feed(Array(string(text, escapesMarkup: escapesMarkup).utf8))
        #expect(try tokenizer.next() == .string)
        guard Array(text.utf8) == tokenizer.text else {
          Issue.record("\(value) is read back as another text")
          return
        }
      }
    }
  }
}
