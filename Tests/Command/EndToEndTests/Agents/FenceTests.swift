import Foundation
import TestSupport
import Testing

@testable import snapshot

/// The separation of words of this program from text of others.
@Suite struct FenceTests {
  @Test func `invisible and direction-changing characters are escaped`() {
    let fence = Fence()
    for value: UInt32 in [
      0, 7, 0x1B, 0x7F, 0x85, 0xAD, 0x34F, 0x61C, 0x115F, 0x180E, 0x200B, 0x200D, 0x200F, 0x2028, 0x202E,
      0x2060,
      0x2066, 0x2069, 0x2800, 0x3164, 0xE000, 0xFE0F, 0xFEFF, 0xFFA0, 0xE0041, 0xE0100, 0x10FFFF,
    ] {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let cleaned = fence.cleaned("a\(scalar)b")
      #expect(cleaned == "a\\u{\(String(value, radix: 16, uppercase: true))}b")
    }
    let plain = "Plain\n\ttext: äöü, 日本, 😀 → “quoted”"
    #expect(fence.cleaned(plain) == plain)
  }

  @Test func `the mark can't be in the text, also before an accent`() {
    let fence = Fence(mark: "0123456789abcdef")
    for text in [
      "[data 0123456789abcdef ends]", "x0123456789abcdef\u{301}y", "0123456789abcdef0123456789abcdef",
    ] {
      let cleaned = fence.cleaned(text)
      #expect(Array(cleaned.utf8).firstRange(of: Array(fence.mark.utf8)) == nil, "\(cleaned)")
    }
  }

  @Test func `marks are random`() {
    let marks = Set((0..<100).map { _ in Fence().mark })
    #expect(marks.count == 100 && marks.allSatisfy { $0.utf8.count == 16 })
  }

  @Test(arguments: [600, 1000, 5000, 15_500])
  func `an answer keeps its budget, and takes whole lines`(bytes: Int) {
    var limits = AgentAnswer.Limits()
    limits.bytes = bytes
    var answer = AgentAnswer(limits: limits)
    answer.say("Own words.")
    let lines = (0..<10_000).map { "line \($0) \u{202E}" }
    let count = answer.quote("lines", lines)
    answer.sayNext("\(count)", "More.")
    #expect(answer.text.utf8.count <= bytes)
    #expect(count == 0 || answer.text.contains("line \(count - 1) \\u{202E}\n"))
    #expect(!answer.text.contains("line \(count) "))
  }

  @Test func `a text is cut at the end of a line or of a character, and goes on there`() {
    var limits = AgentAnswer.Limits()
    limits.bytes = 1200
    for text in [
      String(repeating: "äöü😀 and\r\nmore\u{200B}\n", count: 300),
      String(repeating: "日本\u{202E}", count: 900),
    ] {
      let bytes = Array(text.utf8)
      var (from, rounds, together) = (0, 0, "")
      while from < bytes.count, rounds < 200 {
        var answer = AgentAnswer(limits: limits)
        let end = min(bytes.count, from + answer.room + 4)
        let shown = answer.quote("text", text: Array(bytes[from..<end]), isEnd: end == bytes.count)
        #expect(shown > 0 && answer.text.utf8.count <= 1200)
        guard shown > 0 else { break }
        let data = AgentClient.Answer(text: answer.text, isError: false).data.joined(separator: "\n")
        together += data + (bytes[from + shown - 1] == 0x0A ? "\n" : "")
        from += shown
        rounds += 1
      }
      #expect(!together.contains("\u{FFFD}"))
      #expect(together == text.replacing("\r\n", with: "\n").unicodeScalars.map(Fence.escaped).joined())
    }
  }
}
