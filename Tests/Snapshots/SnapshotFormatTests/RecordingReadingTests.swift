import Foundation
import Testing

@testable import SnapshotFormat

@Suite struct RecordingReadingTests {
  private static let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
  private static let compact =
    #"{"identifier":"a","path":"recordings/a","recordedAt":"2026-11-21T12:00:00.250Z","sha256":"\#(digest)","size":1}"#

  private static func changed(_ part: String, to other: String) -> String {
    compact.replacingOccurrences(of: part, with: other)
  }

  private static let right = [
    compact, changed(#""size":1"#, to: #""size":0"#),
    changed(#""size":1"#, to: #""size":999999999999999999"#),
    changed(#""size":1"#, to: #""size":1,"call":12"#), changed(#"{"#, to: "{ \n\r\t "),
    changed(#","#, to: " ,\n  ").replacingOccurrences(of: ":\"", with: " : \"") + " ",
    changed(#""a""#, to: #""""#), changed(#""a""#, to: #""größe ☃ 👍""#), changed(#""a""#, to: "\"\u{7F}\""),
    changed(#""a""#, to: "\"" + String(repeating: "x", count: 1000) + "\""),
    changed(#""a""#, to: #""\u0061\ud83d\udc4d\\\"é""#), changed("s/a", to: #"s\/a"#),
    changed(#""a""#, to: #""\n""#),
    changed(digest, to: digest.uppercased()), changed(".250Z", to: "Z"), changed(".250Z", to: ".5+01:00"),
    #"{"size":1,"sha256":"\#(digest)","recordedAt":"2026-11-21T12:00:00Z","path":"recordings/a","identifier":"a"}"#,
  ]

  private static let wrong = [
    changed(#""a""#, to: #""\ud800""#), changed("s/a", to: #"s\'a"#), changed(":1}", to: ":1.0}"),
    changed(#""size""#, to: #""s\u0069ze""#), changed("2026", to: #"202\u0036"#),
    changed(":1}", to: ":1e0}"), changed(":1}", to: ":-1}"), changed(":1}", to: ":01}"),
    changed(":1}", to: ":}"),
    changed(":1}", to: ":9999999999999999999}"), changed(":1}", to: ":1,\"new\":[{\"a\":1}]}"),
    changed(":1}", to: ":1,\"size\":1}"), changed(":1}", to: ":1,\"call\":null}"), changed(":1}", to: ":1,}"),
    changed(":1}", to: ":1]"), changed(":1}", to: ":1"), changed(":1}", to: ":1 2}"),
    changed(#","size":1"#, to: ""), changed(#""size":1"#, to: #""size" 1"#), changed(":1}", to: ":\"1\"}"),
    changed(#""a","#, to: #""a""#), changed(#""a""#, to: "\"\n\""), changed(#""a""#, to: "1"), "{}", "[]",
    "1",
    changed("ba78", to: "ba7g"), changed("ba78", to: "ba7"), changed("11-21", to: "13-21"),
    changed("identifier", to: "identifie"), changed("identifier", to: "identifiers"),
    changed(#""size":1"#, to: #""size":null"#), "",
  ]

  /// The result of reading a manifest that arrives in these pieces.
  private func outcome(_ pieces: [[UInt8]]) -> String {
    var rest = pieces[...]
    do {
      return "\(try Manifest { rest.popFirst() })"
    } catch {
      return error.description
    }
  }

  private func manifest(_ recordings: [UInt8]) -> [UInt8] {
    let head =
      #"{"formatVersion":1,"id":"3237bd70-7992-4f5b-b919-165df42dea74","createdAt":"2026-11-21T12:00:00Z","#
      + #""application":{"identifier":"a","version":"1","build":"1"},"#
      + #""device":{"model":"x","system":"i","systemVersion":"1","locale":"e"},"#
      + #""modules":[],"redactions":[],"recordings":["#
    return Array(head.utf8) + recordings + Array("]}".utf8)
  }

  @Test func `splitting the input anywhere gives the same recording or the same error`() {
    for text in Self.right + Self.wrong {
      for texts in [[text], [Self.changed("a\"", to: "b\""), text], [text, Self.changed("a\"", to: "b\"")]] {
        let whole = manifest(Array(texts.joined(separator: " , ").utf8))
        let expected = outcome(whole.map { [$0] })
        #expect(outcome([whole]) == expected, "\(text)")
        for place in stride(from: whole.count / 2, to: whole.count, by: 7) {
          #expect(outcome([Array(whole[..<place]), Array(whole[place...])]) == expected, "\(text) \(place)")
        }
      }
    }
  }

  @Test func `changing any byte gives the same result as reading token by token`() {
    let start = manifest([]).count - 2
    let whole = manifest(Array(Self.compact.utf8))
    for place in start..<whole.count {
      for byte in [
        UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "0"), whole[place] ^ 0x80, whole[place] ^ 0x20,
      ] {
        var broken = whole
        broken[place] = byte
        #expect(outcome([broken]) == outcome(broken.map { [$0] }), "\(byte) at \(place)")
      }
    }
  }

  @Test func `a wrong recording among right ones is reported with its location`() {
    let right = (0..<3).map { Self.changed("a\"", to: "\($0)\"") }
    let wrong = Self.changed(":1}", to: ":1.5}")
    let words = outcome([manifest(Array((right + [wrong]).joined(separator: ",").utf8))])
    #expect(words.contains("recordings[3].size"), "\(words)")
  }
}
