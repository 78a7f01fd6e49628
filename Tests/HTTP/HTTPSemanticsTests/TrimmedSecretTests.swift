import HTTPSemantics
import Testing

@Suite struct TrimmedSecretTests {
  @Test(arguments: [
    "abc", "abc\n", "abc\r\n", "\u{FEFF}abc\r\n", " \t abc \u{A0}", "\"abc\"", "'abc'\n",
    "\u{FEFF}\"abc\"\r\n", "\" 'abc' \"",
    "\u{200B}abc\u{2028}",
  ])
  func `what stands around a secret is removed`(text: String) {
    #expect(text.trimmedSecret == "abc")
    #expect("x\(text)x".dropFirst().dropLast().trimmedSecret == "abc")
  }

  @Test(arguments: [
    ("", ""), ("\"", "\""), ("\"\"", ""), ("\"abc", "\"abc"), ("abc'", "abc'"), ("\"abc'", "\"abc'"),
    ("a\nb", "a\nb"), ("a\"b", "a\"b"),
  ])
  func `the secret itself is kept`(sample: (text: String, secret: String)) {
    #expect(sample.text.trimmedSecret == sample.secret)
  }
}
