import Foundation
import JSONText
import SnapshotViewer
import TestSupport
import Testing

struct EncodedTextTests {
  private func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
  private func base64(_ text: String) -> String { base64(Array(text.utf8)) }
  /// Base64 of RFC 4648 §5 without padding.
  private func url(_ text: String) -> String {
    base64(text).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  private static let png: [UInt8] =
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + [UInt8](repeating: 0, count: 32)

  private func content(_ text: String, isCut: Bool = false, isData: Bool = false) -> EncodedText.Content? {
    EncodedText(text, isCut: isCut, isData: isData)?.content
  }

  @Test func `JSON, base64 of known contents, and tokens are recognised`() {
    #expect(content(#"{"a":1}"#) == .json)
    #expect(content(" [1]\n") == .json)
    #expect(content(base64(Self.png)) == .image)
    #expect(content("data:image/png;base64," + base64(Self.png)) == .image)
    #expect(content("data:application/json;charset=utf-8;base64," + base64(#"{"a":1}"#)) == .json)
    #expect(content(base64(#"{"a":1}"#)) == .json)
    #expect(content(url(#"{"a":"???>>>"}"#)) == .json)
    #expect(content(base64("bplist00")) == .propertyList)
    #expect(content(base64("<plist><true/></plist>")) == .propertyList)
    #expect(content("\(url(#"{"alg":"HS256"}"#)).\(url(#"{"sub":"1"}"#)).c2ln") == .json)
    #expect(content("AAAA", isData: true) == .bytes)
  }

  @Test(arguments: [
    "", " ", "text", "{}", "[]", "[b]", "{\"a\":1", "{\"a\":1}x", "AAAAAAAA", "/9j/4A==",
    "data:image/png,abc",
    "data:image/png;base64,!", "data:", "a.b.c", "eyJhIjoxfQ.eyJhIjoxfQ", "eyJhIjoxfQ.eyJhIjoxfQ.c2ln.a.b",
    "12345678", "/usr/local/bin", "A",
  ])
  func `other texts are left alone`(text: String) {
    #expect(content(text) == nil)
  }

  @Test func `the beginning of a long text suffices`() {
    #expect(content("{\"a\":[1,2,{\"b", isCut: true) == .json)
    #expect(content(String(base64(Self.png).prefix(33)), isCut: true) == .image)
    #expect(
      content(url(#"{"alg":"HS256"}"#) + "." + url(#"{"sub":"1234567890"}"#).dropLast(3), isCut: true)
        == .json)
    #expect(content("{\"a\":]", isCut: true) == nil)
  }

  private func decoded(
    _ text: String, limits: EncodedText.Limits = EncodedText.Limits()
  ) throws -> [UInt8]? {
    let folder = try TemporaryFolder()
    let view = try JSONView.of("[\(JSONString.quoted(text))]")
    let place = try #require(try view.place(at: ["0"]))
    let encoded = try #require(EncodedText(String(text.prefix(1000)), isCut: text.utf8.count > 1000))
    switch try encoded.decode(place, of: view, in: CopySpace(folder: folder.path), limits: limits) {
    case .bytes(let bytes): return try bytes.read(upTo: bytes.size, at: 0)
    case .malformed, .tooLarge: return nil
    }
  }

  @Test func `contents are decoded as a whole`() throws {
    #expect(try decoded(#"{"a":"é\n"}"#) == Array(#"{"a":"é\n"}"#.utf8))
    let image = Self.png + (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    #expect(try decoded(base64(image)) == image)
    #expect(try decoded("data:image/png;base64," + base64(image)) == image)
    let lines = Data(image).base64EncodedString(options: [
      .lineLength76Characters, .endLineWithCarriageReturn,
    ])
    #expect(try decoded(lines) == image)
    let token = "\(url(#"{"alg":"HS256"}"#)).\(url(#"{"sub":"é"}"#)).c2ln"
    #expect(
      try decoded(token).map { String(decoding: $0, as: UTF8.self) }
        == #"{"header":{"alg":"HS256"},"payload":{"sub":"é"},"signature":"c2ln"}"#)
  }

  @Test func `a text whose end is no base64 is refused`() throws {
    let image = base64(Self.png + [UInt8](repeating: 7, count: 3000))
    #expect(try decoded(image) != nil)
    #expect(try decoded(image + "!") == nil)
    #expect(try decoded(image + "A") == nil)
    #expect(try decoded(image + "====") == nil)
  }

  @Test func `contents and tokens have a limit`() throws {
    var limits = EncodedText.Limits()
    limits.contents = 40
    #expect(try decoded(base64(Self.png), limits: limits)?.count == 40)
    limits.contents = 39
    #expect(try decoded(base64(Self.png), limits: limits) == nil)
    let token = "\(url(#"{"alg":"HS256"}"#)).\(url(#"{"sub":"1"}"#)).c2ln"
    limits.token = token.utf8.count
    #expect(try decoded(token, limits: limits) != nil)
    limits.token -= 1
    #expect(try decoded(token, limits: limits) == nil)
  }
}
