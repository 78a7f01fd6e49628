import Foundation
import JSONText
import Testing

@Suite struct Base64Tests {
  @Test func `the result equals Foundation's and can be decoded`() {
    for length in 0..<70 {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255) }
      let text = String(decoding: Base64.encode(bytes), as: UTF8.self)
      #expect(text == Data(bytes).base64EncodedString())
      #expect(Base64.decode(text) == bytes)
      #expect(Base64.decode(text.replacing("=", with: "")) == bytes)
    }
    #expect(Base64.decode("+/+/") == [0xFB, 0xFF, 0xBF])
  }

  @Test(arguments: [
    "A", "=", "AA=", "AAA==", "AAAAA=", "AAAAAA=", "A===", "====", "AA=A", "=AAA", "AAAA=", "AAAAA", "AA-_",
    "AA\n=", " AAA", "AAé",
    // Unused trailing bits that are not zero.
    "AB==", "AAB=", "AB", "AAB",
  ])
  func `invalid base64 is rejected`(text: String) { #expect(Base64.decode(text) == nil) }
}
