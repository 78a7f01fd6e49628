import SnapshotViewer
import Testing

struct TextViewTests {
  /// The file is read in pieces of 64 KiB.
  @Test func `lines and matches at the border of two pieces are found`() throws {
    let line = "a needle"
    for overlap in 0...line.utf8.count + 1 {
      let start = (64 << 10) - overlap
      let first = String(repeating: "-", count: 99) + "\n"
      let lines = start / 100
      let rest = String(repeating: "+", count: start % 100)
      let text = String(repeating: first, count: lines) + rest + line + "\nthe end"
      let view = try #require(try TextView(.of(text)))
      #expect(view.lineCount == lines + 2)
      let found = try view.matches(of: TextPattern("NEEDLE"), from: 0, count: 10)
      #expect(found.count == 1)
      #expect(found.matches.map(\.line) == [lines])
      #expect(found.matches.map(\.excerpt.match) == ["needle"])
      let shown = try view.lines(from: lines, marking: TextPattern("needle"))
      #expect(shown.map(\.number) == [lines, lines + 1])
      #expect(shown.map(\.text) == [rest + line, "the end"])
      #expect(shown.map { $0.marked?.match } == ["needle", nil])
    }
  }

  @Test(arguments: ["", "\n"]) func `line ends and a byte order mark are not part of a line`(end: String)
    throws
  {
    let view = try #require(try TextView(.of("\u{FEFF}first\r\nsecond\n\n\u{FEFF}last" + end)))
    #expect(view.lineCount == 4)
    #expect(try view.lines(from: 0).map(\.text) == ["first", "second", "", "\u{FEFF}last"])
    #expect(try view.lines(from: 3).map(\.number) == [3])
    #expect(try view.lines(from: 4).isEmpty)
    #expect(try TextView(.of(""))?.lineCount == 0)
  }

  @Test func `a page has a limited number of lines and bytes, and a line of bytes`() throws {
    var limits = TextView.Limits()
    limits.line = 4
    let view = try #require(try TextView(.of("1234\n12345\n日日\n"), limits: limits))
    #expect(try view.lines(from: 0).map(\.text) == ["1234", "1234", "日"])
    #expect(try view.lines(from: 0).map(\.isCut) == [false, true, true])
    let text = String(repeating: "123456\n", count: 9)
    for (lines, page, count) in [(3, 1000, 3), (500, 12, 2), (500, 13, 3)] {
      (limits.lines, limits.page, limits.line) = (lines, page, 100)
      #expect(try TextView(.of(text), limits: limits)?.lines(from: 1).count == count)
    }
    for (size, isViewed) in [(63, true), (62, false)] {
      limits.size = size
      #expect(try (TextView(.of(text), limits: limits) != nil) == isViewed)
    }
  }

  @Test func `matches are counted up to a limit`() throws {
    var limits = TextView.Limits()
    limits.matches = 2
    for (text, isCut) in [("x\n\nx\n", false), ("x\nx\nx\n", true)] {
      let view = try #require(try TextView(.of(text), limits: limits))
      let found = try view.matches(of: TextPattern("X"), from: 1, count: 10)
      #expect(found.matches.count == (isCut ? 2 : 1))
      #expect(found.count == 2)
      #expect(found.isCut == isCut)
    }
  }
}
