import HTTPSemantics
import Testing

@Suite struct PercentCodingTests {
  @Test(arguments: ["", "plain-._~", "a/b c?d#e%", "ü€👩", "+&="])
  func `encoded text decodes to the original`(text: String) throws {
    let encoded = PercentCoding.encode(text)
    #expect(encoded.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") })
    #expect(try PercentCoding.decode(encoded[...]) == text)
  }

  @Test func `everything but the unreserved characters is escaped`() {
    #expect(PercentCoding.encode("#4567/\t") == "%234567%2F%09")
  }
}
